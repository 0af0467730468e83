/* SPDX-License-Identifier: MIT */
#include "fetch/target.h"

#include <string.h>

#include "base/mem.h"

enum { TARGET_MOVES = 5 };

enum status
target_init(struct target *t, const char *text, enum gate side, struct err *e)
{
	struct buf shown = { 0 };

	memset(t, 0, sizeof *t);
	t->side = side;
	url_show(text, &shown);
	t->name = buf_take(&shown);
	enum status st = url_parse(text, &t->u, e);
	if (st == ST_OK)
		st = url_gate_ask(side, text, &t->u, e);
	if (st == ST_OK && t->u.scheme == URL_S3)
		t->region = mem_strdup(keys_of_user()->region);
	else if (st == ST_OK)
		t->url = mem_strdup(text);
	return st;
}

void
target_clear(struct target *t)
{
	mem_free(t->name);
	mem_free(t->url);
	mem_free(t->region);
	url_clear(&t->u);
	memset(t, 0, sizeof *t);
}

/* Address of http or https as it is written, without what stays with the client; bytes that may not be sent as
 * they are are encoded. */
static void
target_request_web(const char *url, struct buf *out)
{
	url_encode(url, strcspn(url, "#"), ":/?[]@!$&'()*+,;=%", out);
}

void
target_request(const struct target *t, bool bucket, const char *query, struct buf *out)
{
	const char *endpoint = keys_of_user()->endpoint;

	if (t->u.scheme != URL_S3) {
		target_request_web(t->url, out);
		return;
	}
	/* A bucket with a dot in its name fits no certificate as the name of a host. */
	bool path = endpoint || strchr(t->u.host, '.');
	if (endpoint)
		buf_put(out, endpoint, strlen(endpoint) - (endpoint[strlen(endpoint) - 1] == '/'));
	else
		buf_printf(out, "https://%s%ss3.%s.amazonaws.com", path ? "" : t->u.host, path ? "" : ".", t->region);
	if (path)
		buf_printf(out, "/%s", t->u.host);
	buf_byte(out, '/');
	if (!bucket)
		url_encode(t->u.path, strlen(t->u.path), "/", out);
	if (query)
		buf_printf(out, "?%s", query);
}

static enum status
target_move_to(struct target *t, const char *url, struct err *e)
{
	struct url u;
	enum status st = url_parse(url, &u, e);

	if (st == ST_OK && (u.scheme == URL_S3 || (t->u.scheme == URL_HTTPS && u.scheme == URL_HTTP)))
		st = err_set(e, ST_DATA, "it leads to an address that is not as safe");
	if (st == ST_OK)
		st = url_gate_ask(t->side, url, &u, e);
	if (st != ST_OK) {
		url_clear(&u);
		return st;
	}
	url_clear(&t->u);
	t->u = u;
	mem_free(t->url);
	t->url = mem_strdup(url);
	return ST_OK;
}

enum status
target_move(struct target *t, const char *url, const char *region, struct err *e)
{
	if (++t->moves > TARGET_MOVES)
		return err_set(e, ST_DATA, "it leads from address to address, more than %d times", TARGET_MOVES);
	if (t->u.scheme == URL_S3) {
		if (!region || !strcmp(region, t->region))
			return err_set(e, ST_DATA, "the server says that it is elsewhere, and not where");
		mem_free(t->region);
		t->region = mem_strdup(region);
		return ST_OK;
	}
	return url ? target_move_to(t, url, e) : err_set(e, ST_DATA, "the server says that it is elsewhere, and not where");
}
