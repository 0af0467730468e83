/* SPDX-License-Identifier: MIT
 * Which addresses a worker's pipelines may name.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/param.h"
#include "fetch/url.h"

static struct url *url_roots; /* the gate is closed but for these */
static size_t url_n_roots;
static atomic_bool url_closed;

enum status
url_gate_close(const struct words *roots, struct err *e)
{
	url_roots = mem_array(roots->n + 1, sizeof *url_roots);
	for (size_t i = 0; i < roots->n; i++) {
		struct url *u = &url_roots[url_n_roots++];
		enum status st = url_is(roots->v[i]) ? url_parse(roots->v[i], u, e)
			: err_set(e, ST_USAGE, "'%s' is no address", roots->v[i]);

		if (st == ST_OK && u->query)
			st = err_set(e, ST_USAGE, "'%s' has a query, which nothing is compared with", roots->v[i]);
		if (st != ST_OK) {
			err_wrap(e, "--allow-url");
			err_help(e, "s3://BUCKET/ or https://HOST/FOLDER/");
			if (e)
				e->kind = ST_USAGE;
			while (url_n_roots)
				url_clear(&url_roots[--url_n_roots]);
			mem_free(url_roots);
			url_roots = NULL;
			return ST_USAGE;
		}
	}
	atomic_store(&url_closed, true);
	return ST_OK;
}

void
url_gate_shut(void)
{
	atomic_store(&url_closed, true);
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

enum status
url_gate_ask(const char *text, const struct url *u, struct err *e)
{
	if (!atomic_load_explicit(&url_closed, memory_order_relaxed))
		return ST_OK;
	bool up = u->scheme != URL_S3 && url_leads_up(u->path);
	for (size_t i = 0; i < url_n_roots && !up; i++)
		if (url_below(&url_roots[i], u))
			return ST_OK;
	struct buf shown = { 0 };
	url_show(text, &shown);
	err_set(e, ST_PERM, "cannot read '%s': this worker does not allow it", (char *)shown.data);
	err_help(e, "dsvc-work --allow-url ADDRESS allows what begins with it%s", up ? ", but not with . or .. in it" : "");
	buf_clear(&shown);
	return ST_PERM;
}
