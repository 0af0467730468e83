/* SPDX-License-Identifier: MIT
 *
 * The pages over HTTP (libmicrohttpd), in the program's own loop. Requests that need a report wait until the dispatcher
 * has answered, WEB_PATIENCE_MS at most; the others are answered meanwhile.
 */
#ifndef EXPORT_WEB_H
#define EXPORT_WEB_H

#include "asker.h"
#include "base/err.h"

enum {
	WEB_PATIENCE_MS = 3000,
	WEB_CONNECTIONS = 64,
	WEB_IDLE_S = 10,          /* after which a connection that says nothing is closed */
	WEB_REQUEST_MAX = 32 << 10 /* bytes of a request and its answer's headers */
};

struct web;

struct web_conf {
	const char *listen;       /* HOST:PORT; port 0 or *: any free one; host *: every interface */
	bool workers;             /* metrics for each worker */
};

/* Listens. Gives. ST_USAGE for what is no address, ST_UNAVAIL when it cannot be had. */
enum status web_open(const struct web_conf *c, struct asker *asker, struct web **out, struct err *e);
void web_close(struct web **w);
/* http://HOST:PORT/ of the first page, lent. */
const char *web_url(const struct web *w);
/* Serves until one of the descriptors is readable (-1: none), or until it is sure that there will be no report. */
enum status web_run(struct web *w, int stop_fd, int leash_fd, struct err *e);

#endif
