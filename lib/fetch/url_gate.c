/* SPDX-License-Identifier: MIT
 * Which addresses a worker's pipelines may name, to read from or to write to.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "fetch/url.h"

struct url_side {
	struct url *roots; /* the side is closed but for these */
	size_t n;
	atomic_bool closed;
};

static struct url_side url_sides[2];
static const char *const url_options[] = { [GATE_READ] = "--allow-url", [GATE_WRITE] = "--allow-write" };

static void
url_side_clear(struct url_side *s)
{
	while (s->n)
		url_clear(&s->roots[--s->n]);
	mem_free(s->roots);
	s->roots = NULL;
}

enum status
url_gate_close(enum gate side, const struct words *roots, struct err *e)
{
	struct url_side *s = &url_sides[side];

	s->roots = mem_array(roots->n + 1, sizeof *s->roots);
	for (size_t i = 0; i < roots->n; i++) {
		struct url *u = &s->roots[s->n++];
		enum status st = url_is(roots->v[i]) ? url_parse(roots->v[i], u, e)
			: err_set(e, ST_USAGE, "'%s' is no address", roots->v[i]);

		if (st == ST_OK && u->query)
			st = err_set(e, ST_USAGE, "'%s' has a query, which nothing is compared with", roots->v[i]);
		if (st == ST_OK && side == GATE_WRITE && u->scheme != URL_S3)
			st = err_set(e, ST_USAGE, "nothing is written to '%s'", roots->v[i]);
		if (st != ST_OK) {
			err_wrap(e, "%s", url_options[side]);
			err_help(e, side == GATE_WRITE ? "s3://BUCKET/PREFIX/" : "s3://BUCKET/ or https://HOST/FOLDER/");
			if (e)
				e->kind = ST_USAGE;
			url_side_clear(s);
			return ST_USAGE;
		}
	}
	atomic_store(&s->closed, true);
	return ST_OK;
}

void
url_gate_shut(enum gate side)
{
	atomic_store(&url_sides[side].closed, true);
}

static int
url_hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Whether a path has a component that leads upwards, in any of the ways that servers understand. */
static bool
url_leads_up(const char *path)
{
	int dots = 0, others = 0;

	for (const char *s = path;; s++) {
		int c = (unsigned char)*s;

		if (c == '%' && url_hex(s[1]) >= 0 && url_hex(s[2]) >= 0) {
			c = url_hex(s[1]) * 16 + url_hex(s[2]);
			s += 2;
		}
		if (!*s || c == '/' || c == '\\') {
			if (!others && (dots == 1 || dots == 2))
				return true;
			dots = others = 0;
			if (!*s)
				return false;
		} else if (c == '.') {
			dots++;
		} else {
			others++;
		}
	}
}

static bool
url_below(const struct url *root, const struct url *u)
{
	size_t n = strlen(root->path);

	if (root->scheme != u->scheme || strcasecmp(root->host, u->host) || strncmp(root->path, u->path, n))
		return false;
	return !n || root->path[n - 1] == '/' || !u->path[n] || u->path[n] == '/';
}

static bool
url_below_any(const struct url_side *s, const struct url *u)
{
	for (size_t i = 0; i < s->n; i++)
		if (url_below(&s->roots[i], u))
			return true;
	return false;
}

enum status
url_gate_ask(enum gate side, const char *text, const struct url *u, struct err *e)
{
	if (!atomic_load_explicit(&url_sides[side].closed, memory_order_relaxed))
		return ST_OK;
	bool up = u->scheme != URL_S3 && url_leads_up(u->path);
	if (!up && (url_below_any(&url_sides[side], u) || url_below_any(&url_sides[GATE_WRITE], u)))
		return ST_OK;
	struct buf shown = { 0 };
	url_show(text, &shown);
	err_set(e, ST_PERM, "cannot %s '%s': this worker does not allow it", side == GATE_WRITE ? "write to" : "read",
		(char *)shown.data);
	err_help(e, "dsvc-work %s ADDRESS allows what begins with it%s", url_options[side],
		 up ? ", but not with . or .. in it" : "");
	buf_clear(&shown);
	return ST_PERM;
}
