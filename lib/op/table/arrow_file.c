/* SPDX-License-Identifier: MIT */
#include "op/table/arrow_file.h"

#include <string.h>

#include "base/gate.h"
#include "base/mem.h"
#include "fetch/fetch.h"
#include "op/table/arrow_bytes.h"
#include "value/arrow/arrow_lib.h"

#define ARROW_MEMORY (INT64_C(4) << 30) /* most memory for one file, whatever it says of itself */

void
arrow_file_init(struct arrow_file *f)
{
	*f = (struct arrow_file){ .batch = -1 };
	table_from_init(&f->in);
}

void
arrow_file_close(struct arrow_file *f)
{
	table_batch_clear(&f->at);
	if (f->file)
		f->plugin->ipc_close(f->file);
	table_from_close(&f->in);
	arrow_bytes_close(&f->bytes);
	arrow_file_init(f);
}

/* Gives why the plugin failed: because of a read, or for a reason of its own. */
static enum status
arrow_why(struct arrow_file *f, int code, const struct arrow_why *why, struct err *e)
{
	struct err failed = { .kind = ST_OK };

	if (f->bytes)
		failed = arrow_bytes_failed(f->bytes);
	if (failed.kind == ST_OK)
		return table_from_why(&f->in, code, why, e);
	if (failed.kind != ST_AGAIN)
		*e = failed;
	return failed.kind;
}

/* ---- opening ---- */

/* Opens what can be read from its end. False: it is to be read as a stream. */
static bool
arrow_is_file(struct arrow_file *f, const char *path, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	uint8_t head[ARROW_MAGIC];
	struct stat info;

	if (!url_is(path) && (!strcmp(path, "-") || gate_stat(path, &info) || !S_ISREG(info.st_mode)))
		return false;
	bool is = table_from_open(&f->in, path, tag, ctx, e) == ST_OK && f->in.size >= sizeof head
		&& table_from_read(&f->in, 0, sizeof head, head) == sizeof head && arrow_magic(head, sizeof head);
	if (!is && f->in.failed.kind == ST_OK) {
		table_from_close(&f->in);
		err_clear(e);
	}
	return is;
}

static enum status
arrow_begin(struct arrow_file *f, const char *path, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	struct arrow_from from = { .size = -1, .memory_max = ARROW_MEMORY };
	struct arrow_why why;

	f->plugin = arrow_lib(e);
	if (!f->plugin)
		return e->kind;
	if (arrow_is_file(f, path, tag, ctx, e)) {
		from.size = (int64_t)f->in.size;
		from.arg = &f->in;
		from.read = table_from_read;
	} else if (f->in.failed.kind != ST_OK) {
		return table_from_why(&f->in, ST_DATA, &why, e);
	} else {
		enum status st = arrow_bytes_open(path, tag, ctx, &f->bytes, e);
		if (st != ST_OK)
			return st;
		from.arg = f->bytes;
		from.read = arrow_bytes_read;
	}
	int code = f->plugin->ipc_open(&from, &f->file, &why);
	if (!code)
		return ST_OK;
	enum status st = arrow_why(f, code, &why, e);
	if (st == ST_DATA)
		err_wrap(e, "the schema cannot be read");
	return st;
}

static enum status
arrow_choose(struct arrow_file *f, char *const *names, size_t n, const struct table_as *as, struct err *e)
{
	struct ArrowSchema schema = { 0 };
	struct arrow_why why;
	int64_t missing;
	int code = f->plugin->ipc_choose(f->file, (const char *const *)names, n, &missing, &why);

	if (!code && missing >= 0)
		return err_set(e, ST_DATA, "it has no column `%.100s`", names[missing]);
	if (!code)
		code = f->plugin->ipc_schema(f->file, &schema, &why);
	if (code)
		return arrow_why(f, code, &why, e);
	return table_batch_shape(&f->at, &schema, as, e);
}

