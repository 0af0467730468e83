/* SPDX-License-Identifier: MIT */
#include "op/kit/seal_far.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "op/kit/shards_far.h"
#include "op/kit/shards_inner.h"

#define FAR_ENDED ".dsvc-ended-"
enum { FAR_TEXT = 200, FAR_TRIES = 4, FAR_MARK_MAX = 64 * 1024 * 1024 };

/* The names of a place's objects, without its address. */
struct far_names {
	char **v;
	size_t n, cap, skip; /* skip: bytes of a key in front of the name */
};

static enum status
far_name_found(void *arg, const char *key, const struct fetch_about *about, struct err *e)
{
	struct far_names *l = arg;

	(void)about, (void)e;
	l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n++] = mem_strdup(key + l->skip);
	return ST_OK;
}

static size_t
far_skip(const char *dir)
{
	const char *key = dir + 5 + strcspn(dir + 5, "/");

	return *key ? strlen(key + 1) + 1 : 0;
}

/* Lists what begins so. */
static enum status
far_names(const char *dir, const char *prefix, const struct fetch_wait *w, struct far_names *out, struct err *e)
{
	char *url = mem_printf("%s/%s", dir, prefix);

	*out = (struct far_names){ .skip = far_skip(dir) };
	enum status st = fetch_list(url, true, GATE_WRITE, far_name_found, out, w, e);
	if (st != ST_OK && st != ST_AGAIN)
		err_wrap(e, "cannot list %s", dir);
	mem_free(url);
	return st;
}

static void
far_names_clear(struct far_names *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->v[i]);
	mem_free(l->v);
}

static enum status
far_remove(const char *dir, const char *name, const struct fetch_wait *w, struct err *e)
{
	char *url = mem_printf("%s/%s", dir, name);
	enum status st = fetch_remove(url, w, e);

	if (st != ST_OK && st != ST_AGAIN)
		err_wrap(e, "cannot remove %s", url);
	mem_free(url);
	return st;
}

/* Removes what begins so. */
static enum status
far_remove_all(const char *dir, const char *prefix, const struct fetch_wait *w, struct err *e)
{
	struct far_names l;
	enum status st = far_names(dir, prefix, w, &l, e);

	for (size_t i = 0; i < l.n && st == ST_OK; i++)
		st = far_remove(dir, l.v[i], w, e);
	far_names_clear(&l);
	return st;
}

/* Cancels what is left of uploads. Not every store lets its users list them: then they stay. */
static enum status
far_cancel_all(const char *dir, const char *prefix, const struct fetch_wait *w, struct err *e)
{
	char *url = mem_printf("%s/%s", dir, prefix);
	enum status st = fetch_uploads_cancel(url, w, e);

	mem_free(url);
	if (st != ST_AGAIN)
		err_clear(e);
	return st == ST_AGAIN ? st : ST_OK;
}

static enum status
far_put(const char *dir, const char *name, const void *p, size_t n, bool fresh, const struct fetch_wait *w,
	struct err *e)
{
	char *url = mem_printf("%s/%s", dir, name);
	enum status st = fetch_put(url, p, n, fresh, w, e);

	if (st != ST_OK && st != ST_NO && st != ST_AGAIN)
		err_wrap(e, "cannot write %s", url);
	mem_free(url);
	return st;
}

static enum status
far_get(const char *dir, const char *name, enum gate side, size_t most, struct buf *out, const struct fetch_wait *w,
	struct err *e)
{
	char *url = mem_printf("%s/%s", dir, name);
	enum status st = fetch_get(url, side, most, NULL, out, w, e);

	if (st != ST_OK && st != ST_AGAIN)
		err_wrap(e, "cannot read %s", url);
	mem_free(url);
	return st;
}

enum status
seal_far_get(const char *dir, const char *name, enum gate side, size_t most, struct buf *out, struct err *e)
{
	return far_get(dir, name, side, most, out, NULL, e);
}

/* ---- the pass ---- */

enum status
seal_far_sweep(const char *dir, const struct fetch_wait *w, struct err *e)
{
	/* The seal first: it must not stand without its files. */
	static const char *const prefixes[] = { SEAL_NAME, FAR_ENDED, ".dsvc-position", SEAL_DATA, SEAL_LOCK };
	enum status st = ST_OK;

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && st == ST_OK; i++)
		st = far_remove_all(dir, prefixes[i], w, e);
	return st == ST_OK ? far_cancel_all(dir, SEAL_DATA, w, e) : st;
}

