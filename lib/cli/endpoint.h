/* SPDX-License-Identifier: MIT
 *
 * Where the dispatcher is: what the user gave (-d or DSVC_DISPATCHER, both of
 * them the row `dispatcher`; or the context that -c or DSVC_CONTEXT name), else the context
 * in use (cli/context.h), else the service that was joined last
 * (trust/services.h), else the private socket of this user,
 * ipc://$XDG_RUNTIME_DIR/dsvc/dispatch (net/address.h tells which one it is
 * where there is no XDG_RUNTIME_DIR).
 *
 * The folder of the private socket must be the user's own and closed to others,
 * for whoever can put a socket there is obeyed: both ends refuse any other.
 */
#ifndef CLI_ENDPOINT_H
#define CLI_ENDPOINT_H

#include <stdbool.h>

#include "base/err.h"
#include "cli/opt.h"
#include "net/address_list.h"

enum { ENDPOINT_ADDRESS = ADDRESS_ONE_MAX, ENDPOINT_LIST = ADDRESS_LIST_MAX };

struct endpoint {
	char address[ENDPOINT_LIST]; /* or several, as in net/address_list.h */
	char from[96]; /* "-d", "DSVC_DISPATCHER", "the default", "the context lab" */
	bool own;      /* the private socket */
};

/* The private socket, whatever was joined. */
enum status endpoint_private(struct endpoint *ep, struct err *e);
/* given: NULL or "" for the default. HOST:PORT is taken as tcp://, a path with
 * a slash as ipc://; ADDRESS,ADDRESS... are several of one service;
 * @FILE is what the first line of FILE says (--ready-file), with the key in FILE.dsvc-key if nobody
 * else can write there,
 * which is waited for as net/patience.h says, and read again when nobody is there any more
 * (net/address_file.h). ST_USAGE for what is no address, ST_PERM
 * when the private folder is not private, ST_UNAVAIL when there is no such file, ST_AGAIN when it
 * was told to end meanwhile. */
enum status endpoint_find(const char *given, const char *from, struct endpoint *ep,
			  struct err *e);
/* Likewise for a program with OPT_DISPATCHER and OPT_CONTEXT, whose values are given: what the
 * command line says is stronger than the environment; both of them there are ST_USAGE. */
enum status endpoint_choose(const struct opt *opt, const struct program *p, const char *dispatcher,
			    const char *context, struct endpoint *ep, struct err *e);
/* Reads the value of the option `from` ("-b") in place, in the spellings of -d (but @FILE): *given may
 * be replaced. */
enum status endpoint_bind(char **given, const char *from, struct err *e);
/* For whoever binds: makes the folder of the private socket and checks it.
 * Nothing to do for other addresses. */
enum status endpoint_prepare(const struct endpoint *ep, struct err *e);
/* For programs that are started by this one: DSVC_DISPATCHER says what -d said. Before
 * there are threads. */
void endpoint_export(const struct endpoint *ep);

#endif
