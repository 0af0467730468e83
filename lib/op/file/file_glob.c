/* SPDX-License-Identifier: MIT */
#include "op/file/file_glob.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/gate.h"
#include "base/mem.h"
#include "op/file/file_far.h"

enum { GLOB_WORDS_MAX = 10000, GLOB_FILES_MAX = 50000000 };

/* Names being collected: struct words grows one by one, which is slow for millions. */
struct glob_names {
	char **v;
	size_t n, cap;
	struct file_far *far; /* gets the facts of listings; NULL: nobody asks */
};

static void
glob_put(struct glob_names *l, const char *s, size_t n)
{
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n++] = mem_strndup(s, n);
}

static void
glob_names_clear(struct glob_names *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->v[i]);
	mem_free(l->v);
}

/* The first character of `set` in s that has no backslash before it; NULL: none. */
static const char *
glob_find(const char *s, size_t n, const char *set)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		else if (strchr(set, s[i]))
			return s + i;
	}
	return NULL;
}

/* ---- {a,b} ---- */

/* The end of the bracket that opens at s; *commas is the number of commas between its parts. */
static const char *
glob_brace_end(const char *s, int *commas)
{
	int depth = 0;

	*commas = 0;
	for (; *s; s++) {
		if (*s == '\\' && s[1])
			s++;
		else if (*s == '{')
			depth++;
		else if (*s == ',' && depth == 1)
			(*commas)++;
		else if (*s == '}' && --depth == 0)
			return s;
	}
	return NULL;
}

static enum status
glob_braces(const char *word, size_t from, struct glob_names *out, struct err *e)
{
	const char *open = word + from, *close = NULL;
	int commas = 0;

	/* `{x}` and a lone `{` stand for themselves, as in a shell. */
	while ((open = glob_find(open, strlen(open), "{"))) {
		close = glob_brace_end(open, &commas);
		if (close && commas)
			break;
		open++;
	}
	if (!open) {
		if (out->n >= GLOB_WORDS_MAX)
			return err_set(e, ST_DATA, "'%.100s' has more than %d alternatives in braces",
				       word, GLOB_WORDS_MAX);
		glob_put(out, word, strlen(word));
		return ST_OK;
	}
	for (const char *part = open + 1; part <= close;) {
		const char *end = part;
		int depth = 0;
		struct buf b = { 0 };

		for (; end < close && !(*end == ',' && depth == 0); end++) {
			if (*end == '\\')
				end++;
			else
				depth += (*end == '{') - (*end == '}');
		}
		if (end > close)
			end = close;
		buf_put(&b, word, (size_t)(open - word));
		buf_put(&b, part, (size_t)(end - part));
		buf_str(&b, close + 1);
		enum status st = glob_braces((char *)b.data, (size_t)(open - word), out, e);
		buf_clear(&b);
		if (st != ST_OK)
			return st;
		part = end + 1;
	}
	return ST_OK;
}

/* ---- folders ---- */

struct glob {
	struct buf path;     /* path of the current folder, with a slash at the end */
	struct glob_names *out;
	struct err *e;
	const char *pattern; /* the whole pattern, for messages */
	size_t enough;       /* number of names in out after which the search ends */
};

static enum status glob_level(struct glob *g, const char *rest);

static bool
glob_is_folder(struct glob *g, const struct dirent *d, bool follow)
{
	struct stat st;

	if (d->d_type == DT_DIR)
		return true;
	if (d->d_type != DT_UNKNOWN && d->d_type != DT_LNK)
		return false;
	int rc = follow ? gate_stat((char *)g->path.data, &st) : gate_lstat((char *)g->path.data, &st);
	return rc == 0 && S_ISDIR(st.st_mode);
}

static void
glob_cut(struct glob *g, size_t len)
{
	g->path.len = len;
	if (g->path.data)
		g->path.data[len] = 0;
}

static enum status
glob_add(struct glob *g)
{
	if (g->out->n >= GLOB_FILES_MAX)
		return err_set(g->e, ST_DATA, "'%s' matches more than %d files", g->pattern,
			       GLOB_FILES_MAX);
	glob_put(g->out, (char *)g->path.data, g->path.len);
	return ST_OK;
}

/* Handles one entry of a folder, whose name has been appended to the path. any: it was found
 * under `**`, and `rest` is the pattern after that, "" for none. */
