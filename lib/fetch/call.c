/* SPDX-License-Identifier: MIT */
#include "fetch/call.h"

#include <string.h>

enum status
call_open(struct call *c, const char *url, enum gate side, struct err *e)
{
	memset(c, 0, sizeof *c);
	enum status st = target_init(&c->target, url, side, e);

	if (st == ST_OK)
		st = http_init(&c->http, e);
	if (st == ST_OK && !(c->link = link_take(e)))
		st = e->kind;
	if (st != ST_OK)
		call_close(c);
	return st;
}

enum status
call_do(struct call *c, const struct http_ask *ask, void (*begin)(void *arg), const struct fetch_wait *w,
	struct err *e)
{
	return link_do(c->link, &c->http, &c->target, ask, begin, w, e);
}

void
call_close(struct call *c)
{
	http_clear(&c->http);
	link_give_back(c->link);
	target_clear(&c->target);
	memset(c, 0, sizeof *c);
}

bool
call_answer_body(void *arg, const uint8_t *p, size_t n)
{
	struct call_answer *a = arg;

	if (a->bytes.len + n > a->most)
		a->too_long = true;
	else
		buf_put(&a->bytes, p, n);
	return true;
}

void
call_answer_begin(void *answer)
{
	struct call_answer *a = answer;

	buf_reset(&a->bytes);
	a->too_long = false;
}
