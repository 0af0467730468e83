/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "value/csv/csv_inner.h"
#include "value/mp.h"

enum { CSV_SAME = 100 }; /* columns of one name that are numbered one by one */

static const uint8_t *
csv_key(const struct csv *c, const struct csv_column *o, size_t *len)
{
	struct mp m;

	mp_head(c->keys.data + o->key, c->keys.data + o->key + o->key_len, &m);
	*len = m.n;
	return m.p;
}

size_t
csv_columns(const struct csv *c)
{
	return c->n_all;
}

const char *
csv_column(const struct csv *c, size_t i, size_t *len)
{
	return (const char *)csv_key(c, &c->all[i], len);
}

static bool
csv_find(const struct csv *c, const void *name, size_t n, size_t *at)
{
	size_t len;

	for (*at = 0; *at < c->n_all; ++*at) {
		const uint8_t *key = csv_key(c, &c->all[*at], &len);

		if (len == n && !memcmp(key, name, n))
			return true;
	}
	return false;
}

static void
csv_want(struct csv *c, size_t i)
{
	c->out = mem_grow(c->out, &c->cap_out, c->n_out + 1, sizeof *c->out);
	c->out[c->n_out++] = c->all[i];
	c->keys_len += c->all[i].key_len;
}

static bool
csv_wanted(const struct csv *c, size_t i)
{
	const struct json_fields *f = c->fields;
	size_t len;
	const uint8_t *key = csv_key(c, &c->all[i], &len);

	for (size_t k = 0; f && k < f->n; k++)
		if (f->lens[k] == len && !memcmp(f->names[k], key, len))
			return true;
	return !f;
}

static const char *
csv_next_name(void *arg, size_t i)
{
	struct buf *b = arg;
	const char *s = b->data ? (char *)b->data : "";

	for (; i && *s; i--)
		s += strlen(s) + 1;
	return *s ? s : NULL;
}

static enum status
csv_no_column(const struct csv *c, const char *name, struct err *e)
{
	struct buf b = { 0 };
	char near[ERR_HELP];

	err_set(e, ST_DATA, "there is no column `%.100s`", name);
	for (size_t i = 0; i < c->n_all && i < 1000; i++) {
		size_t len;
		const char *key = csv_column(c, i, &len);

		if (len && !memchr(key, 0, len)) {
			buf_put(&b, key, len);
			buf_byte(&b, 0);
		}
	}
	if (str_suggest(name, csv_next_name, &b, near, sizeof near))
		err_help(e, "did you mean %s?", near);
	buf_clear(&b);
	return ST_DATA;
}

/* Chooses the columns wanted, once all are known. */
enum status
csv_choose(struct csv *c, struct err *e)
{
	c->n_out = c->keys_len = 0;
	if (c->conf.header && c->names) {
		for (size_t i = 0; i < c->n_names; i++) {
			size_t at;

			if (!csv_find(c, c->names[i], strlen(c->names[i]), &at))
				return csv_no_column(c, c->names[i], e);
			if (csv_wanted(c, at))
				csv_want(c, at);
		}
	} else {
		for (size_t i = 0; i < c->n_all; i++)
			if (csv_wanted(c, i))
				csv_want(c, i);
	}
	c->ready = true;
	return ST_OK;
}

/* Whether there is a column of this name; if not, the next column gets it. */
static bool
csv_seen(struct csv *c, const void *name, size_t n)
{
	uint64_t h = 1469598103934665603u;
	const uint8_t *p = name;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	for (size_t k = (size_t)(h % c->slots);; k = (k + 1) % c->slots) {
		size_t len;

		if (!c->hashes[k]) {
			c->hashes[k] = c->n_all + 1;
			return false;
		}
		const uint8_t *key = csv_key(c, &c->all[c->hashes[k] - 1], &len);
		if (len == n && !memcmp(key, name, n))
			return true;
	}
}

/* Adds a column; a name that is empty or taken is changed. */
void
csv_columns_add(struct csv *c, const void *name, size_t n)
{
	char *other = NULL;

	if (!n) {
		name = other = mem_printf("%zu", c->n_all + 1);
		n = strlen(other);
	}
	const char *base = name;
	size_t base_n = n;
	char *copy = NULL;
	for (size_t k = 2; csv_seen(c, name, n); k++) {
		struct buf b = { 0 };

		/* Numbering must not take quadratic time when all names are the same. */
		if (k > CSV_SAME && k <= c->n_all)
			k = c->n_all + 1;
		buf_put(&b, base, base_n);
		buf_printf(&b, "_%zu", k);
		n = b.len;
		mem_free(copy);
		name = copy = buf_take(&b);
	}
	uint8_t *p = buf_room(&c->keys, MP_HEAD_MAX + n + CSV_SLACK);
	uint32_t len = (uint32_t)(mp_put_text(p, name, (uint32_t)n) - p);
	c->all = mem_grow(c->all, &c->cap_all, c->n_all + 1, sizeof *c->all);
	c->all[c->n_all] = (struct csv_column){ (uint32_t)c->n_all, (uint32_t)c->keys.len, len };
	c->keys.len += len;
	c->n_all++;
	mem_free(copy);
	mem_free(other);
}

void
csv_columns_begin(struct csv *c, size_t n)
{
	buf_reset(&c->keys);
	c->n_all = 0;
	mem_free(c->hashes);
	c->slots = 2 * n + 1;
	c->hashes = mem_array(c->slots, sizeof *c->hashes);
}

void
csv_columns_end(struct csv *c)
{
	mem_free(c->hashes);
	c->hashes = NULL;
}

struct csv *
csv_new(const struct csv_conf *conf, const char *const *names, size_t n_names)
{
	struct csv *c = mem_zalloc(sizeof *c);

	c->conf = *conf;
	c->names = names;
	c->n_names = n_names;
	if (names && !conf->header) {
		csv_columns_begin(c, n_names);
		for (size_t i = 0; i < n_names; i++)
			csv_columns_add(c, names[i], strlen(names[i]));
		csv_columns_end(c);
	}
	csv_restart(c);
	return c;
}

void
csv_free(struct csv **cp)
{
	struct csv *c = *cp;

	*cp = NULL;
	if (!c)
		return;
	buf_clear(&c->keys);
	buf_clear(&c->line);
	run_clear(&c->one);
	mem_free(c->row.ends);
	mem_free(c->all);
	mem_free(c->out);
	mem_free(c);
}

void
csv_forget(struct csv *c)
{
	csv_row_reset(&c->row);
}

void
csv_restart(struct csv *c)
{
	csv_row_reset(&c->row);
	c->ready = false;
	if (!c->conf.header)
		csv_choose(c, NULL);
}

void
csv_project(struct csv *c, const struct json_fields *fields)
{
	c->fields = fields;
	if (c->ready)
		csv_choose(c, NULL);
}

bool
csv_ready(const struct csv *c)
{
	return c->ready;
}