/* Reads which pass the place belongs to: ST_OK: ours; ST_NO: none; ST_SKIP: another one. */
static enum status
far_whose(const struct shards *s, struct err *e)
{
	char mark[SHARDS_MARK];
	struct buf b = { 0 };
	enum status st = far_get(s->dir, SEAL_LOCK, GATE_WRITE, SHARDS_MARK, &b, &s->far->wait, e);
	int n = shards_mark(s, mark);

	if (st == ST_NOINPUT) {
		err_clear(e);
		st = ST_NO;
	} else if (st == ST_DATA || (st == ST_OK && (b.len != (size_t)n || memcmp(b.data, mark, b.len) != 0))) {
		err_clear(e);
		st = ST_SKIP;
	}
	buf_clear(&b);
	return st;
}

/* Takes the place from another pass. The streams of this process do so one after the other; those of others
 * could not know what is swept and what is written. */
static enum status
far_take(struct shards *s, struct err *e)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char mark[SHARDS_MARK];

	if (s->pass) {
		err_set(e, ST_DATA, "%s holds what another pass saved, and workers do not replace it", s->dir);
		err_help(e, "dsvc-save --overwrite %s does, before they begin", s->dir);
		return ST_DATA;
	}
	pthread_mutex_lock(&lock);
	enum status st = far_whose(s, e);
	if (st == ST_SKIP || st == ST_NO) {
		st = seal_far_sweep(s->dir, &s->far->wait, e);
		int n = shards_mark(s, mark);
		if (st == ST_OK)
			st = far_put(s->dir, SEAL_LOCK, mark, (size_t)n, false, &s->far->wait, e);
	}
	pthread_mutex_unlock(&lock);
	return st;
}

enum status
seal_far_begin(struct shards *s, bool overwrite, struct err *e)
{
	enum status st = put_check(s->dir, e);
	char mark[SHARDS_MARK];
	int n = shards_mark(s, mark);

	for (int tries = 0; st == ST_OK && tries < FAR_TRIES; tries++) {
		st = far_whose(s, e);
		if (st == ST_NO) /* whoever puts his there first has it */
			st = far_put(s->dir, SEAL_LOCK, mark, (size_t)n, true, &s->far->wait, e);
		if (st == ST_SKIP && overwrite)
			st = far_take(s, e);
		if (st == ST_SKIP) {
			st = err_set(e, ST_DATA, "%s holds what another pass saved", s->dir);
			err_help(e, "name another prefix, or write overwrite=true to replace it");
		}
		if (st != ST_NO)
			return st;
		st = ST_OK;
	}
	return st == ST_OK ? err_set(e, ST_IO, "cannot tell who writes to %s", s->dir) : st;
}

enum status
seal_far_mine(const struct shards *s, struct err *e)
{
	enum status st = far_whose(s, e);

	return st == ST_NO || st == ST_SKIP ? err_set(e, ST_DATA, "another pass saves to %s now", s->dir) : st;
}

/* ---- streams ---- */

static char *
far_mark(uint32_t stream)
{
	return mem_printf(FAR_ENDED "%05" PRIu32, stream);
}

enum status
seal_far_break(const struct shards *s, struct err *e)
{
	char *mark = far_mark(s->stream), *prefix = mem_printf(SEAL_DATA "%05" PRIu32 "-", s->stream);
	const struct fetch_wait *w = &s->far->wait;
	enum status st = far_remove_all(s->dir, SEAL_NAME, w, e);

	if (st == ST_OK)
		st = far_remove(s->dir, mark, w, e);
	if (st == ST_OK)
		st = far_remove_all(s->dir, prefix, w, e);
	if (st == ST_OK)
		st = far_cancel_all(s->dir, prefix, w, e);
	mem_free(mark);
	mem_free(prefix);
	return st;
}

bool
seal_far_ended(const struct shards *s)
{
	char *mark = far_mark(s->stream);
	struct buf b = { 0 };
	struct err e;
	bool ended = far_get(s->dir, mark, GATE_WRITE, FAR_MARK_MAX, &b, &s->far->wait, &e) == ST_OK;

	buf_clear(&b);
	mem_free(mark);
	return ended;
}

void
seal_far_fail(const char *dir, const struct err *why)
{
	struct buf b = { 0 };
	struct err e;

	buf_printf(&b, "%s\n", why->text);
	(void)far_put(dir, SEAL_FAILED, b.data, b.len, false, NULL, &e); /* without it the place is not whole, either */
	buf_clear(&b);
}

