/* SPDX-License-Identifier: MIT */
#include "op/table/parquet_file.h"

#include <string.h>

#include "base/mem.h"
#include "op/table/parquet_limits.h"
#include "value/arrow/arrow_lib.h"

enum {
	PARQUET_BATCH_BYTES = 2 * 1024 * 1024, /* decoded at once: fits a cache */
	PARQUET_BATCH_LEAST = 64, PARQUET_BATCH_MOST = 8192,
	PARQUET_GROUPS_MAX = 1 << 24
};
#define PARQUET_MEMORY (INT64_C(4) << 30) /* most memory for one file, whatever it says of itself */

void
parquet_file_init(struct parquet_file *f)
{
	*f = (struct parquet_file){ .group = -1 };
	table_from_init(&f->in);
}

void
parquet_file_close(struct parquet_file *f)
{
	table_batch_clear(&f->at);
	parquet_limits_free(&f->limits);
	if (f->file)
		f->plugin->parquet_close(f->file);
	mem_free(f->first);
	mem_free(f->offset);
	mem_free(f->batch);
	table_from_close(&f->in);
	parquet_file_init(f);
}

/* ---- columns ---- */

static enum status
parquet_choose(struct parquet_file *f, char *const *names, size_t n, const struct table_as *as, struct err *e)
{
	struct ArrowSchema schema = { 0 };
	struct arrow_why why;
	int64_t missing;
	int code = f->plugin->parquet_choose(f->file, (const char *const *)names, n, &missing, &why);

	if (!code && missing >= 0)
		return err_set(e, ST_DATA, "it has no column `%.100s`", names[missing]);
	if (!code)
		code = f->plugin->parquet_schema(f->file, &schema, &why);
	if (code)
		return table_from_why(&f->in, code, &why, e);
	return table_batch_shape(&f->at, &schema, as, e);
}

/* Leaves out what nobody looks at. */
static enum status
parquet_project(struct parquet_file *f, const struct table_as *as, struct err *e)
{
	struct types *arena = types_new();
	const struct type *has = arrow_rows_type(f->at.rows, arena);
	size_t n;
	char **names = table_as_projected(as, has, &n);

	enum status st = n < has->n_fields ? parquet_choose(f, names, n, as, e) : ST_OK;
	mem_free(names);
	types_free(&arena);
	return st;
}

/* ---- row groups ---- */

static enum status
parquet_groups(struct parquet_file *f, struct err *e)
{
	struct arrow_why why;
	uint64_t rows = 0;

	f->groups = f->plugin->parquet_groups(f->file);
	if (f->groups < 0 || f->groups > PARQUET_GROUPS_MAX)
		return err_set(e, ST_DATA, "it has %lld row groups", (long long)f->groups);
	f->first = mem_array((size_t)f->groups + 1, sizeof *f->first);
	f->offset = mem_array((size_t)f->groups + 1, sizeof *f->offset);
	f->batch = mem_array((size_t)f->groups + 1, sizeof *f->batch);
	for (int64_t g = 0; g < f->groups; g++) {
		struct arrow_group group;
		int code = f->plugin->parquet_group(f->file, g, &group, &why);

		if (code)
			return table_from_why(&f->in, code, &why, e);
		f->first[g] = rows;
		f->offset[g] = group.offset > 0 ? (uint64_t)group.offset : 0;
		if (f->offset[g] >= f->in.size || group.rows < 0
		    || __builtin_add_overflow(rows, (uint64_t)group.rows, &rows) || rows > INT64_MAX)
			return err_set(e, ST_DATA, "row group %lld: its size or place cannot be right", (long long)g);
		int64_t each = group.rows && group.bytes > group.rows ? group.bytes / group.rows : 1;
		int64_t n = PARQUET_BATCH_BYTES / each;
		f->batch[g] = n < PARQUET_BATCH_LEAST ? PARQUET_BATCH_LEAST : n > PARQUET_BATCH_MOST ? PARQUET_BATCH_MOST : n;
	}
	f->first[f->groups] = rows;
	return ST_OK;
}

