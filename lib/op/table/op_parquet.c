/* SPDX-License-Identifier: MIT
 * parquet: the rows of Parquet files, as records.
 */
#include <string.h>

#include "base/mem.h"
#include "op/file/file_far.h"
#include "op/file/file_glob.h"
#include "op/file/file_source.h"
#include "op/table/parquet_at.h"
#include "op/table/parquet_file.h"
#include "value/mp.h"

enum { PARQUET_LOOK = 1000 /* most files that are opened to count rows */ };

struct parquet {
	/* names, files, at, and the position: its offset is the number of the next row in the file */
	struct file_source src;
	struct table_said said;
	int64_t hold;
	const struct type *want; /* set by typing: the type that all files have; NULL: it is not known */
	struct table_as as;
	struct parquet_file file;
	int64_t group;           /* the one at hand, or to be begun */
	bool begun;
	struct parquet_at at;
};

static const struct param parquet_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct parquet, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://)" },
	TABLE_AS_PARAMS(struct parquet, said),
	{ "hold", PARAM_SIZE, offsetof(struct parquet, hold), "1Gi", .flags = PARAM_KEY_ONLY, .min = 1, .max = INT64_MAX,
	  .help = "read by index (shuffle all): memory for row groups, as which they are decoded once" },
	FILE_SOURCE_NUMBERED(struct parquet, src),
	{ 0 }
};

/* ---- planning ---- */

/* The type is that of the first file, if it lies here. */
static enum status
parquet_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct parquet *s = n->params;
	struct words files = { 0 };
	struct table_as as;
	struct parquet_file f;
	enum status st = table_as_read(&s->said, &as, e);

	*type = type_record(t->arena, NULL, 0, true);
	s->want = NULL;
	if (st != ST_OK)
		return st;
	parquet_file_init(&f);
	/* A bad name is reported by the check, and a bad file by reading it. */
	struct err ignored;
	const struct table_as all = { .as = as.as };
	bool here = !n->n_binds && !file_far_any(&s->src.names)
		&& file_glob(&s->src.names, false, &files, &ignored) == ST_OK && files.n;
	if (here && parquet_file_open(&f, files.v[0], NULL, &all, NULL, &ignored) == ST_OK) {
		st = parquet_file_type(&f, &as, t->arena, type, e);
		if (st == ST_OK)
			s->want = *type;
		else
			err_wrap(e, "%s", files.v[0]);
	}
	parquet_file_close(&f);
	words_clear(&files);
	table_as_clear(&as);
	return st == ST_OK ? file_named_type(&s->src.with_name, "record", t->arena, type, e) : st;
}

static enum status
parquet_check(const struct op_node *n, struct err *e)
{
	const struct parquet *s = n->params;

	for (size_t i = 0; i < s->src.names.n; i++) {
		if (strcmp(s->src.names.v[i], "-"))
			continue;
		err_set(e, ST_DATA, "Parquet cannot be read from standard input: a file says at its end what is in it");
		err_help(e, "name a file, which can be read from its end");
		return ST_DATA;
	}
	return file_source_check(n, e);
}

static int64_t
parquet_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct parquet *s = n->params;
	const struct table_as none = { .project = &(struct json_fields){ .n = 0 } };
	struct words files = { 0 };
	struct parquet_file f;
	int64_t count = 0;
	struct err e;

	(void)in;
	if (n->n_binds || file_far_any(&s->src.names) || file_glob(&s->src.names, false, &files, &e) != ST_OK
	    || files.n > PARQUET_LOOK)
		count = -1;
	parquet_file_init(&f);
	for (size_t i = 0; i < files.n && count >= 0; i++) {
		if (parquet_file_open(&f, files.v[i], NULL, &none, NULL, &e) != ST_OK
		    || __builtin_add_overflow(count, (int64_t)f.first[f.groups], &count))
			count = -1;
		parquet_file_close(&f);
	}
	words_clear(&files);
	return count;
}

static int64_t
parquet_indexed(const struct op_node *n)
{
	const struct parquet *s = n->params;

	return file_named_is(&s->src.with_name) ? -1 : parquet_cardinality(n, NULL); /* by index no file is known */
}

/* ---- running ---- */

static enum status
parquet_open(struct op_inst *self, struct err *e)
{
	struct parquet *s = self->state;
	enum status st = table_as_open(self, &s->said, s->want, &s->src, &s->as, e);

	parquet_file_init(&s->file);
	if (st == ST_OK && self->by_index)
		return parquet_at_open(self, &s->at, &s->src.names, &s->as, (uint64_t)s->hold, e);
	return st == ST_OK ? file_source_open(self, e) : st;
}

