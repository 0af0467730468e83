/* SPDX-License-Identifier: MIT
 *
 * A file of shards.h gets its name. Whoever has been replaced may have been stopped just
 * before it names one, or adds it to the list; where files end by time, its file is another one.
 * So there a name is given by a link, which never takes it from a file that has it; only one that
 * is not in the list is replaced. A line that comes too late is skipped (seal_list.h).
 */
#include <string.h>
#include <sys/stat.h>

#include "base/gate.h"
#include "base/replace.h"
#include "base/trace.h"
#include "op/kit/seal.h"
#include "op/kit/shards_inner.h"

/* Adds the file, which has its name, to the folder's list. */
static enum status
commit_list(const struct shards *s, const struct shard *sh, const char *name, struct err *e)
{
	struct seal_file f = {
		.name = strrchr(name, '/') + 1, .elements = sh->elements, .bytes = sh->written, .sum = sh->sum,
		/* The head of an array is written last. */
		.summed = s->form != SHARDS_NPY,
		.owned = s->owned, .gen = s->gen
	};

	return seal_files_add(s->dir, &f, true, e);
}

/* Gives the name to the file if nothing else has it; false: something has, or links are not
 * possible there. */
static bool
commit_link(int fd, const char *name)
{
	struct stat ours, there;
	struct err e;

	return gate_stat(name, &there) && replace_name(fd, NULL, name, &e) == ST_OK && !fstat(fd, &ours) &&
		!gate_stat(name, &there) && there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

static enum status
commit_name(struct shards *s, const struct shard *sh, const char *part, const char *name, struct err *e)
{
	if (s->owned && commit_link(sh->fd, name)) {
		gate_unlink(part);
		return ST_OK;
	}
	enum status st = s->owned ? shards_cut_mine(&s->cut, s->dir, s->stream, e) : ST_OK;
	return st == ST_OK ? replace_name(sh->fd, part, name, e) : st;
}

enum status
shards_commit(struct shards *s, struct shard *sh, const char *part, const char *name, struct err *e)
{
	/* Another worker went on from our state, and has ended: its file is in the seal. The same if it
	 * was listed when we took the stream over: it has these bytes. */
	if ((s->pass && seal_ended(s->dir, s->stream)) || sh->until) {
		gate_unlink(part);
		return ST_OK;
	}
	int64_t began = trace_begin();
	enum status st = sh->named ? ST_OK : commit_name(s, sh, part, name, e);
	trace_span(began, TRACE_COMMIT, name, sh->elements, sh->written, 0);
	sh->named = st == ST_OK;
	if (st != ST_OK && s->pass && seal_ended(s->dir, s->stream)) {
		err_clear(e); /* it has removed ours meanwhile */
		return ST_OK;
	}
	return st == ST_OK ? commit_list(s, sh, name, e) : st;
}