static enum status
glob_entry(struct glob *g, const struct dirent *d, const char *rest, bool any)
{
	bool folder = glob_is_folder(g, d, !any);

	if (any) {
		if (!folder) /* a link to a folder is neither entered nor counted as a file */
			return *rest || glob_is_folder(g, d, true) ? ST_OK : glob_add(g);
		buf_byte(&g->path, '/');
		struct buf again = { 0 };
		buf_printf(&again, "**%s%s", *rest ? "/" : "", rest);
		enum status st = glob_level(g, (char *)again.data);
		buf_clear(&again);
		return st;
	}
	if (!*rest)
		return folder ? ST_OK : glob_add(g);
	if (!folder)
		return ST_OK;
	buf_byte(&g->path, '/');
	return glob_level(g, rest);
}

/* Handles all entries of the folder in g->path that match the pattern; any: all that are not
 * hidden. */
static enum status
glob_folder(struct glob *g, const char *pattern, const char *rest, bool any)
{
	size_t len = g->path.len;
	DIR *dir = gate_opendir(GATE_READ, len ? (char *)g->path.data : ".");
	enum status st = ST_OK;
	struct dirent *d;

	if (!dir) {
		if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
			return ST_OK;
		/* Skipping the folder silently would leave its files out of the result. */
		return err_errno(g->e, "cannot list '%s' for '%s'",
				 len ? (char *)g->path.data : ".", g->pattern);
	}
	while (st == ST_OK && g->out->n < g->enough && (d = readdir(dir))) {
		if (any ? d->d_name[0] == '.' : fnmatch(pattern, d->d_name, FNM_PERIOD) != 0)
			continue;
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (len + strlen(d->d_name) + 2 > PATH_MAX)
			continue;
		buf_str(&g->path, d->d_name);
		st = glob_entry(g, d, rest, any);
		glob_cut(g, len);
	}
	closedir(dir);
	return st;
}

/* Handles a component without pattern characters: it exists or does not. */
static enum status
glob_plain(struct glob *g, const char *name, size_t n, const char *rest)
{
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		if (name[i] == '\\' && i + 1 < n)
			i++;
		buf_byte(&g->path, (uint8_t)name[i]);
	}
	if (*rest) {
		buf_byte(&g->path, '/');
		return glob_level(g, rest);
	}
	if (gate_stat((char *)g->path.data, &st) != 0)
		return gate_refused(errno) ? err_errno(g->e, "cannot read '%s'", (char *)g->path.data) : ST_OK;
	if (S_ISDIR(st.st_mode))
		return ST_OK;
	return glob_add(g);
}

static enum status
glob_level(struct glob *g, const char *rest)
{
	while (*rest == '/') {
		buf_byte(&g->path, '/');
		rest++;
	}
	size_t n = strcspn(rest, "/"), len = g->path.len;
	const char *after = rest + n;
	enum status st;

	while (*after == '/')
		after++;
	if (n == 2 && !memcmp(rest, "**", 2)) {
		while (!strncmp(after, "**/", 3) || !strcmp(after, "**"))
			after += after[2] ? 3 : 2;
		st = *after ? glob_level(g, after) : ST_OK;
		glob_cut(g, len);
		if (st == ST_OK)
			st = glob_folder(g, "", after, true);
	} else if (glob_find(rest, n, "*?[")) {
		char *pattern = mem_strndup(rest, n);
		st = glob_folder(g, pattern, after, false);
		mem_free(pattern);
	} else {
		st = glob_plain(g, rest, n, after);
	}
	glob_cut(g, len);
	return st;
}

static int
glob_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the names from `from` on, and removes duplicates. */
static void
glob_sort(struct glob_names *w, size_t from)
{
	size_t kept = from;

	if (w->n - from < 2)
		return;
	qsort(w->v + from, w->n - from, sizeof *w->v, glob_compare);
	for (size_t i = from; i < w->n; i++) {
		if (kept > from && !strcmp(w->v[kept - 1], w->v[i]))
			mem_free(w->v[i]);
		else
			w->v[kept++] = w->v[i];
	}
	w->n = kept;
}

/* ---- words ---- */

static enum status
glob_name(const char *name, struct glob_names *out, struct err *e)
{
	struct stat st;

	if (gate_stat(name, &st) != 0)
		return err_errno(e, "cannot read '%s'", name);
	if (S_ISDIR(st.st_mode)) {
		err_set(e, ST_NOINPUT, "cannot read '%s': it is a folder", name);
		file_far_help(name, e);
		return ST_NOINPUT;
	}
	if (gate_readable(name) != 0)
		return err_errno(e, "cannot read '%s'", name);
	glob_put(out, name, strlen(name));
	return ST_OK;
}

