/* SPDX-License-Identifier: MIT */
#include "op/kit/shards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/flock_for.h"
#include "base/gate.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/transfer.h"
#include "op/chain.h"
#include "op/kit/seal.h"
#include "op/kit/shards_far.h"
#include "op/kit/shards_inner.h"
#include "value/crc32c.h"
#include "value/format/format.h"
#include "value/mp.h"

enum {
	SHARDS_REPLAY = 1 << 20,
	/* Bytes that are compressed together: at most and at least, divided among the shards, since
	 * the state has those that wait. */
	SHARDS_PIECE = 128 * 1024, SHARDS_PIECE_MIN = 4 * 1024
};

static const struct { const char *end; enum format_kind kind; bool first; } shards_forms[] = {
	[SHARDS_MSGPACK] = { "msgpack", FORMAT_NONE, false },
	[SHARDS_NDJSON] = { "ndjson", FORMAT_NONE, false },
	[SHARDS_TEXT] = { "txt", FORMAT_NONE, false },
	[SHARDS_CSV] = { "csv", FORMAT_CSV, true },
	[SHARDS_TSV] = { "tsv", FORMAT_TSV, true },
	[SHARDS_TFRECORD] = { "tfrecord", FORMAT_TFRECORD, false },
	[SHARDS_TAR] = { "tar", FORMAT_TAR, false },
	[SHARDS_NPY] = { "npy", FORMAT_NPY, true },
};

/* The name that the shard's current file gets; gives. */
static char *
shards_name(const struct shards *s, uint32_t k)
{
	return mem_printf("%s/data-%05u-%03u-%05u.%s%s", s->dir, s->stream, k, s->v[k].number,
			  shards_forms[s->form].end, shards_pack_end(s->codec));
}

/* The name under which writer number `writer` writes it; gives. */
static char *
shards_part(const struct shards *s, uint32_t k, uint64_t writer)
{
	return mem_printf("%s/.data-%05u-%03u-%05u-%016" PRIx64 ".part", s->dir, s->stream, k, s->v[k].number, writer);
}

void
shards_init(struct shards *s, const char *dir, int form, uint32_t n, int64_t file_max,
	    const struct op_inst *self)
{
	*s = (struct shards){ .dir = dir, .node = self->node, .form = (enum shards_form)form, .n = n,
			      .file_max = (uint64_t)file_max, .stream = self->ctx->stream, .pass = self->ctx->pass, .gen = self->ctx->gen,
			      .pipeline = shards_pipeline(self->node), .writer = rng_seed_fresh(),
			      .patience = SEAL_LOCK_NS, .rules = self->ctx->json };
	s->v = mem_array(n, sizeof *s->v);
	for (uint32_t k = 0; k < n; k++)
		s->v[k].fd = -1;
}

static bool
shard_is_open(const struct shard *sh)
{
	return sh->fd >= 0 || sh->object;
}

void
shards_clear(struct shards *s)
{
	if (s->far)
		far_close(s, NULL);
	for (uint32_t k = 0; s->v && k < s->n; k++) {
		if (s->v[k].fd >= 0)
			close(s->v[k].fd);
		buf_clear(&s->v[k].buf);
		buf_clear(&s->v[k].first);
		format_free(&s->v[k].format);
	}
	mem_free(s->v);
	buf_clear(&s->packed);
	shards_cut_clear(&s->cut);
	*s = (struct shards){ 0 };
}

void
shards_close(struct shards *s, const struct op_inst *self)
{
	struct err e;

	if (s->far && s->v)
		far_close(s, chain_of(self)->pending);
	int lock = !s->far && s->begun && chain_of(self)->pending ? shards_lock(s, &e) : -1;

	if (lock >= 0 && !seal_ended(s->dir, s->stream))
		seal_fail(s->dir, chain_of(self)->pending);
	if (lock >= 0)
		close(lock);
	shards_clear(s);
}

/* How many bytes are written together. */
static size_t
shards_piece(const struct shards *s)
{
	size_t share = SHARDS_PIECE / s->n;

	return !s->codec ? SHARDS_BUF : share > SHARDS_PIECE_MIN ? share : SHARDS_PIECE_MIN;
}