static enum status
parquet_open(struct parquet_file *f, const char *path, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	struct arrow_why why;
	enum status st;

	f->plugin = arrow_lib(e);
	if (!f->plugin)
		return e->kind;
	st = table_from_open(&f->in, path, tag, ctx, e);
	if (st != ST_OK)
		return st;
	struct arrow_from from = { &f->in, (int64_t)f->in.size, table_from_read, PARQUET_MEMORY, f->in.object != NULL };
	int code = f->plugin->parquet_open(&from, &f->file, &why);
	return code ? table_from_why(&f->in, code, &why, e) : ST_OK;
}

enum status
parquet_file_open(struct parquet_file *f, const char *path, const char *tag, const struct table_as *as,
		  const struct op_ctx *ctx, struct err *e)
{
	enum status st = parquet_open(f, path, tag, ctx, e);

	if (as->tests)
		f->limits = parquet_limits_new(as->tests, as->as);
	if (st == ST_OK)
		st = parquet_groups(f, e);
	if (st == ST_OK)
		st = parquet_choose(f, as->names, as->n_names, as, e);
	if (st == ST_OK && as->want)
		st = table_same(f->at.rows, as->want, e);
	return st == ST_OK && as->project ? parquet_project(f, as, e) : st;
}

enum status
parquet_file_type(struct parquet_file *f, const struct table_as *as, struct types *arena, const struct type **type,
		  struct err *e)
{
	enum status st = parquet_choose(f, as->names, as->n_names, as, e);

	if (st == ST_OK)
		*type = arrow_rows_type(f->at.rows, arena);
	return st;
}

bool
parquet_file_excludes(struct parquet_file *f, int64_t group)
{
	int64_t rows = (int64_t)(f->first[group + 1] - f->first[group]);

	return f->limits && parquet_limits_exclude(f->limits, f->plugin, f->file, group, rows);
}

/* ---- rows ---- */

static enum status
parquet_blame(const struct parquet_file *f, enum status st, struct err *e)
{
	if (st != ST_AGAIN)
		err_wrap(e, "row group %lld", (long long)f->group);
	return st;
}

enum status
parquet_file_begin(struct parquet_file *f, int64_t group, uint64_t row, struct err *e)
{
	struct arrow_why why;

	table_batch_drop(&f->at);
	f->group = group;
	f->left = f->first[group + 1] - f->first[group];
	int code = f->plugin->parquet_begin(f->file, group, f->batch[group], &why);
	enum status st = code ? parquet_blame(f, table_from_why(&f->in, code, &why, e), e) : ST_OK;

	while (row && st == ST_OK) {
		st = parquet_file_more(f, e);
		int64_t here = f->at.n - f->at.row;
		int64_t step = row < (uint64_t)here ? (int64_t)row : here;
		if (st == ST_OK) {
			f->at.row += step;
			row -= (uint64_t)step;
		}
	}
	return st == ST_END ? ST_OK : st;
}

enum status
parquet_file_more(struct parquet_file *f, struct err *e)
{
	struct arrow_why why;

	while (f->at.row >= f->at.n) {
		table_batch_drop(&f->at);
		if (f->in.ctx && op_stopped(f->in.ctx))
			return ST_AGAIN;
		int code = f->plugin->parquet_next(f->file, &f->at.array, &why);
		if (code == ST_END && !f->left)
			return ST_END;
		if (code == ST_END)
			return parquet_blame(f, err_set(e, ST_DATA, "it ends %llu rows early", (unsigned long long)f->left), e);
		if (code)
			return parquet_blame(f, table_from_why(&f->in, code, &why, e), e);
		enum status st = table_batch_bind(&f->at, f->left, e);
		if (st != ST_OK)
			return parquet_blame(f, st, e);
		f->left -= (uint64_t)f->at.n;
	}
	return ST_OK;
}
