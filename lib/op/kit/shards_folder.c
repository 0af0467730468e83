/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/flock_for.h"
#include "base/gate.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "op/kit/seal.h"
#include "op/kit/shards_far.h"
#include "op/kit/shards_inner.h"

enum { SHARDS_IMPATIENT_NS = 20 * 1000 * 1000 };

uint64_t
shards_pipeline(const struct op_node *n)
{
	uint64_t mark = 1;

	for (; n; n = n->n_in ? n->in[0] : NULL) {
		for (const char *c = op_text(n); *c; c++)
			mark = rng_mix(mark, (uint64_t)(unsigned char)*c);
		for (size_t k = 1; k < n->n_in; k++)
			mark = rng_mix(mark, shards_pipeline(n->in[k]));
	}
	return mark;
}

enum status
shards_io(struct shards *s, enum status st)
{
	s->no_room = st == ST_IO && (errno == ENOSPC || errno == EDQUOT);
	return st;
}

int
shards_mark(const struct shards *s, char out[SHARDS_MARK])
{
	return snprintf(out, SHARDS_MARK, "seed %" PRIu64 " pipeline %016" PRIx64 " pass %" PRIu64 "\n", s->seed,
			s->pipeline, s->pass);
}

/* Whether it says so. */
static bool
shards_ours(const struct shards *s, int fd, bool *empty)
{
	char text[SHARDS_MARK] = "", mark[SHARDS_MARK];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	shards_mark(s, mark);
	*empty = n == 0;
	return n > 0 && !strcmp(text, mark);
}

int
shards_lock(struct shards *s, struct err *e)
{
	char *path = mem_printf("%s/" SEAL_LOCK, s->dir);
	int fd = gate_open(GATE_WRITE, path, O_RDWR, 0);
	bool good = fd >= 0, empty;

	int64_t began = clock_mono_ns();

	good = good && flock_for(fd, s->patience);
	if (clock_mono_ns() - began >= s->patience && s->patience > SHARDS_IMPATIENT_NS)
		s->patience = SHARDS_IMPATIENT_NS;
	if (!good)
		err_errno(e, "cannot lock %s", path);
	else if (!shards_ours(s, fd, &empty))
		good = err_set(e, ST_DATA, "another pass saves to %s now", s->dir) == ST_OK;
	else if ((s->owned || s->cut.lost) && shards_cut_mine(&s->cut, s->dir, s->stream, e) != ST_OK)
		good = false; /* nor do we say that the save has failed */
	if (!good && fd >= 0)
		close(fd);
	mem_free(path);
	return good ? fd : -1;
}

enum status
shards_own(struct shards *s, struct err *e)
{
	int lock = s->cut.after_ns ? shards_lock(s, e) : -1;

	enum status st = !s->cut.after_ns ? ST_OK : lock < 0 ? e->kind :
		shards_io(s, shards_cut_own(&s->cut, s->dir, s->stream, &(struct seal_owner){ s->writer, s->gen }, e));
	s->owned = s->cut.after_ns && st == ST_OK;

	if (lock >= 0)
		close(lock);
	return st;
}

/* Removes the files of an earlier pass. */
static enum status
shards_sweep(const struct shards *s, struct err *e)
{
	DIR *d = gate_opendir(GATE_WRITE, s->dir);
	struct dirent *entry;

	if (!d)
		return err_errno(e, "cannot read %s", s->dir);
	while ((entry = readdir(d)))
		if (str_starts(entry->d_name, "data-") || str_starts(entry->d_name, ".data-") ||
		    seal_is(entry->d_name))
			unlinkat(dirfd(d), entry->d_name, 0);
	closedir(d);
	return ST_OK;
}

/* Checks the folder, one stream at a time: a second one must not remove what the first has
 * begun to write. */
static enum status
shards_look(struct shards *s, int fd, bool overwrite, struct err *e)
{
	char mark[SHARDS_MARK];
	enum status st = ST_OK;
	bool empty;

	if (!flock_for(fd, s->patience))
		return err_errno(e, "cannot lock a file in %s", s->dir);
	if (shards_ours(s, fd, &empty))
		return ST_OK;
	if (!empty && !overwrite) {
		err_set(e, ST_DATA, "%s holds what another pass saved", s->dir);
		err_help(e, "name another folder, or write overwrite=true to replace it");
		return ST_DATA;
	}
	if (!empty)
		st = shards_sweep(s, e);
	int n = shards_mark(s, mark);
	if (st == ST_OK && (ftruncate(fd, 0) || pwrite(fd, mark, (size_t)n, 0) != n))
		st = err_errno(e, "cannot write to %s", s->dir);
	return st;
}

/* Makes the folder, and opens the file that says whose it is. That nothing can be made there
 * is no missing input. */
static enum status
shards_make(const struct shards *s, const char *path, int *fd, struct err *e)
{
	bool made = gate_mkdir(s->dir, 0777) == 0 || errno == EEXIST;
	struct stat info;
	enum status st = ST_OK;

	if (!made)
		st = err_errno(e, "cannot make the folder %s", s->dir);
	else if (!gate_stat(s->dir, &info) && !S_ISDIR(info.st_mode))
		st = err_set(e, ST_IO, "cannot save to %s: it is not a folder", s->dir);
	else if ((*fd = gate_open(GATE_WRITE, path, O_RDWR | O_CREAT, 0666)) < 0)
		st = err_errno(e, "cannot write %s", path);
	return st == ST_NOINPUT ? e->kind = ST_IO : st;
}

enum status
shards_begin(struct shards *s, uint64_t seed, bool overwrite, struct err *e)
{
	char *path = mem_printf("%s/" SEAL_LOCK, s->dir);
	int fd = -1;

	s->seed = seed;
	if (s->far) {
		mem_free(path);
		return far_begin(s, overwrite, e);
	}
	enum status st = shards_io(s, shards_make(s, path, &fd, e));
	if (st == ST_OK)
		st = shards_io(s, shards_look(s, fd, overwrite, e));
	if (fd >= 0)
		close(fd);
	mem_free(path);
	s->begun = st == ST_OK; /* otherwise the folder belongs to another pass */
	/* In a process alone the input may be another one than last time. A stream of the service
	 * is always the same; another worker may be ahead with it, or have ended it. */
	if (s->begun && !s->pass)
		st = seal_break(s->dir, s->stream, e); /* takes the lock by itself */
	if (st == ST_OK)
		st = shards_own(s, e);
	s->begun = s->begun && !s->no_room;
	return st;
}
