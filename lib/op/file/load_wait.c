/* SPDX-License-Identifier: MIT */
#include "op/file/load_wait.h"

#include "base/clock.h"
#include "base/gate.h"
#include "base/mem.h"
#include "op/kit/pace.h"
#include "op/kit/seal.h"

#define LOAD_PAUSE_NS 10000000ll       /* until the first look again, doubled up to */
#define LOAD_PAUSE_MAX_NS 1000000000ll

void
load_wait_clear(struct load_wait *w)
{
	seal_files_clear(&w->files);
	hash_clear(&w->seen);
	*w = (struct load_wait){ .dir = w->dir };
}

const struct seal_file *
load_wait_last(const struct load_wait *w)
{
	return &w->files.v[w->next - 1];
}

/* Keeps file k as number *kept, unless it has been listed before: a stream that was begun anew
 * makes the same files, or the folder is not what it was. */
static enum status
load_wait_keep(struct load_wait *w, const char *dir, size_t k, size_t *kept, struct err *e)
{
	struct seal_file *f = &w->files.v[k];
	size_t before = (size_t)(uintptr_t)hash_get_str(&w->seen, f->name);

	if (!before) {
		w->files.v[(*kept)++] = *f;
		hash_put_str(&w->seen, w->files.v[*kept - 1].name, (void *)(uintptr_t)*kept);
		return ST_OK;
	}
	struct seal_file *old = &w->files.v[before - 1];
	bool same = old->bytes == f->bytes && old->elements == f->elements && old->sum == f->sum;
	mem_free(f->name);
	f->name = old->name;
	if (same || before > w->next) {
		*old = *f;
		return ST_OK;
	}
	return err_set(e, ST_DATA, "'%s' was saved anew while it was being read", dir);
}

/* Reads what the folder's list has got since. */
static enum status
load_wait_look(struct load_wait *w, const char *dir, struct err *e)
{
	size_t kept = w->files.n;
	enum status st = seal_files_more(dir, true, &w->at, &w->files, e);

	for (size_t k = kept; k < w->files.n; k++) {
		if (st == ST_OK)
			st = load_wait_keep(w, dir, k, &kept, e);
		else
			mem_free(w->files.v[k].name);
	}
	w->files.n = kept;
	return st;
}

/* Gives the path of the folder's next file from that number on; NULL: it is not there (yet), or is number
 * `until`. A stream that begins anew removes its files, and writes them again, or others; whole: it will not. */
static char *
load_wait_file(struct load_wait *w, const char *dir, bool whole, uint64_t from, uint64_t until)
{
	struct seal_file found;

	for (; w->next < w->files.n && load_wait_at(w) < from; w->next++)
		;
	while (w->next < w->files.n && load_wait_at(w) < until) {
		char *name = w->files.v[w->next].name, *path = mem_printf("%s/%s", dir, name);
		struct stat info;
		bool there = gate_stat(path, &info) == 0;

		if (there) {
			w->next++;
			return path;
		}
		mem_free(path);
		if (!whole || seal_files_find(dir, name, &found))
			break;
		w->next++;
	}
	return NULL;
}

enum status
load_wait_next(const struct op_inst *self, const struct words *dirs, struct load_wait *w, uint64_t from, uint64_t until,
	       char **path, struct err *e)
{
	enum status st = ST_OK;

	for (w->pause = LOAD_PAUSE_NS; w->dir < dirs->n; w->pause *= w->pause < LOAD_PAUSE_MAX_NS ? 2 : 1) {
		const char *dir = dirs->v[w->dir];
		bool whole = seal_there(dir); /* asked first: all files are listed then */

		*path = load_wait_file(w, dir, whole, from, until);
		if (!*path && load_wait_at(w) < until && (st = load_wait_look(w, dir, e)) == ST_OK)
			*path = load_wait_file(w, dir, whole, from, until);
		if (!*path && load_wait_at(w) >= until)
			return st == ST_OK ? ST_END : st;
		if (*path || st != ST_OK || (st = seal_failed(dir, e)) != ST_OK)
			return st;
		if (whole && w->next < w->files.n)
			return err_set(e, ST_NOINPUT, "'%s/%s' is missing", dir, w->files.v[w->next].name);
		if (whole) {
			uint64_t before = load_wait_at(w);

			load_wait_clear(w);
			w->before = before;
			w->dir++;
		} else if ((st = pace_wait(self, clock_mono_ns() + w->pause)) != ST_OK) {
			return st;
		}
	}
	return ST_END;
}