static enum status
glob_pattern(const char *word, bool any, struct glob_names *out, struct err *e)
{
	size_t before = out->n;
	struct glob g = { .out = out, .e = e, .pattern = word, .enough = any ? before + 1 : SIZE_MAX };
	enum status st = glob_level(&g, word);

	buf_clear(&g.path);
	if (st == ST_OK && out->n == before)
		st = err_set(e, ST_NOINPUT, "no file matches '%s'", word);
	return st;
}

/* An address. That there is an object is only asked for patterns: others are looked at when they are read,
 * which may be elsewhere. */
static enum status
glob_far(const char *word, bool any, struct glob_names *out, struct err *e)
{
	struct file_far own = { 0 }, *far = out->far ? out->far : &own;
	size_t before = far->n;
	struct buf name = { 0 };
	enum status st;

	if (any || !file_far_pattern(word)) {
		file_far_plain(word, &name);
		buf_end(&name);
		st = file_far_check((char *)name.data, e);
		if (st == ST_OK)
			glob_put(out, (char *)name.data, name.len);
	} else {
		st = file_far_list(word, far, e);
		for (size_t i = before; i < far->n && st == ST_OK; i++)
			glob_put(out, far->v[i].name, strlen(far->v[i].name));
	}
	buf_clear(&name);
	file_far_clear(&own);
	return st;
}

static enum status
glob_alternatives(const char *word, bool any, struct glob_names *out, struct err *e)
{
	struct glob_names parts = { 0 };
	enum status st = glob_braces(word, 0, &parts, e);

	for (size_t i = 0; i < parts.n && st == ST_OK; i++) {
		const char *part = parts.v[i];

		if (url_is(part))
			st = glob_far(part, any, out, e);
		else if (strpbrk(part, "*?[\\"))
			st = glob_pattern(part, any, out, e);
		else
			st = glob_name(part, out, e);
	}
	glob_names_clear(&parts);
	return st;
}

/* Expands a word: a pattern that matches nothing counts as a name, as in a shell. */
static enum status
glob_word(const char *word, bool literal, bool any, struct glob_names *out, struct err *e)
{
	struct stat there;
	size_t from = out->n;

	if (!*word)
		return err_set(e, ST_NOINPUT, "a file name is empty");
	if (!strcmp(word, "-")) {
		glob_put(out, "-", 1);
		return ST_OK;
	}
	if (literal && url_is(word)) {
		enum status st = file_far_check(word, e);

		if (st == ST_OK)
			glob_put(out, word, strlen(word));
		return st;
	}
	if (literal || (!url_is(word) && !strpbrk(word, "*?[{\\")))
		return glob_name(word, out, e);
	enum status st = glob_alternatives(word, any, out, e);
	if (st == ST_NOINPUT && out->n == from && gate_lstat(word, &there) == 0) {
		err_clear(e);
		return glob_name(word, out, e);
	}
	glob_sort(out, from);
	return st;
}

enum status
file_glob(const struct words *patterns, bool literal, struct words *out, struct err *e)
{
	return file_glob_about(patterns, literal, out, NULL, e);
}

enum status
file_glob_about(const struct words *patterns, bool literal, struct words *out, struct file_far *far, struct err *e)
{
	struct glob_names names = { .far = far };
	enum status st = ST_OK;

	for (size_t i = 0; i < patterns->n && st == ST_OK; i++)
		st = glob_word(patterns->v[i], literal, false, &names, e);
	if (st != ST_OK || !names.n) {
		glob_names_clear(&names);
		return st;
	}
	/* A NULL follows the last word, as in every struct words. */
	out->v = mem_realloc(out->v, (out->n + names.n + 1) * sizeof *out->v);
	memcpy(out->v + out->n, names.v, names.n * sizeof *out->v);
	out->n += names.n;
	out->v[out->n] = NULL;
	mem_free(names.v);
	return ST_OK;
}

enum status
file_glob_any(const struct words *patterns, struct err *e)
{
	struct glob_names names = { 0 };
	enum status st = ST_OK;

	for (size_t i = 0; i < patterns->n && st == ST_OK; i++)
		st = glob_word(patterns->v[i], false, true, &names, e);
	glob_names_clear(&names);
	return st;
}
