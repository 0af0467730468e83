/* SPDX-License-Identifier: MIT
 *
 * Requests for one address, one after the other on one connection.
 */
#ifndef FETCH_CALL_H
#define FETCH_CALL_H

#include "base/gate.h"
#include "fetch/link.h"

/* Zero is closed. */
struct call {
	struct target target;
	struct http http;    /* with the last answer */
	struct link *link;
};

/* side: what the gate is asked for. When it fails, there is nothing to be closed. */
enum status call_open(struct call *c, const char *url, enum gate side, struct err *e);
/* Makes a request as link_do does. */
enum status call_do(struct call *c, const struct http_ask *ask, void (*begin)(void *arg), const struct fetch_wait *w,
		    struct err *e);
void call_close(struct call *c);

/* An answer that is read whole: `body` and `begin` of a request, whose arg it is. */
struct call_answer {
	struct buf bytes;
	size_t most;
	bool too_long;       /* there were more than `most` bytes */
};
http_body call_answer_body;
void call_answer_begin(void *answer);

#endif
