/* SPDX-License-Identifier: MIT */
#include "op/kit/shards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/str.h"
#include "base/transfer.h"
#include "op/chain.h"
#include "op/kit/seal.h"
#include "value/crc32c.h"
#include "value/format/format.h"
#include "value/mp.h"

enum { SHARDS_REPLAY = 1 << 20 };

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

/* The name of the shard's current file; gives. */
static char *
shards_name(const struct shards *s, uint32_t k, bool part)
{
	return mem_printf("%s/%sdata-%05u-%03u-%05u.%s", s->dir, part ? "." : "", s->stream, k,
			  s->v[k].number, part ? "part" : shards_forms[s->form].end);
}

void
shards_init(struct shards *s, const char *dir, int form, uint32_t n, int64_t file_max,
	    uint32_t stream)
{
	*s = (struct shards){ .dir = dir, .form = (enum shards_form)form, .n = n,
			      .file_max = (uint64_t)file_max, .stream = stream };
	s->v = mem_array(n, sizeof *s->v);
	for (uint32_t k = 0; k < n; k++)
		s->v[k].fd = -1;
}

void
shards_clear(struct shards *s)
{
	for (uint32_t k = 0; s->v && k < s->n; k++) {
		if (s->v[k].fd >= 0)
			close(s->v[k].fd);
		buf_clear(&s->v[k].buf);
		buf_clear(&s->v[k].first);
		format_free(&s->v[k].format);
	}
	mem_free(s->v);
	*s = (struct shards){ 0 };
}

