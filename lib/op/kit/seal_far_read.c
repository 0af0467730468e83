/* SPDX-License-Identifier: MIT
 * What has been saved to an object store, as those who read it see it.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fetch/fetch.h"
#include "op/kit/seal_far.h"
#include "value/crc32c.h"

enum { FAR_SEAL_MAX = 1 << 30, FAR_FAILED_MAX = ERR_TEXT / 2, FAR_STEP = 256 * 1024 };

enum status
seal_far_failed(const char *dir, struct err *e)
{
	struct buf b = { 0 };
	enum status st = seal_far_get(dir, SEAL_FAILED, GATE_READ, FAR_FAILED_MAX, &b, e);

	if (st == ST_NOINPUT) {
		err_clear(e);
		return ST_OK;
	}
	if (st == ST_OK) {
		st = err_set(e, ST_DATA, "the save to '%s' has failed: %.*s", dir,
			     b.data ? (int)strcspn((char *)b.data, "\n") : 0, b.data ? (char *)b.data : "");
		err_help(e, "save it again, or read the complete files with partial=true");
	}
	buf_clear(&b);
	return st;
}

/* ---- SNAPSHOT ---- */

/* The last one that was read: workers open its files one by one, and each looks for its line. */
static struct far_seal {
	pthread_mutex_t lock;
	char *dir, *tag;         /* NULL: none */
	struct seal_files files; /* sorted by name */
} far_seal = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int
far_by_name(const void *a, const void *b)
{
	return strcmp(((const struct seal_file *)a)->name, ((const struct seal_file *)b)->name);
}

static void
far_seal_clear(void)
{
	mem_free(far_seal.dir);
	mem_free(far_seal.tag);
	seal_files_clear(&far_seal.files);
	far_seal.dir = far_seal.tag = NULL;
}

static char *
far_seal_tag(const char *dir)
{
	char *tag = NULL;

	pthread_mutex_lock(&far_seal.lock);
	if (far_seal.dir && !strcmp(far_seal.dir, dir))
		tag = mem_strdup(far_seal.tag);
	pthread_mutex_unlock(&far_seal.lock);
	return tag;
}

/* Has far_seal be that of the place as it is now. With ST_OK it is locked. */
static enum status
far_seal_now(const char *dir, struct err *e)
{
	char *url = mem_printf("%s/" SEAL_NAME, dir), *tag = far_seal_tag(dir);
	struct buf b = { 0 };
	enum status st;

	for (;;) {
		st = fetch_get(url, GATE_READ, FAR_SEAL_MAX, &tag, &b, NULL, e);
		if (st != ST_OK && st != ST_NO)
			break;
		pthread_mutex_lock(&far_seal.lock);
		if (st == ST_OK) {
			far_seal_clear();
			far_seal.dir = mem_strdup(dir);
			far_seal.tag = tag;
			tag = NULL;
			seal_files_parse(&b, &far_seal.files);
			if (far_seal.files.n)
				qsort(far_seal.files.v, far_seal.files.n, sizeof *far_seal.files.v, far_by_name);
			break;
		}
		if (far_seal.dir && !strcmp(far_seal.dir, dir) && far_seal.tag && tag && !strcmp(far_seal.tag, tag)) {
			st = ST_OK;
			break;
		}
		pthread_mutex_unlock(&far_seal.lock); /* somebody has read another one meanwhile */
		mem_free(tag);
		tag = NULL;
	}
	if (st != ST_OK && st != ST_AGAIN)
		err_wrap(e, "cannot read '%s'", url);
	buf_clear(&b);
	mem_free(tag);
	mem_free(url);
	return st;
}

enum status
seal_far_whole(const char *dir, struct seal_files *out, struct err *e)
{
	enum status st = far_seal_now(dir, e);

	if (st != ST_OK)
		return st;
	for (size_t i = 0; i < far_seal.files.n; i++) {
		out->v = mem_grow(out->v, &out->cap, out->n + 1, sizeof *out->v);
		out->v[out->n] = far_seal.files.v[i];
		out->v[out->n++].name = mem_strdup(far_seal.files.v[i].name);
	}
	pthread_mutex_unlock(&far_seal.lock);
	return ST_OK;
}

