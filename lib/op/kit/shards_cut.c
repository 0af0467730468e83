/* SPDX-License-Identifier: MIT */
#include "op/kit/shards_cut.h"

#include <stdlib.h>
#include <string.h>

void
shards_cut_clear(struct shards_cut *c)
{
	seal_files_clear(&c->done);
	seal_files_clear(&c->promised);
}

static enum status
cut_lost(struct shards_cut *c, const char *dir, struct err *e)
{
	c->lost = true;
	return err_set(e, ST_DATA, "another worker writes this stream to %s now", dir);
}

enum status
shards_cut_own(struct shards_cut *c, const char *dir, uint32_t stream, const struct seal_owner *me, struct err *e)
{
	struct seal_owner last = { 0 };

	shards_cut_clear(c);
	c->me = *me;
	c->at = 0;
	c->lost = false;
	enum status st = seal_files_owner(dir, stream, &c->at, &last, e);
	if (st == ST_OK && last.gen > me->gen)
		return cut_lost(c, dir, e);
	if (st == ST_OK)
		st = seal_files_own(dir, stream, me, e);
	if (st == ST_OK)
		st = seal_files_now(dir, &c->done, e);
	return st == ST_OK ? seal_files_promised(dir, &c->promised, e) : st;
}

static int
cut_by_name(const void *name, const void *file)
{
	return strcmp(name, ((const struct seal_file *)file)->name);
}

uint64_t
shards_cut_of(const struct shards_cut *c, const char *path)
{
	const struct seal_file *f = c->done.n ?
		bsearch(strrchr(path, '/') + 1, c->done.v, c->done.n, sizeof *c->done.v, cut_by_name) : NULL;

	return f ? f->elements : 0;
}

uint64_t
shards_cut_least(const struct shards_cut *c, const char *path)
{
	const struct seal_files *l = &c->promised;
	const char *name = strrchr(path, '/') + 1;
	size_t lo = 0, hi = l->n;
	uint64_t least = 0;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(l->v[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < l->n && !strcmp(l->v[lo].name, name); lo++)
		least = l->v[lo].elements > least ? l->v[lo].elements : least;
	return least;
}

enum status
shards_cut_mine(struct shards_cut *c, const char *dir, uint32_t stream, struct err *e)
{
	struct seal_owner last = c->me;
	enum status st = seal_files_owner(dir, stream, &c->at, &last, e);

	return c->lost || (st == ST_OK && last.writer != c->me.writer) ? cut_lost(c, dir, e) : st;
}