static int
far_by_name(const void *a, const void *b)
{
	return strcmp(((const struct seal_file *)a)->name, ((const struct seal_file *)b)->name);
}

static void
far_sort(struct seal_files *l)
{
	if (l->n)
		qsort(l->v, l->n, sizeof *l->v, far_by_name);
}

/* The streams that have ended, and their files. */
struct far_ended {
	uint64_t streams, n;  /* number of all, and of those that have ended */
	uint64_t files, elements;
	struct seal_files list;
};

/* Reads the mark of a stream. */
static enum status
far_ended_one(const struct shards *s, const char *name, struct far_ended *out, struct err *e)
{
	struct buf b = { 0 };
	enum status st = far_get(s->dir, name, GATE_WRITE, FAR_MARK_MAX, &b, &s->far->wait, e);
	uint64_t streams, files, elements;

	if (st == ST_OK && (!b.len || sscanf((char *)b.data, "%" SCNu64 " %" SCNu64 " %" SCNu64, &streams, &files,
					      &elements) != 3))
		st = err_set(e, ST_DATA, "%s/%s is damaged", s->dir, name);
	if (st == ST_OK) {
		if (!out->streams)
			out->streams = streams;
		out->n++;
		out->files += files;
		out->elements += elements;
		seal_files_parse(&b, &out->list);
	}
	buf_clear(&b);
	return st;
}

/* Reads the marks if all streams have ended. */
static enum status
far_ended(const struct shards *s, struct far_ended *out, struct err *e)
{
	struct far_names marks;
	enum status st = far_names(s->dir, FAR_ENDED, &s->far->wait, &marks, e);

	if (marks.n >= out->streams)
		for (size_t i = 0; i < marks.n && st == ST_OK; i++)
			if (!out->streams || strtoull(marks.v[i] + strlen(FAR_ENDED), NULL, 10) < out->streams)
				st = far_ended_one(s, marks.v[i], out, e);
	far_names_clear(&marks);
	return st;
}

/* Writes the seal. */
static enum status
far_seal(struct shards *s, struct far_ended *all, struct seal_about *about, struct err *e)
{
	struct buf rest = { 0 }, text = { 0 };
	char fields[FAR_TEXT];
	enum status st = ST_OK;

	far_sort(&all->list);
	about->elements = about->bytes = 0;
	for (size_t i = 0; i < all->list.n; i++) {
		about->elements += all->list.v[i].elements;
		about->bytes += all->list.v[i].bytes;
	}
	if (all->list.n != all->files || about->elements != all->elements)
		st = err_set(e, ST_IO, "the marks in %s have %zu files of %" PRIu64 ", and %" PRIu64 " elements of %" PRIu64, s->dir,
			     all->list.n, all->files, about->elements, all->elements);
	snprintf(fields, sizeof fields, "\"streams\": %" PRIu64 ", \"files\": %zu, \"seed\": %" PRIu64, all->streams,
		 all->list.n, s->seed);
	seal_about_put(about, &rest);
	seal_files_text(fields, &all->list, (char *)rest.data, &text);
	if (st == ST_OK)
		st = far_put(s->dir, SEAL_NAME, text.data, text.len, false, &s->far->wait, e);
	if (st == ST_OK) /* by a writer that others went on from */
		st = far_remove(s->dir, SEAL_FAILED, &s->far->wait, e);
	buf_clear(&rest);
	buf_clear(&text);
	return st;
}

enum status
seal_far_end(struct shards *s, const struct seal_stream *ended, struct seal_about *about, struct err *e)
{
	char *mark = far_mark(s->stream), *prefix = mem_printf(SEAL_DATA "%05" PRIu32 "-", s->stream);
	const struct seal_files *l = &s->far->done;
	struct far_ended all = { .streams = ended->streams };
	struct buf b = { 0 };

	buf_printf(&b, "%" PRIu32 " %" PRIu64 " %" PRIu64 "\n", ended->streams, ended->files, ended->elements);
	for (size_t i = 0; i < l->n; i++)
		seal_files_line(&l->v[i], &b);
	enum status st = far_put(s->dir, mark, b.data, b.len, false, &s->far->wait, e);
	if (st == ST_OK) /* writers that others went on from left some */
		st = far_cancel_all(s->dir, prefix, &s->far->wait, e);
	if (st == ST_OK)
		st = far_ended(s, &all, e);
	if (st == ST_OK && all.streams && all.n == all.streams)
		st = far_seal(s, &all, about, e);
	seal_files_clear(&all.list);
	buf_clear(&b);
	mem_free(mark);
	mem_free(prefix);
	return st;
}
