/* SPDX-License-Identifier: MIT
 * What a server says about an object.
 */
#include <string.h>

#include "base/mem.h"
#include "fetch/call.h"
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
about_ask(struct call *c, const struct fetch_wait *w, struct err *e)
{
	struct http_ask head = { .head = true }, first = { .ranged = true, .to = 1, .body = about_body };
	enum status st = call_do(c, &head, NULL, w, e);
	long code = c->http.code;

	/* An address that is signed for reading may not be looked at otherwise, and there are servers
	 * without HEAD. */
	if (st != ST_OK && st != ST_AGAIN && c->target.u.scheme != URL_S3 && (code == 403 || code == 405 || code == 501))
		st = call_do(c, &first, NULL, w, e);
	return st;
}

enum status
fetch_about(const char *url, enum gate side, const struct fetch_wait *w, struct fetch_about *out, struct err *e)
{
	struct call c;
	enum status st = call_open(&c, url, side, e);

	memset(out, 0, sizeof *out);
	if (st != ST_OK)
		return st;
	st = about_ask(&c, w, e);
	if (st == ST_OK) {
		out->sized = c.http.sized;
		out->parts = c.http.parts && c.http.sized;
		out->size = c.http.sized ? c.http.length : 0;
		out->tag = *c.http.tag ? mem_strdup(c.http.tag) : NULL;
	}
	call_close(&c);
	return st;
}