static void
parquet_close(struct op_inst *self)
{
	struct parquet *s = self->state;

	parquet_file_close(&s->file);
	parquet_at_close(&s->at);
	table_as_clear(&s->as);
	file_source_close(self);
}

static void
parquet_done(struct parquet *s)
{
	parquet_file_close(&s->file);
	s->src.open = s->begun = false;
	s->src.tag = NULL;
	s->src.at++;
}

/* Reports what is wrong with a file or a row group, of which the rest is given up. ST_OK: go on behind it. */
static enum status
parquet_lost(struct op_inst *self, struct parquet *s, enum status st, struct err *e)
{
	if (st == ST_AGAIN)
		return st;
	st = op_source_fault(self, s->src.name, s->begun ? s->src.offset + 1 : 0, e);
	if (st == ST_OK && !s->begun)
		parquet_done(s);
	if (st == ST_OK && s->begun) {
		s->begun = false;
		s->src.offset = s->file.first[++s->group];
	}
	return st;
}

/* Goes to the row at which reading stopped. */
static enum status
parquet_resume(struct parquet *s, struct err *e)
{
	struct parquet_file *f = &s->file;

	s->src.resume = false;
	if (s->src.resume_offset > f->first[f->groups])
		return err_set(e, ST_DATA, "cannot resume at row %llu: the file is shorter now",
			       (unsigned long long)s->src.resume_offset);
	s->src.offset = s->src.resume_offset;
	while (s->group < f->groups && f->first[s->group + 1] <= s->src.offset)
		s->group++;
	return ST_OK;
}

/* Makes sure that a file is open; ST_END: there are no more. */
static enum status
parquet_next_file(struct op_inst *self, struct parquet *s, struct err *e)
{
	while (!s->src.open) {
		if (s->src.at >= s->src.files.n)
			return ST_END;
		const char *path = s->src.files.v[s->src.at];
		const char *tag = s->src.resume && s->src.resume_tag ? s->src.resume_tag
			: self->split ? self->split->tag : NULL;

		s->src.name = file_far_origin(path);
		s->src.offset = 0;
		s->group = 0;
		enum status st = parquet_file_open(&s->file, path, tag, &s->as, self->ctx, e);
		if (st == ST_OK && s->src.resume)
			st = parquet_resume(s, e);
		if (st == ST_OK)
			s->src.open = true, s->src.tag = s->file.in.tag;
		else if (st == ST_AGAIN)
			return parquet_file_close(&s->file), st;
		else if ((st = parquet_lost(self, s, st, e)) != ST_OK)
			return st;
	}
	return ST_OK;
}

/* Goes to the next row group of this split, which has rows; ST_END: there are no more. */
static enum status
parquet_find(struct op_inst *self, struct parquet *s, struct err *e)
{
	struct parquet_file *f = &s->file;

	for (;;) {
		enum status st = parquet_next_file(self, s, e);

		if (st != ST_OK)
			return st;
		while (s->group < f->groups && (f->offset[s->group] < s->src.start || f->offset[s->group] >= s->src.end
						|| f->first[s->group] == f->first[s->group + 1]
						|| parquet_file_excludes(f, s->group)))
			s->group++;
		if (s->group < f->groups)
			break;
		parquet_done(s);
	}
	if (s->src.offset < f->first[s->group])
		s->src.offset = f->first[s->group];
	return ST_OK;
}

/* Makes sure that a row group is begun; ST_END: there are no more. */
static enum status
parquet_group(struct op_inst *self, struct parquet *s, struct err *e)
{
	while (!s->begun) {
		struct parquet_file *f = &s->file;
		enum status st = parquet_find(self, s, e);

		if (st != ST_OK)
			return st;
		s->begun = true;
		st = parquet_file_begin(f, s->group, s->src.offset - f->first[s->group], e);
		if (st == ST_AGAIN)
			return s->begun = false, st;
		if (st != ST_OK && (st = parquet_lost(self, s, st, e)) != ST_OK)
			return st;
	}
	return ST_OK;
}

/* Goes to the next row that is wanted. */
static void
parquet_step(struct parquet *s)
{
	s->file.at.row++;
	s->src.offset += 1 + table_batch_pass(&s->file.at);
}

