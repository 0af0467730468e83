/* SPDX-License-Identifier: MIT
 *
 * How a program speaks with a dispatcher: with the key that is pinned for its address
 * (trust/services.h), or without.
 *
 *	ipc               without: its file is closed to others
 *	tcp, pinned       with that key and no other
 *	tcp, not pinned   without, if the user said so by hand; and, for programs that do
 *	                  not listen themselves, if the address is on this machine
 */
#ifndef HOST_SECURE_H
#define HOST_SECURE_H

#include <stdbool.h>

#include "base/err.h"
#include "net/sock.h"

struct secure {
	bool keyed;          /* one of the addresses at least has a key */
	struct key_pair own;
	struct key *servers; /* n of them, key_none where there is none */
	size_t n;
	const char *role;    /* that the program needs, for messages: "work" */
};

/* Whether this process speaks without keys also to other machines, where no key is pinned.
 * Before there are threads. */
void secure_say_clear(bool said);
/* addresses: one, or several (net/address_list.h). ST_PERM: one must not be spoken to. role:
 * static. */
enum status secure_to(const char *addresses, bool listens, const char *role, struct secure *out, struct err *e);
/* The service has other addresses now: gives a key for each, key_none where none is to be used. An address
 * that is not pinned must have the key of before. ST_PERM: one must not be spoken to. */
enum status secure_moved(const struct secure *s, const char *addresses, bool listens, struct key **servers,
			 struct err *e);
/* Wipes the secret key, once all sockets have it. */
void secure_wipe(struct secure *s);
void secure_clear(struct secure *s); /* frees all */
/* For sock_opts.keys; NULL: without. The keys for sock_connect_any are `servers`. */
const struct key_pair *secure_own(const struct secure *s);
/* Says why a dispatcher did not let us in; ST_PERM. ST_OK: that need not be the end, for it has
 * answered before (met) and may be set up anew just now, or it has other addresses, of which one
 * may let us in; then there is a line in the log. */
enum status secure_denied(const struct secure *s, const char *addresses, bool met, enum sock_denied why, struct err *e);

/* An endpoint of a worker, as messages have it: an address, and perhaps a blank and a key. */
void secure_endpoint(const char *address, const struct key *k, struct buf *out);
/* Fills address with the first part; true: and k with the key. */
bool secure_endpoint_key(const char *endpoint, struct buf *address, struct key *k);

#endif