static enum status
shards_flush(struct shards *s, struct shard *sh, struct err *e)
{
	const struct buf *b = s->codec ? &s->packed : &sh->buf;

	buf_reset(&s->packed);
	if (s->codec && shards_pack(s->codec, sh->buf.data, sh->buf.len, !sh->written, &s->packed, e) != ST_OK)
		return e->kind;
	enum status st = s->far ? far_write(s, sh, b, e) : ST_OK;
	if (st != ST_OK)
		return st;
	if (!s->far && !transfer_write_at(sh->fd, b->data, b->len, sh->written))
		return shards_io(s, err_errno(e, "cannot write to %s", s->dir));
	sh->written += b->len;
	sh->plain += sh->buf.len;
	sh->sum = crc32c_more(sh->sum, b->data, b->len);
	buf_reset(&sh->buf);
	return ST_OK;
}

/* Makes the format for a file that is begun or continued; for a continued one it is given what
 * it needs to know of the elements before. */
static void
shards_format(struct shards *s, struct shard *sh)
{
	struct elem x = { .p = sh->first.data, .len = (uint32_t)sh->first.len };
	struct run one = { .e = &x, .n = 1 };
	struct buf waste = { 0 };
	struct err e;

	format_free(&sh->format);
	if (shards_forms[s->form].kind == FORMAT_NONE)
		return;
	sh->format = format_new(shards_forms[s->form].kind, NULL);
	struct format_opts opts = { .json = s->rules };
	format_set(sh->format, &opts, NULL, &e);
	format_seekable(sh->format);
	/* An array's head has the number of all elements; of rows only the first matters. */
	uint64_t n = s->form == SHARDS_NPY ? sh->elements : sh->elements > 0;
	for (uint64_t i = 0; sh->first.len && i < n; i++) {
		format_run(sh->format, &one, &waste, &e);
		if (waste.len > SHARDS_REPLAY)
			buf_reset(&waste);
	}
	buf_clear(&waste);
}

/* Whether the file ends with the elements that it has. */
static bool
shards_full(const struct shards *s, const struct shard *sh)
{
	if (sh->until)
		return sh->elements >= sh->until;
	return sh->plain + sh->buf.len >= s->file_max ||
		(s->cut.after_ns && sh->elements && sh->elements >= sh->least && s->cut.now_ns - sh->since >= s->cut.after_ns);
}

