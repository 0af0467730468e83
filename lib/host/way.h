/* SPDX-License-Identifier: MIT
 *
 * The way to a dispatcher: its addresses, its keys, and what to do when it moves.
 *
 *	way_open -> (way_guide, where a fence is put up) -> way_reach -> way_connect
 *
 * Addresses that came from a file (net/address_file.h) are looked up there again when nobody answers,
 * at the start and whenever the connection is lost. The service keeps its key, wherever it moves:
 * somebody else who can write the file gains nothing but silence.
 */
#ifndef HOST_WAY_H
#define HOST_WAY_H

#include "host/link.h"
#include "host/secure.h"

struct way {
	char *list;            /* the addresses, now */
	char where[LINK_WHERE]; /* for messages; it changes in place */
	char *from;            /* NULL: unsaid */
	char *file;            /* NULL: they came from no file */
	struct secure secure;
	struct link_reached reached;
	bool listens;
	int guide;             /* 0: the file is read here */
	char said[ADDRESS_LIST_MAX]; /* addresses that were refused: said once */
};

/* Does secure_to. Zeroed ways can be closed. */
enum status way_open(struct way *w, const char *addresses, const char *from, bool listens, const char *role,
		     struct err *e);
/* From now on a process of its own looks the file up: for those who soon cannot open it, nor their keys. It
 * ends with this one. Before there are threads. */
void way_guide(struct way *w);
/* Does link_reach. ST_PERM, too: what answers speaks with keys, and we are to speak without, or the other way round. */
enum status way_reach(struct way *w, struct err *e);
/* Connects to what was reached; then the secret key is wiped. */
enum status way_connect(struct way *w, struct sock *s, struct err *e);
/* For sock_opts.renew; NULL: the addresses cannot change. The owner hands on to way_renew. */
bool way_renews(const struct way *w);
bool way_renew(struct way *w, const char **list, const struct key **keys);
void way_close(struct way *w);

#endif
