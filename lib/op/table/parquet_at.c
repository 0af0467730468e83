/* SPDX-License-Identifier: MIT */
#include "op/table/parquet_at.h"

#include <string.h>

#include "base/mem.h"
#include "op/by_index.h"
#include "op/file/file_far.h"
#include "op/file/file_source.h"

enum { PARQUET_AT_AGAIN = 3 /* so often a group is decoded on average before that is told */ };

struct parquet_at_file {
	uint64_t first;    /* index of its first row */
	uint64_t *groups;  /* number of rows before each row group of it */
	int64_t n_groups;
	bool *left_out;    /* for each row group: no row of it is wanted */
	const char *name;
};

struct parquet_at_group {
	size_t file;
	int64_t group;
	bool bad;          /* it could not be read, which was reported */
	uint64_t used, bytes;
	struct run rows;
};

static enum status
at_look(struct op_inst *self, struct parquet_at *a, size_t i, struct err *e)
{
	struct parquet_at_file *v = &a->v[i];
	struct parquet_file f;

	parquet_file_init(&f);
	v->name = file_far_origin(a->files.v[i]);
	v->first = a->count;
	enum status st = parquet_file_open(&f, a->files.v[i], self->split ? self->split->tag : NULL, a->as, self->ctx, e);
	if (st == ST_OK && __builtin_add_overflow(a->count, f.first[f.groups], &a->count))
		st = err_set(e, ST_DATA, "the files have too many rows");
	if (st == ST_OK) {
		v->left_out = mem_array((size_t)f.groups + 1, sizeof *v->left_out);
		for (int64_t g = 0; g < f.groups; g++)
			v->left_out[g] = parquet_file_excludes(&f, g);
		v->groups = f.first;
		v->n_groups = f.groups;
		f.first = NULL;
	} else if (st != ST_AGAIN) {
		/* Each split looks at all files; the one that begins the order reports. */
		if (self->node->on_error != OP_FAIL && by_index_place(self->by_index))
			err_clear(e), st = ST_OK;
		else
			st = op_source_fault(self, v->name, 0, e);
	}
	parquet_file_close(&f);
	return st;
}

enum status
parquet_at_open(struct op_inst *self, struct parquet_at *a, const struct words *names, const struct table_as *as,
		uint64_t hold, struct err *e)
{
	enum status st = file_source_names(self, names, &a->files, e);

	a->as = as;
	a->hold = hold;
	a->v = mem_array(a->files.n + 1, sizeof *a->v);
	for (size_t i = 0; i < a->files.n && st == ST_OK; i++)
		st = at_look(self, a, i, e);
	a->v[a->files.n].first = a->count;
	if (st != ST_OK || a->count > UINT32_MAX)
		return st;
	a->parts = mem_array(a->files.n + 1, sizeof *a->parts);
	for (size_t i = 0; i < a->files.n; i++)
		a->parts[i] = (struct run_part){ (uint32_t)a->v[i].first, a->v[i].name, 1 };
	return ST_OK;
}

static void
at_forget(struct parquet_at *a, size_t i)
{
	a->held -= a->groups[i].bytes;
	run_clear(&a->groups[i].rows);
	a->groups[i] = a->groups[--a->n];
}

/* Makes room for what comes; tells once if that is in vain. */
static void
at_make_room(struct op_inst *self, struct parquet_at *a)
{
	struct err note = { .kind = ST_OK };
	uint64_t all = 0;

	while (a->n && a->held > a->hold) {
		size_t oldest = 0;

		for (size_t i = 1; i < a->n; i++)
			if (a->groups[i].used < a->groups[oldest].used)
				oldest = i;
		at_forget(a, oldest);
		a->again++;
	}
	for (size_t i = 0; i < a->files.n; i++)
		all += (uint64_t)a->v[i].n_groups;
	if (a->told || a->again < PARQUET_AT_AGAIN * all || !self->ctx->note)
		return;
	a->told = true;
	err_set(&note, ST_OK, "row groups are decoded again and again: not all fit into hold=");
	err_help(&note, "raise hold=, or shuffle within a buffer: shuffle 100000");
	self->ctx->note(self->ctx->arg, self->node, &note);
}