bool
seal_far_find(const char *dir, char *name, struct seal_file *out)
{
	struct seal_file want = { .name = name }, *found;
	struct err e;

	if (far_seal_now(dir, &e) != ST_OK)
		return false;
	found = far_seal.files.n ? bsearch(&want, far_seal.files.v, far_seal.files.n, sizeof want, far_by_name) : NULL;
	if (found)
		*out = *found;
	pthread_mutex_unlock(&far_seal.lock);
	out->name = name;
	return found;
}

/* ---- files ---- */

struct far_there {
	struct seal_files *want; /* sorted by name; NULL: they are counted only */
	const char *dir;
	size_t skip, n;
};

static enum status
far_there(void *arg, const char *key, const struct fetch_about *about, struct err *e)
{
	struct far_there *t = arg;
	struct seal_file want = { .name = (char *)key + t->skip }, *f = NULL;

	if (!t->want)
		t->n++;
	else if (t->want->n)
		f = bsearch(&want, t->want->v, t->want->n, sizeof want, far_by_name);
	if (!f)
		return ST_OK;
	t->n++;
	mem_free(f->tag);
	f->tag = mem_strdup(about->tag);
	if (f->bytes == about->size)
		return ST_OK;
	return err_set(e, ST_DATA, "'%s/%s' has %" PRIu64 " bytes, and " SEAL_NAME " says %" PRIu64, t->dir, f->name,
		       about->size, f->bytes);
}

/* Looks which data files are there. */
static enum status
far_look(const char *dir, struct far_there *t, struct err *e)
{
	const char *key = dir + 5 + strcspn(dir + 5, "/");
	char *url = mem_printf("%s/" SEAL_DATA, dir);

	t->dir = dir;
	t->skip = *key ? strlen(key + 1) + 1 : 0;
	enum status st = fetch_list(url, true, GATE_READ, far_there, t, NULL, e);
	mem_free(url);
	return st;
}

enum status
seal_far_check(const char *dir, struct seal_files *out, struct err *e)
{
	struct far_there t = { .want = out };
	enum status st = seal_far_failed(dir, e);

	if (st == ST_OK)
		st = seal_far_whole(dir, out, e);
	if (st == ST_NOINPUT) {
		t.want = NULL;
		if ((st = far_look(dir, &t, e)) != ST_OK)
			return st;
		err_set(e, ST_NOINPUT, t.n ? "'%s' is not finished: %zu file%s so far" : "'%s' holds nothing that was saved",
			dir, t.n, t.n == 1 ? "" : "s");
		err_help(e, t.n ? "read the complete files with partial=true" : "a place that `save` wrote to");
		return ST_NOINPUT;
	}
	if (st != ST_OK)
		return st;
	st = far_look(dir, &t, e);
	if (st == ST_OK && t.n < out->n)
		st = err_set(e, ST_NOINPUT, "'%s' is not complete: %zu of its %zu files are there", dir, t.n, out->n);
	if (st != ST_OK && st != ST_AGAIN)
		err_help(e, "save it again, or read the complete files with partial=true");
	return st;
}

enum status
seal_far_file_check(const char *url, const struct seal_file *f, struct err *e)
{
	uint8_t *b = mem_alloc(FAR_STEP);
	struct fetch *object = NULL;
	uint64_t bytes = 0;
	uint32_t sum = 0;
	size_t n;
	enum status st = fetch_open(url, NULL, NULL, &object, e);

	while (st == ST_OK && (st = fetch_read(object, b, FAR_STEP, &n, e)) == ST_OK) {
		sum = crc32c_more(sum, b, n);
		bytes += n;
	}
	fetch_close(&object);
	mem_free(b);
	if (st != ST_END)
		return st;
	if (bytes == f->bytes && (!f->summed || sum == f->sum))
		return ST_OK;
	if (bytes != f->bytes)
		err_set(e, ST_DATA, "'%s' has %" PRIu64 " bytes, and " SEAL_NAME " says %" PRIu64, url, bytes, f->bytes);
	else
		err_set(e, ST_DATA, "'%s' is damaged: its checksum is %08" PRIx32 ", and " SEAL_NAME " says %08" PRIx32, url, sum,
			f->sum);
	err_help(e, "save it again");
	return ST_DATA;
}