/* Leaves out what nobody looks at. */
static enum status
arrow_project(struct arrow_file *f, const struct table_as *as, struct err *e)
{
	struct types *arena = types_new();
	const struct type *has = arrow_rows_type(f->at.rows, arena);
	size_t n;
	char **names = table_as_projected(as, has, &n);
	enum status st = n < has->n_fields ? arrow_choose(f, names, n, as, e) : ST_OK;

	mem_free(names);
	types_free(&arena);
	return st;
}

/* The first batch that begins at this byte or behind it. */
static int64_t
arrow_batch_at(const struct arrow_file *f, int64_t batches, uint64_t at)
{
	if (at >= f->in.size)
		return batches;
	unsigned __int128 n = (unsigned __int128)at * (uint64_t)batches;
	return (int64_t)((n + f->in.size - 1) / f->in.size);
}

enum status
arrow_file_open(struct arrow_file *f, const char *path, const char *tag, const struct table_as *as,
		const struct op_ctx *ctx, uint64_t start, uint64_t end, struct err *e)
{
	enum status st = arrow_begin(f, path, tag, ctx, e);

	if (st != ST_OK)
		return st;
	int64_t batches = f->plugin->ipc_batches(f->file);
	/* A stream begins at its first byte, and nowhere else. */
	f->end = batches < 0 && !start ? INT64_MAX : 0;
	if (batches >= 0) {
		struct arrow_why why;

		f->next = arrow_batch_at(f, batches, start);
		f->end = arrow_batch_at(f, batches, end);
		f->plugin->ipc_seek(f->file, f->next, &why);
	}
	st = arrow_choose(f, as->names, as->n_names, as, e);
	if (st == ST_OK && as->want)
		st = table_same(f->at.rows, as->want, e);
	return st == ST_OK && as->project ? arrow_project(f, as, e) : st;
}

const char *
arrow_file_tag(const struct arrow_file *f)
{
	return f->bytes ? arrow_bytes_tag(f->bytes) : f->in.tag;
}

int64_t
arrow_file_rows(struct arrow_file *f)
{
	struct arrow_why why;
	int64_t rows;

	return f->plugin->ipc_rows(f->file, &rows, &why) ? -1 : rows;
}

/* ---- rows ---- */

static enum status
arrow_blame(const struct arrow_file *f, enum status st, struct err *e)
{
	if (st != ST_AGAIN)
		err_wrap(e, "record batch %lld", (long long)f->batch);
	return st;
}

static enum status
arrow_batch(struct arrow_file *f, struct err *e)
{
	struct arrow_why why;

	table_batch_drop(&f->at);
	if (f->in.ctx && op_stopped(f->in.ctx))
		return ST_AGAIN;
	if (f->next >= f->end)
		return ST_END;
	f->batch = f->next++;
	int code = f->plugin->ipc_next(f->file, &f->at.array, &why);
	if (code == ST_END && f->bytes)
		return ST_END;
	if (code)
		return arrow_blame(f, arrow_why(f, code, &why, e), e);
	enum status st = table_batch_bind(&f->at, INT32_MAX, e);
	return st == ST_OK ? st : arrow_blame(f, st, e);
}

enum status
arrow_file_seek(struct arrow_file *f, int64_t batch, int64_t row, struct err *e)
{
	enum status st = ST_OK;
	struct arrow_why why;

	if (!f->bytes && batch > f->next) {
		int code = f->plugin->ipc_seek(f->file, batch, &why);

		if (code)
			return arrow_why(f, code, &why, e);
		f->next = batch;
	}
	while (st == ST_OK && f->next < batch)
		st = arrow_batch(f, e);
	if (st == ST_OK && row)
		st = arrow_batch(f, e);
	if (st == ST_END || (st == ST_OK && row > f->at.n))
		return err_set(e, ST_DATA, "cannot resume at row %lld of record batch %lld: the file is shorter now",
			       (long long)row, (long long)batch);
	f->at.row = row;
	return st;
}

enum status
arrow_file_more(struct arrow_file *f, struct err *e)
{
	enum status st = ST_OK;

	while (st == ST_OK && f->at.row >= f->at.n)
		st = arrow_batch(f, e);
	return st;
}

bool
arrow_file_leave(struct arrow_file *f)
{
	table_batch_drop(&f->at);
	return !f->bytes;
}