void
shards_close(struct shards *s, const struct op_inst *self)
{
	if (s->begun && chain_of(self)->pending)
		seal_fail(s->dir, chain_of(self)->pending);
	shards_clear(s);
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
shards_look(struct shards *s, int fd, uint64_t seed, bool overwrite, struct err *e)
{
	char text[40] = "", mark[40], *end = text;
	int n = snprintf(mark, sizeof mark, "seed %llu\n", (unsigned long long)seed);
	enum status st = ST_OK;

	while (flock(fd, LOCK_EX))
		if (errno != EINTR)
			return err_errno(e, "cannot lock a file in %s", s->dir);
	ssize_t had = pread(fd, text, sizeof text - 1, 0);
	if (had > 5 && !strncmp(text, "seed ", 5) && strtoull(text + 5, &end, 10) == seed && *end == '\n')
		return ST_OK;
	if (had != 0 && !overwrite) {
		err_set(e, ST_DATA, "%s holds what another pass saved", s->dir);
		err_help(e, "name another folder, or write overwrite=true to replace it");
		return ST_DATA;
	}
	if (had != 0)
		st = shards_sweep(s, e);
	if (st == ST_OK && (ftruncate(fd, 0) || pwrite(fd, mark, (size_t)n, 0) != n))
		st = err_errno(e, "cannot write to %s", s->dir);
	return st;
}

enum status
shards_begin(struct shards *s, uint64_t seed, bool overwrite, struct err *e)
{
	char *path = mem_printf("%s/.dsvc-save", s->dir);
	enum status st = ST_OK;
	int fd = -1;

	s->seed = seed;
	if (gate_mkdir(s->dir, 0777) && errno != EEXIST)
		st = err_errno(e, "cannot make the folder %s", s->dir);
	else if ((fd = gate_open(GATE_WRITE, path, O_RDWR | O_CREAT, 0666)) < 0)
		st = err_errno(e, "cannot write %s", path);
	if (st == ST_OK)
		st = shards_look(s, fd, seed, overwrite, e);
	if (fd >= 0)
		close(fd);
	mem_free(path);
	s->begun = st == ST_OK; /* otherwise the folder belongs to another pass */
	return s->begun ? seal_break(s->dir, s->stream, e) : st; /* takes the lock by itself */
}

static enum status
shards_flush(struct shards *s, struct shard *sh, struct err *e)
{
	if (!transfer_write_at(sh->fd, sh->buf.data, sh->buf.len, sh->written))
		return err_errno(e, "cannot write to %s", s->dir);
	sh->written += sh->buf.len;
	sh->sum = crc32c_more(sh->sum, sh->buf.data, sh->buf.len);
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

static enum status
shards_open(struct shards *s, uint32_t k, int flags, struct err *e)
{
	char *part = shards_name(s, k, true);

	shards_format(s, &s->v[k]);
	s->v[k].fd = gate_open(GATE_WRITE, part, O_WRONLY | O_CREAT | flags, 0666);
	if (s->v[k].fd < 0)
		err_errno(e, "cannot write %s", part);
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

/* Adds the current file, which has its final name, to the folder's list. */
static enum status
shards_list(const struct shards *s, const struct shard *sh, const char *name, struct err *e)
{
	struct seal_file f = {
		.name = strrchr(name, '/') + 1, .elements = sh->elements, .bytes = sh->written, .sum = sh->sum,
		/* The head of an array is written last. */
		.summed = s->form != SHARDS_NPY
	};

	return seal_files_add(s->dir, &f, e);
}

/* Finishes the current file: it gets its final name. */
static enum status
shards_finish(struct shards *s, uint32_t k, struct run *out, struct err *e)
{
	struct shard *sh = &s->v[k];
	struct buf head = { 0 };

	if (sh->format)
		format_end(sh->format, &sh->buf);
	enum status st = shards_flush(s, sh, e);
	if (st == ST_OK && sh->format && format_patch(sh->format, &head) && head.len
	    && !transfer_write_at(sh->fd, head.data, head.len, 0))
		st = err_errno(e, "cannot write to %s", s->dir);
	buf_clear(&head);
	if (st != ST_OK)
		return st;
	char *part = shards_name(s, k, true), *name = shards_name(s, k, false);
	st = replace_name(sh->fd, part, name, e);
	close(sh->fd);
	sh->fd = -1;
	if (st == ST_OK)
		st = shards_list(s, sh, name, e);
	if (st == ST_OK && out)
		shards_tell(s, k, name, out);
	mem_free(part);
	mem_free(name);
	sh->number++;
	sh->written = sh->elements = sh->sum = 0;
	format_free(&sh->format);
	buf_reset(&sh->first);
	return st;
}

/* Adds one element to the buffer. */
static enum status
shards_add(struct shards *s, struct shard *sh, const struct elem *x, struct err *e)
{
	struct run one = { .e = (struct elem *)x, .n = 1 };
	enum status st;

	switch (s->form) {
	case SHARDS_MSGPACK:
		buf_put(&sh->buf, x->p, x->len);
		return ST_OK;
	case SHARDS_NDJSON:
		json_print(x->p, x->len, &sh->buf);
		break;
	case SHARDS_TEXT:
		text_print(x->p, x->len, &sh->buf);
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
	buf_byte(&sh->buf, '\n');
	return ST_OK;
}

enum status
shards_put(struct shards *s, const struct elem *x, struct run *out, struct err *e)
{
	uint32_t k = s->n > 1 ? (uint32_t)(s->given % s->n) : 0;
	struct shard *sh = &s->v[k];
	enum status st = ST_OK;

	if (sh->fd < 0)
		st = shards_open(s, k, O_TRUNC, e);
	if (st == ST_OK)
		st = shards_add(s, sh, x, e);
	if (st != ST_OK)
		return st;
	sh->elements++;
	s->given++;
	if (sh->written + sh->buf.len >= s->file_max)
		return shards_finish(s, k, out, e);
	return sh->buf.len >= SHARDS_BUF ? shards_flush(s, sh, e) : ST_OK;
}

enum status
shards_end(struct shards *s, const struct op_ctx *ctx, struct run *out, struct err *e)
{
	enum status st = ST_OK;

	/* An empty file, so that reading it back gives no elements instead of no files. */
	if (s->given == 0 && s->v[0].fd < 0)
		st = shards_open(s, 0, O_TRUNC, e);
	for (uint32_t k = 0; st == ST_OK && k < s->n; k++)
		if (s->v[k].fd >= 0)
			st = shards_finish(s, k, out, e);
	uint32_t streams = ctx->streams ? atomic_load(ctx->streams) : 1;
	return st == ST_OK ? seal_end(s->dir, s->stream, streams, s->seed, e) : st;
}

bool
shards_save(struct shards *s, struct buf *out)
{
	struct err e;

	state_put_u64(out, s->begun);
	state_put_u64(out, s->given);
	state_put_u64(out, s->seed);
	for (uint32_t k = 0; k < s->n; k++) {
		struct shard *sh = &s->v[k];

		if (sh->fd >= 0 && shards_flush(s, sh, &e) != ST_OK)
			return false;
		state_put_u64(out, sh->fd >= 0);
		state_put_u64(out, sh->number);
		state_put_u64(out, sh->written);
		state_put_u64(out, sh->elements);
		state_put_u64(out, sh->sum);
		if (shards_forms[s->form].first)
			state_put_bytes(out, sh->first.data, sh->first.len);
	}
	return true;
}

/* Makes an unfinished file of the first bytes of a file that was finished since. */
static enum status
shards_copy_back(struct shards *s, uint32_t k, struct err *e)
{
	char *name = shards_name(s, k, false);
	int from = gate_open(GATE_WRITE, name, O_RDONLY, 0);
	uint64_t left = s->v[k].written, at = 0;
	uint8_t *b = mem_alloc(SHARDS_BUF);

	while (from >= 0 && at < left) {
		size_t some = left - at < SHARDS_BUF ? (size_t)(left - at) : SHARDS_BUF;
		ssize_t n = transfer_read_at(from, b, some, at);

		if (n <= 0 || !transfer_write_at(s->v[k].fd, b, (size_t)n, at))
			break;
		at += (uint64_t)n;
	}
	if (at < left) {
		err_set(e, ST_NOINPUT, "cannot resume %s: what was written of it is missing", name);
		err_help(e, "start over with an empty folder");
	}
	if (from >= 0)
		close(from);
	mem_free(b);
	mem_free(name);
	return at < left ? e->kind : ST_OK;
}

static enum status
shards_restore_one(struct shards *s, uint32_t k, bool opened, struct err *e)
{
	struct shard *sh = &s->v[k];
	struct stat info;
	enum status st;

	if (sh->fd >= 0)
		close(sh->fd);
	sh->fd = -1;
	buf_reset(&sh->buf);
	if (!opened)
		return ST_OK;
	st = shards_open(s, k, 0, e);
	if (st != ST_OK)
		return st;
	if (fstat(sh->fd, &info))
		return err_errno(e, "cannot read %s", s->dir);
	if ((uint64_t)info.st_size < sh->written)
		st = shards_copy_back(s, k, e);
	if (st == ST_OK && ftruncate(sh->fd, (off_t)sh->written))
		st = err_errno(e, "cannot cut a file in %s", s->dir);
	return st;
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
	for (uint32_t k = 0; st == ST_OK && !in->bad && k < s->n; k++) {
		bool opened = state_get_u64(in, 1);

		s->v[k].number = (uint32_t)state_get_u64(in, UINT32_MAX);
		s->v[k].written = state_get_u64(in, INT64_MAX);
		s->v[k].elements = state_get_u64(in, UINT64_MAX);
		s->v[k].sum = (uint32_t)state_get_u64(in, UINT32_MAX);
		if (!shards_first(s, k, in))
			in->bad = true;
		if (!in->bad)
			st = shards_restore_one(s, k, opened, e);
	}
	return st;
}