static enum status
shards_open(struct shards *s, uint32_t k, struct err *e)
{
	if (s->far) {
		shards_format(s, &s->v[k]);
		far_open(s, &s->v[k], shards_name(s, k));
		return ST_OK;
	}
	char *part = shards_part(s, k, s->writer);

	if (s->cut.after_ns) {
		char *name = shards_name(s, k);

		s->v[k].since = s->cut.now_ns = clock_mono_ns();
		s->v[k].until = shards_cut_of(&s->cut, name);
		s->v[k].least = shards_cut_least(&s->cut, name);
		mem_free(name);
	}
	shards_format(s, &s->v[k]);
	s->v[k].fd = gate_open(GATE_WRITE, part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (s->v[k].fd < 0)
		shards_io(s, err_errno(e, "cannot write %s", part));
	mem_free(part);
	return s->v[k].fd < 0 ? e->kind : ST_OK;
}

static void
shards_tell(const struct shards *s, uint32_t k, const char *name, struct run *out)
{
	size_t n = strlen(name);
	uint8_t *p = run_room(out, n + 64);

	p = mp_put_record_head(p, 3);
	p = mp_put_text(mp_put_text(p, "file", 4), name, (uint32_t)n);
	p = mp_put_uint(mp_put_text(p, "elements", 8), s->v[k].elements);
	p = mp_put_uint(mp_put_text(p, "bytes", 5), s->v[k].written);
	run_done(out, p, 0);
}

/* Writes what is left of the current file. */
static enum status
shards_complete(struct shards *s, struct shard *sh, struct err *e)
{
	struct buf head = { 0 };
	enum status st = ST_OK;

	if (sh->format && !sh->ending)
		st = format_end(sh->format, &sh->buf, e);
	sh->ending = true;
	if (st == ST_OK)
		st = shards_flush(s, sh, e);
	if (st == ST_OK && sh->format && format_patch(sh->format, &head) && head.len
	    && !transfer_write_at(sh->fd, head.data, head.len, 0))
		st = shards_io(s, err_errno(e, "cannot write to %s", s->dir));
	buf_clear(&head);
	return st;
}

/* Gives the current file, of that name, to those who read. */
static enum status
shards_appear(struct shards *s, uint32_t k, const char *name, struct err *e)
{
	struct shard *sh = &s->v[k];

	if (s->far)
		return far_commit(s, sh, e);
	char *part = shards_part(s, k, s->writer);
	fsync(sh->fd); /* the lock is not to be held as long as this takes; errors come up once more */
	int lock = shards_lock(s, e);
	enum status st = lock < 0 ? e->kind : shards_io(s, shards_commit(s, sh, part, name, e));
	if (lock >= 0)
		close(lock);
	mem_free(part);
	return st;
}

/* Finishes the current file: it gets its final name. */
static enum status
shards_finish(struct shards *s, uint32_t k, struct run *out, struct err *e)
{
	struct shard *sh = &s->v[k];
	enum status st = sh->named ? ST_OK : shards_complete(s, sh, e);

	if (st != ST_OK)
		return st;
	char *name = shards_name(s, k);
	st = shards_appear(s, k, name, e);
	if (st == ST_OK && out)
		shards_tell(s, k, name, out);
	mem_free(name);
	if (st == ST_AGAIN || (st != ST_OK && s->no_room))
		return st;
	s->files++;
	s->elements += sh->elements;
	s->bytes += sh->written;
	if (sh->fd >= 0)
		close(sh->fd);
	sh->fd = -1;
	if (st == ST_OK)
		far_drop(sh);
	sh->number++;
	sh->due = sh->ending = sh->named = false;
	sh->written = sh->plain = sh->elements = sh->sum = 0;
	format_free(&sh->format);
	buf_reset(&sh->first);
	return st;
}

/* Adds one element to the buffer. */
static enum status
shards_add(struct shards *s, struct shard *sh, const struct elem *x, struct err *e)
{
	struct run one = { .e = (struct elem *)x, .n = 1 };
	enum status st = ST_OK;

	switch (s->form) {
	case SHARDS_MSGPACK:
		buf_put(&sh->buf, x->p, x->len);
		return ST_OK;
	case SHARDS_NDJSON:
		st = json_write(x->p, x->len, &s->rules, &sh->buf, e);
		break;
	case SHARDS_TEXT:
		st = text_write(x->p, x->len, &s->rules, &sh->buf, e);
		break;
	case SHARDS_CSV:
	case SHARDS_TSV:
	case SHARDS_TFRECORD:
	case SHARDS_TAR:
	case SHARDS_NPY:
		st = format_run(sh->format, &one, &sh->buf, e);
		if (st == ST_OK && shards_forms[s->form].first && sh->elements == 0)
			buf_put(&sh->first, x->p, x->len);
		return st;
	}
	if (!st)
		buf_byte(&sh->buf, '\n');
	return st;
}

/* Writes what is to be written now that the shard has one more element. */
static enum status
shards_settle(struct shards *s, uint32_t k, struct run *out, struct err *e)
{
	struct shard *sh = &s->v[k];
	enum status st = ST_OK;

	sh->due = true;
	if (sh->ending || shards_full(s, sh))
		st = shards_finish(s, k, out, e);
	else if (sh->buf.len >= shards_piece(s))
		st = shards_flush(s, sh, e);
	sh->due = st != ST_OK;
	return st;
}

enum status
shards_put(struct shards *s, const struct elem *x, struct run *out, struct err *e)
{
	uint32_t k = s->n > 1 ? (uint32_t)(s->given % s->n) : 0;
	struct shard *sh = &s->v[k];
	enum status st = ST_OK;

	/* It was cut here before, when the state that we go on from had been saved; or there was no room
	 * to complete it. */
	if (shard_is_open(sh) && (sh->due || ((sh->until || !s->cut.after_ns) && shards_full(s, sh))))
		st = shards_settle(s, k, out, e);
	if (st == ST_OK && !shard_is_open(sh))
		st = shards_open(s, k, e);
	if (st == ST_OK)
		st = shards_add(s, sh, x, e);
	if (st != ST_OK)
		return st;
	sh->elements++;
	s->given++;
	return shards_settle(s, k, out, e);
}

static enum status
shards_seal(struct shards *s, const struct seal_stream *ended, struct err *e)
{
	static const char *const codecs[] = { "none", "snappy", "zstd" };
	struct seal_about about = { .format = mem_strdup(shards_forms[s->form].end),
		.compression = mem_strdup(codecs[s->codec]) };

	seal_about_node(&about, s->node);
	enum status st = s->far ? far_end(s, ended, &about, e) :
		shards_io(s, seal_end(s->dir, ended, s->seed, &about, e));
	seal_about_clear(&about);
	return st;
}

enum status
shards_end(struct shards *s, const struct op_ctx *ctx, struct run *out, struct err *e)
{
	enum status st = ST_OK;

	/* An empty file, so that reading it back gives no elements instead of no files. */
	if (s->given == 0 && !shard_is_open(&s->v[0]) && !s->v[0].number)
		st = shards_open(s, 0, e);
	for (uint32_t k = 0; st == ST_OK && k < s->n; k++)
		if (shard_is_open(&s->v[k]))
			st = shards_finish(s, k, out, e);
	int lock = st == ST_OK && !s->far ? shards_lock(s, e) : -1;
	if (lock < 0 && (st != ST_OK || !s->far))
		return st == ST_OK ? e->kind : st;
	uint64_t files = 0;
	for (uint32_t k = 0; k < s->n; k++)
		files += s->v[k].number;
	st = shards_seal(s, &(struct seal_stream){ s->stream, ctx->streams ? atomic_load(ctx->streams) : 1, files,
						   s->given }, e);
	if (lock >= 0)
		close(lock);
	return st;
}

/* Has the list tell how many elements are in the files that are open; false: it cannot. */
static bool
shards_promise(struct shards *s, struct err *e)
{
	int lock = shards_lock(s, e);
	bool good = lock >= 0;

	for (uint32_t k = 0; good && k < s->n; k++)
		if (s->v[k].fd >= 0 && s->v[k].elements) {
			char *name = shards_name(s, k);

			good = seal_files_promise(s->dir, strrchr(name, '/') + 1, s->v[k].elements, e) == ST_OK;
			mem_free(name);
		}
	if (lock >= 0)
		close(lock);
	return good;
}

bool
shards_save(struct shards *s, struct buf *out)
{
	struct err e;

	if (s->cut.after_ns && s->begun && !shards_promise(s, &e))
		return false;
	if (s->far && !far_may_save(s))
		return false;
	state_put_u64(out, s->begun);
	state_put_u64(out, s->given);
	state_put_u64(out, s->seed);
	state_put_u64(out, s->writer);
	state_put_u64(out, s->files);
	state_put_u64(out, s->elements);
	state_put_u64(out, s->bytes);
	for (uint32_t k = 0; k < s->n; k++) {
		struct shard *sh = &s->v[k];

		if (shard_is_open(sh) && !s->codec && shards_flush(s, sh, &e) != ST_OK)
			return false;
		state_put_u64(out, shard_is_open(sh));
		state_put_u64(out, sh->number);
		state_put_u64(out, sh->written);
		state_put_u64(out, sh->elements);
		state_put_u64(out, sh->sum);
		if (shards_forms[s->form].first)
			state_put_bytes(out, sh->first.data, sh->first.len);
		if (s->codec) {
			state_put_u64(out, sh->plain);
			state_put_bytes(out, sh->buf.data, sh->buf.len);
		}
	}
	if (s->far)
		far_save(s, out);
	return true;
}

/* Opens the file in which the first bytes of the shard's current one are: that of the writer who
 * saved the state, unless it was finished since. */
static int
shards_source(const struct shards *s, uint32_t k, uint64_t writer)
{
	char *paths[] = { shards_part(s, k, writer), shards_name(s, k) };
	struct stat info;
	int fd = -1;

	for (unsigned i = 0; i < 2; i++) {
		if (fd < 0 && (fd = gate_open(GATE_WRITE, paths[i], O_RDONLY, 0)) >= 0 &&
		    (fstat(fd, &info) || (uint64_t)info.st_size < s->v[k].written)) {
			close(fd);
			fd = -1;
		}
		mem_free(paths[i]);
	}
	return fd;
}

/* Copies these bytes into a file of our own: the other writer may still be there, and not know
 * that it is not wanted any more. */
static enum status
shards_copy(struct shards *s, uint32_t k, uint64_t writer, struct err *e)
{
	int from = shards_source(s, k, writer);
	uint64_t left = s->v[k].written, at = 0;
	uint8_t *b = mem_alloc(SHARDS_BUF);

	enum status st = ST_OK;

	while (from >= 0 && at < left) {
		size_t some = left - at < SHARDS_BUF ? (size_t)(left - at) : SHARDS_BUF;
		ssize_t n = transfer_read_at(from, b, some, at);

		if (n > 0 && !transfer_write_at(s->v[k].fd, b, (size_t)n, at))
			st = shards_io(s, err_errno(e, "cannot write to %s", s->dir));
		if (n <= 0 || st != ST_OK)
			break;
		at += (uint64_t)n;
	}
	if (at < left && st == ST_OK) {
		st = err_set(e, ST_NOINPUT, "cannot resume a file in %s: what was written of it is missing", s->dir);
		err_help(e, "start over with an empty folder");
	}
	if (from >= 0)
		close(from);
	mem_free(b);
	return st;
}

static enum status
shards_restore_one(struct shards *s, uint32_t k, bool opened, uint64_t writer, struct err *e)
{
	struct shard *sh = &s->v[k];

	if (sh->fd >= 0)
		close(sh->fd);
	sh->fd = -1;
	far_drop(sh);
	buf_reset(&sh->buf);
	if (!opened)
		return ST_OK;
	enum status st = shards_open(s, k, e);
	return st == ST_OK && sh->written && !s->far ? shards_copy(s, k, writer, e) : st;
}

/* Reads the first element of the current file from the state. */
static bool
shards_first(struct shards *s, uint32_t k, struct state_in *in)
{
	const uint8_t *p;
	size_t n;

	buf_reset(&s->v[k].first);
	if (!shards_forms[s->form].first)
		return true;
	if (!state_get_bytes(in, &p, &n) || (n && !mp_check(p, n)))
		return false;
	buf_put(&s->v[k].first, p, n);
	return true;
}

enum status
shards_restore(struct shards *s, struct state_in *in, struct err *e)
{
	enum status st = ST_OK;

	s->begun = state_get_u64(in, 1);
	s->given = state_get_u64(in, UINT64_MAX);
	s->seed = state_get_u64(in, UINT64_MAX);
	uint64_t writer = state_get_u64(in, UINT64_MAX);
	s->files = state_get_u64(in, UINT64_MAX);
	s->elements = state_get_u64(in, UINT64_MAX);
	s->bytes = state_get_u64(in, UINT64_MAX);
	if (s->begun && !in->bad)
		st = shards_own(s, e);
	for (uint32_t k = 0; st == ST_OK && !in->bad && k < s->n; k++) {
		bool opened = state_get_u64(in, 1);

		s->v[k].number = (uint32_t)state_get_u64(in, UINT32_MAX);
		s->v[k].written = state_get_u64(in, INT64_MAX);
		s->v[k].elements = state_get_u64(in, UINT64_MAX);
		s->v[k].sum = (uint32_t)state_get_u64(in, UINT32_MAX);
		if (!shards_first(s, k, in))
			in->bad = true;
		const uint8_t *rest = NULL;
		size_t n = 0;
		s->v[k].plain = s->codec ? state_get_u64(in, INT64_MAX) : s->v[k].written;
		if (s->codec && !state_get_bytes(in, &rest, &n))
			in->bad = true;
		if (!in->bad)
			st = shards_restore_one(s, k, opened, writer, e);
		if (n && st == ST_OK && !in->bad)
			buf_put(&s->v[k].buf, rest, n);
	}
	if (s->far && st == ST_OK && !in->bad)
		far_restore(s, in);
	return st;
}