/* Decodes a row group. */
static enum status
at_decode(struct op_inst *self, struct parquet_at *a, struct parquet_at_group *g, struct err *e)
{
	size_t max = file_source_element_max(self);
	struct parquet_file f;

	parquet_file_init(&f);
	enum status st = parquet_file_open(&f, a->files.v[g->file], self->split ? self->split->tag : NULL, a->as,
					   self->ctx, e);
	if (st == ST_OK && (f.groups <= g->group || f.first[g->group + 1] != a->v[g->file].groups[g->group + 1]))
		st = err_set(e, ST_DATA, "the file has changed");
	if (st == ST_OK)
		st = parquet_file_begin(&f, g->group, 0, e);
	while (st == ST_OK && (st = parquet_file_more(&f, e)) == ST_OK)
		for (; f.at.row < f.at.n && st == ST_OK; f.at.row++)
			st = arrow_rows_put(f.at.rows, f.at.row, max, &g->rows, g->rows.n, e);
	parquet_file_close(&f);
	g->bytes = run_bytes(&g->rows) + g->rows.n * sizeof *g->rows.e;
	return st == ST_END ? ST_OK : st;
}

static struct parquet_at_group *
at_group(struct op_inst *self, struct parquet_at *a, size_t file, int64_t group, enum status *st, struct err *e)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->groups[i].file == file && a->groups[i].group == group) {
			a->groups[i].used = ++a->clock;
			return &a->groups[i];
		}
	at_make_room(self, a);
	a->groups = mem_grow(a->groups, &a->cap, a->n + 1, sizeof *a->groups);
	struct parquet_at_group *g = &a->groups[a->n++];
	*g = (struct parquet_at_group){ .file = file, .group = group, .used = ++a->clock };
	run_init(&g->rows);
	*st = at_decode(self, a, g, e);
	if (*st == ST_AGAIN) {
		run_clear(&g->rows);
		a->n--;
		return NULL;
	}
	a->held += g->bytes;
	if (*st != ST_OK) {
		g->bad = true;
		*st = op_source_fault(self, a->v[file].name, 0, e);
	}
	return g;
}

/* The last item of n numbers, the first of which is 0, that is not above x. */
static size_t
at_before(const uint64_t *v, size_t n, uint64_t x)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (x < v[mid])
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

static size_t
at_file(const struct parquet_at *a, uint64_t index)
{
	size_t lo = 0, hi = a->files.n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (index < a->v[mid].first)
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

enum status
parquet_at_give(struct op_inst *self, struct parquet_at *a, const uint64_t *index, uint32_t *k, struct run *out,
		struct err *e)
{
	enum status st = ST_OK;
	size_t bytes = 0;
	uint32_t i = 0;

	if (a->parts && a->files.n) {
		out->file = a->parts[0].file;
		out->line = 1;
		out->parts = a->parts;
		out->n_parts = (uint32_t)a->files.n;
	}
	for (; i < *k && bytes < RUN_BYTES && st == ST_OK; i++) {
		if (index[i] >= a->count) { /* a file could not be read, or is shorter now */
			if (self->node->on_error == OP_FAIL)
				st = err_set(e, ST_DATA, "only %llu rows are left", (unsigned long long)a->count);
			continue;
		}
		size_t file = at_file(a, index[i]);
		const struct parquet_at_file *v = &a->v[file];
		uint64_t row = index[i] - v->first;
		size_t group = at_before(v->groups, (size_t)v->n_groups, row);
		if (v->left_out[group])
			continue;
		struct parquet_at_group *g = at_group(self, a, file, (int64_t)group, &st, e);

		if (st != ST_OK)
			break;
		if (g->bad)
			continue;
		struct elem x = g->rows.e[row - v->groups[group]];
		x.pos = (uint32_t)index[i];
		run_keep(out, x);
		bytes += x.len;
	}
	if (st != ST_OK && out->n) { /* it is met again */
		err_clear(e);
		st = ST_OK;
	}
	*k = i;
	return st;
}

void
parquet_at_close(struct parquet_at *a)
{
	while (a->n)
		at_forget(a, a->n - 1);
	mem_free(a->groups);
	for (size_t i = 0; a->v && i < a->files.n; i++) {
		mem_free(a->v[i].groups);
		mem_free(a->v[i].left_out);
	}
	mem_free(a->v);
	mem_free(a->parts);
	words_clear(&a->files);
	*a = (struct parquet_at){ 0 };
}