/* Gives records of one row group. */
static enum status
parquet_read(struct op_inst *self, struct run *out, struct err *e)
{
	struct parquet *s = self->state;
	struct parquet_file *f = &s->file;
	size_t max = file_source_element_max(self), before = 0;

	for (;;) {
		enum status st = parquet_group(self, s, e);

		if (st == ST_OK)
			st = parquet_file_more(f, e);
		if (st == ST_END && s->begun) {
			s->begun = false;
			s->group++;
			continue;
		}
		if (st == ST_OK)
			break;
		if (!s->begun || (st = parquet_lost(self, s, st, e)) != ST_OK)
			return st;
	}
	out->file = s->src.name;
	out->line = s->src.offset + 1;
	s->src.offset += table_batch_pass(&f->at);
	for (; f->at.row < f->at.n && out->n < RUN_USUAL && before < RUN_BYTES; parquet_step(s)) {
		uint32_t pos = (uint32_t)(s->src.offset + 1 - out->line);
		enum status st = arrow_rows_put(f->at.rows, f->at.row, max, out, pos, e);

		if (st == ST_OK) {
			before += out->e[out->n - 1].len;
			continue;
		}
		if (out->n)
			return err_clear(e), ST_OK;
		err_wrap(e, "row group %lld", (long long)f->group);
		st = op_source_fault(self, s->src.name, s->src.offset + 1, e);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

/* Whether rows are only counted, and nobody looks at them. */
static bool
parquet_counts(const struct op_inst *self, const struct parquet *s)
{
	const struct op_ctx *ctx = self->ctx;
	bool tapped = ctx->tap && atomic_load_explicit(ctx->tap, memory_order_relaxed) == self->node->place;

	return self->node->counted && !s->src.named && !tapped && !s->begun;
}

/* Gives an empty record for each row. */
static enum status
parquet_number(struct op_inst *self, struct parquet *s, struct run *out, struct err *e)
{
	static const uint8_t empty[] = { 0x80 };
	enum status st = parquet_find(self, s, e);

	if (st != ST_OK)
		return st;
	uint64_t left = s->file.first[s->group + 1] - s->src.offset;
	uint32_t n = left < RUN_USUAL ? (uint32_t)left : RUN_USUAL;
	out->file = s->src.name;
	out->line = s->src.offset + 1;
	for (uint32_t i = 0; i < n; i++)
		run_push(out, (struct elem){ empty, NULL, sizeof empty, i });
	s->src.offset += n;
	s->group += left == n;
	return ST_OK;
}

static enum status
parquet_rows_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	struct parquet *s = self->state;

	return parquet_at_give(self, &s->at, index, k, out, e);
}

static enum status
parquet_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct parquet *s = self->state;

	if (parquet_counts(self, s))
		return parquet_number(self, s, out, e);
	return file_source_with_name(self, &s->src, parquet_read, out, e);
}

const struct op_desc op_parquet = {
	.name = "parquet",
	.brief = "reads rows of Parquet files, as records",
	.doc = "Columns become fields: bools, ints, floats, text, bytes and nulls as they are; lists become "
	       "lists, structs records, and maps whose keys are text records, too (other maps lists of {key, "
	       "value}). Decimals become floats, and times seconds, as the functions for times have them, "
	       "unless decimals= and times= say otherwise; a float can hold the microseconds of present times, "
	       "but not the nanoseconds. Intervals are refused.\n\nOnly the columns that columns= names, or "
	       "that the pipeline uses, are read. If a filter follows directly, row groups are skipped whose "
	       "statistics show that none of their rows can pass it. The conditions used for this compare a "
	       "column with constants, such as .km > 5 and .from in [\"Bonn\", \"Jena\"], and are joined by "
	       "`and`; the first condition of another kind ends them. --explain shows them. A row group in "
	       "which a condition could fail, because of null, is read, unless nulls=skip is given. In the "
	       "other row groups, rows that do not meet these conditions are dropped before they become "
	       "records.\n\nFiles are divided into splits between row groups, and a stream can resume at any "
	       "row. The element type is known before the run, from the first file; the other files must have "
	       "the same. A fault in a row group is an error that names it; with on_error=skip the rest of it "
	       "is skipped and counted.\n\nParquet is read by Arrow's libraries, in a plugin that is loaded "
	       "with the first file.",
	.kind = OP_SOURCE,
	.flags = OP_EXCLUDES,
	.params = parquet_params,
	.state_size = sizeof(struct parquet),
	.typing = parquet_typing,
	.check = parquet_check,
	.list = file_source_list_parts,
	.cardinality = parquet_cardinality,
	.indexed = parquet_indexed,
	.open = parquet_open,
	.next = parquet_next,
	.at = parquet_rows_at,
	.close = parquet_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "parquet trips.parquet | filter .km > 5",
	.output = "{\"id\":2,\"km\":7.25,\"from\":\"Bonn\",\"at\":1709208001.0,\"stops\":[\"Mainz\"]}\n"
		  "{\"id\":4,\"km\":12.0,\"from\":\"Jena\",\"at\":1709208003.0,\"stops\":[\"Gera\",\"Weida\"]}\n",
};
