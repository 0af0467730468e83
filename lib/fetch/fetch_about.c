/* SPDX-License-Identifier: MIT
 * What a server says about an object.
 */
#include <string.h>

#include "base/mem.h"
#include "fetch/fetch.h"

void
fetch_about_clear(struct fetch_about *a)
{
	mem_free(a->tag);
	memset(a, 0, sizeof *a);
}

void
fetch_about_copy(struct fetch_about *to, const struct fetch_about *from)
{
	*to = *from;
	to->tag = mem_strdup(from->tag);
}

/* Takes a body that nobody wants. */
static bool
about_body(void *arg, const uint8_t *p, size_t n)
{
	(void)arg, (void)p, (void)n;
	return true;
}

static enum status
about_ask(struct link *l, struct http *h, struct target *t, const struct fetch_wait *w, struct err *e)
{
	struct http_ask head = { .head = true }, first = { .ranged = true, .to = 1, .body = about_body };
	enum status st = link_do(l, h, t, &head, NULL, w, e);

	/* An address that is signed for reading may not be looked at otherwise, and there are servers
	 * without HEAD. */
	if (st != ST_OK && st != ST_AGAIN && t->u.scheme != URL_S3 && (h->code == 403 || h->code == 405 || h->code == 501))
		st = link_do(l, h, t, &first, NULL, w, e);
	return st;
}

enum status
fetch_about(const char *url, const struct fetch_wait *w, struct fetch_about *out, struct err *e)
{
	struct target t;
	struct http h = { 0 };
	struct link *l = NULL;
	enum status st = target_init(&t, url, e);

	memset(out, 0, sizeof *out);
	if (st == ST_OK)
		st = http_init(&h, e);
	if (st == ST_OK && !(l = link_take(e)))
		st = e->kind;
	if (st == ST_OK)
		st = about_ask(l, &h, &t, w, e);
	if (st == ST_OK) {
		out->sized = h.sized;
		out->parts = h.parts && h.sized;
		out->size = h.sized ? h.length : 0;
		out->tag = *h.tag ? mem_strdup(h.tag) : NULL;
	}
	http_clear(&h);
	link_give_back(l);
	target_clear(&t);
	return st;
}
