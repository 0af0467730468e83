/* SPDX-License-Identifier: MIT */
#include "op/file/file_far.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "value/origin.h"

enum { FAR_OBJECTS_MAX = 10000000 };

bool
file_far_any(const struct words *words)
{
	for (size_t i = 0; i < words->n; i++)
		if (url_is(words->v[i]))
			return true;
	return false;
}

/* The first sign in s that makes it a pattern; its end if there is none. */
static const char *
far_meta(const char *s)
{
	for (; *s && !strchr("*?[", *s); s++)
		if (*s == '\\' && s[1])
			s++;
	return s;
}

static bool
far_is_s3(const char *word)
{
	return !strncasecmp(word, "s3://", 5);
}

bool
file_far_pattern(const char *word)
{
	return far_is_s3(word) && *far_meta(word);
}

void
file_far_plain(const char *word, struct buf *out)
{
	bool s3 = far_is_s3(word);

	for (; *word; word++) {
		if (s3 && *word == '\\' && word[1])
			word++;
		buf_byte(out, (uint8_t)*word);
	}
}

const char *
file_far_origin(const char *path)
{
	struct buf shown = { 0 };
	const char *name;

	if (!url_is(path))
		return origin_name(path);
	url_show(path, &shown);
	name = origin_name((char *)shown.data);
	buf_clear(&shown);
	return name;
}

void
file_far_help(const char *name, struct err *e)
{
	const char *slash = name[strlen(name) - 1] == '/' ? "" : "/", *what = url_is(name) ? "objects" : "files";

	err_help(e, "'%s%s*' takes the %s in it, '%s%s**' those below as well", name, slash, what, name, slash);
}

static enum status
far_folder(const char *name, struct err *e)
{
	err_set(e, ST_NOINPUT, "cannot read '%s': it is the name of a folder, not of an object", name);
	file_far_help(name, e);
	return ST_NOINPUT;
}

enum status
file_far_check(const char *word, struct err *e)
{
	struct url u;
	enum status st = url_parse(word, &u, e);

	if (st == ST_OK)
		st = url_gate_ask(GATE_READ, word, &u, e);
	if (st == ST_OK && u.scheme == URL_S3 && (!*u.path || u.path[strlen(u.path) - 1] == '/'))
		st = far_folder(word, e);
	url_clear(&u);
	return st;
}

/* ---- patterns ---- */

/* Whether n bytes of a key's component match as many of a pattern's. */
static bool
far_component(const char *pattern, size_t n_pattern, const char *key, size_t n_key)
{
	char *p = mem_strndup(pattern, n_pattern), *k = mem_strndup(key, n_key);
	bool is = fnmatch(p, k, FNM_PERIOD) == 0;

	mem_free(p);
	mem_free(k);
	return is;
}

static bool
far_any_depth(const char *p, size_t n)
{
	return n == 2 && !memcmp(p, "**", 2);
}

/* Compares component by component. Behind `**` it goes on wherever the rest fits first, and tries the next place
 * when that turns out wrong; an earlier `**` need not be tried again then. */
static bool
far_match(const char *pattern, const char *key)
{
	const char *again_p = NULL, *again_k = NULL;

	for (;;) {
		size_t np = strcspn(pattern, "/"), nk = strcspn(key, "/");
		bool last_p = !pattern[np], last_k = !key[nk];

		if (far_any_depth(pattern, np)) {
			if (last_p) { /* all below, but nothing hidden */
				for (; *key != '.'; key += nk + 1) {
					nk = strcspn(key, "/");
					if (!key[nk])
						return true;
				}
			} else {
				again_p = pattern += np + 1;
				again_k = key;
				continue;
			}
		} else if (far_component(pattern, np, key, nk) && last_p == last_k) {
			if (last_p)
				return true;
			pattern += np + 1;
			key += nk + 1;
			continue;
		}
		if (!again_p || *again_k == '.')
			return false;
		nk = strcspn(again_k, "/");
		if (!again_k[nk])
			return false;
		again_k += nk + 1;
		pattern = again_p;
		key = again_k;
	}
}

/* ---- lists ---- */

struct far_list {
	struct file_far *out;
	const char *pattern; /* for the key */
	const char *word;
	size_t n_bucket;     /* bytes of the word in front of the key */
};

static enum status
far_found(void *arg, const char *key, const struct fetch_about *about, struct err *e)
{
	struct far_list *l = arg;
	struct file_far *f = l->out;

	if (!far_match(l->pattern, key))
		return ST_OK;
	if (f->n >= FAR_OBJECTS_MAX)
		return err_set(e, ST_DATA, "'%s' matches more than %d objects", l->word, FAR_OBJECTS_MAX);
	f->v = mem_grow(f->v, &f->cap, f->n + 1, sizeof *f->v);
	f->v[f->n].name = mem_printf("%.*s%s", (int)l->n_bucket, l->word, key);
	fetch_about_copy(&f->v[f->n++].about, about);
	return ST_OK;
}

enum status
file_far_list(const char *word, struct file_far *out, struct err *e)
{
	const char *key = word + 5 + strcspn(word + 5, "/"), *meta = far_meta(word);
	struct far_list l = { .out = out, .word = word };
	struct buf prefix = { 0 };
	char *plain = mem_strndup(word, (size_t)(meta - word));
	size_t before = out->n;

	if (meta < key) {
		mem_free(plain);
		return err_set(e, ST_DATA, "the name of a bucket cannot be a pattern: '%s'", word);
	}
	l.pattern = *key ? key + 1 : key;
	l.n_bucket = (size_t)(l.pattern - word);
	file_far_plain(plain, &prefix);
	buf_end(&prefix);
	/* Where the pattern ends with this component, what lies deeper need not be listed. */
	enum status st = fetch_list((char *)prefix.data, !strchr(meta, '/') && !strstr(meta, "**"), GATE_READ, far_found, &l,
		NULL, e);
	if (st == ST_OK && out->n == before)
		st = err_set(e, ST_NOINPUT, "no object matches '%s'", word);
	else if (st != ST_OK && st != ST_AGAIN)
		err_wrap(e, "cannot list '%s'", word);
	buf_clear(&prefix);
	mem_free(plain);
	return st;
}

static int
far_compare(const void *a, const void *b)
{
	return strcmp(((const struct file_far_one *)a)->name, ((const struct file_far_one *)b)->name);
}

void
file_far_sort(struct file_far *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof *f->v, far_compare);
}

const struct fetch_about *
file_far_find(const struct file_far *f, const char *name)
{
	struct file_far_one want = { .name = (char *)name };
	struct file_far_one *one = f->n ? bsearch(&want, f->v, f->n, sizeof *f->v, far_compare) : NULL;

	return one ? &one->about : NULL;
}

void
file_far_clear(struct file_far *f)
{
	for (size_t i = 0; i < f->n; i++) {
		mem_free(f->v[i].name);
		fetch_about_clear(&f->v[i].about);
	}
	mem_free(f->v);
	memset(f, 0, sizeof *f);
}
