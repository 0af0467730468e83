/* SPDX-License-Identifier: MIT
 * arrow: the rows of Arrow files and streams, as records.
 */
#include <string.h>

#include "base/gate.h"
#include "op/file/file_far.h"
#include "op/file/file_glob.h"
#include "op/file/file_source.h"
#include "op/table/arrow_file.h"

enum { ARROW_LOOK = 1000 /* most files that are opened to count rows */ };

struct arrow {
	/* names, files, at, and the position: its offset is the batch, shifted, and the row in it; its line is the
	 * number of the next record of the file, where it is known */
	struct file_source src;
	struct table_said said;
	const struct type *want; /* set by typing: the type that all files have; NULL: it is not known */
	struct table_as as;
	struct arrow_file file;
};

static const struct param arrow_params[] = {
	FILE_SOURCE_NAMES(struct arrow),
	TABLE_AS_PARAMS(struct arrow, said),
	FILE_SOURCE_NUMBERED(struct arrow, src),
	{ 0 }
};

/* ---- planning ---- */

static bool
arrow_regular(const char *path)
{
	struct stat info;

	return strcmp(path, "-") != 0 && !gate_stat(path, &info) && S_ISREG(info.st_mode);
}

/* The type is that of the first file, if it lies here. */
static enum status
arrow_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct arrow *s = n->params;
	struct words files = { 0 };
	struct arrow_file f;
	struct table_as as;
	enum status st = table_as_read(&s->said, &as, e);

	*type = type_record(t->arena, NULL, 0, true);
	s->want = NULL;
	if (st != ST_OK)
		return st;
	arrow_file_init(&f);
	/* A bad name is reported by the check, and a bad file by reading it. */
	struct err ignored;
	bool here = !n->n_binds && !file_far_any(&s->src.names)
		&& file_glob(&s->src.names, false, &files, &ignored) == ST_OK && files.n && arrow_regular(files.v[0]);
	if (here && arrow_file_open(&f, files.v[0], NULL, &as, NULL, 0, UINT64_MAX, &ignored) == ST_OK)
		s->want = *type = arrow_rows_type(f.at.rows, t->arena);
	arrow_file_close(&f);
	words_clear(&files);
	table_as_clear(&as);
	return file_named_type(&s->src.with_name, "record", t->arena, type, e);
}

static int64_t
arrow_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct arrow *s = n->params;
	const struct table_as none = { .project = &(struct json_fields){ .n = 0 } };
	struct words files = { 0 };
	struct arrow_file f;
	int64_t count = 0;
	struct err e;

	(void)in;
	if (n->n_binds || file_far_any(&s->src.names) || file_glob(&s->src.names, false, &files, &e) != ST_OK
	    || files.n > ARROW_LOOK)
		count = -1;
	arrow_file_init(&f);
	for (size_t i = 0; i < files.n && count >= 0; i++) {
		int64_t rows = arrow_regular(files.v[i])
			&& arrow_file_open(&f, files.v[i], NULL, &none, NULL, 0, UINT64_MAX, &e) == ST_OK
			? arrow_file_rows(&f) : -1;

		if (rows < 0 || __builtin_add_overflow(count, rows, &count))
			count = -1;
		arrow_file_close(&f);
	}
	words_clear(&files);
	return count;
}

/* ---- running ---- */

static enum status
arrow_open(struct op_inst *self, struct err *e)
{
	struct arrow *s = self->state;
	enum status st = table_as_open(self, &s->said, s->want, &s->src, &s->as, e);

	arrow_file_init(&s->file);
	return st == ST_OK ? file_source_open(self, e) : st;
}

static void
arrow_close(struct op_inst *self)
{
	struct arrow *s = self->state;

	arrow_file_close(&s->file);
	table_as_clear(&s->as);
	file_source_close(self);
}

static void
arrow_done(struct arrow *s)
{
	arrow_file_close(&s->file);
	s->src.open = false;
	s->src.tag = NULL;
	s->src.at++;
}

/* Reports what is wrong with a file or a batch, the rest of which is given up. ST_OK: go on behind it. */
static enum status
arrow_lost(struct op_inst *self, struct arrow *s, enum status st, struct err *e)
{
	if (st == ST_AGAIN)
		return st;
	st = op_source_fault(self, s->src.name, s->src.open ? s->src.line : 0, e);
	if (st != ST_OK)
		return st;
	s->src.line = 0;
	if (!s->src.open || !arrow_file_leave(&s->file))
		arrow_done(s);
	return ST_OK;
}

/* Makes sure that a file is open; ST_END: there are no more. */
static enum status
arrow_next_file(struct op_inst *self, struct arrow *s, struct err *e)
{
	while (!s->src.open) {
		if (s->src.at >= s->src.files.n)
			return ST_END;
		const char *path = s->src.files.v[s->src.at];
		const char *tag = s->src.resume && s->src.resume_tag ? s->src.resume_tag
			: self->split ? self->split->tag : NULL;
		enum { ROW = 32 };

		s->src.name = file_far_origin(path);
		s->src.line = s->src.start ? 0 : 1;
		enum status st = arrow_file_open(&s->file, path, tag, &s->as, self->ctx, s->src.start, s->src.end, e);
		if (st == ST_OK && s->src.resume) {
			st = arrow_file_seek(&s->file, (int64_t)(s->src.resume_offset >> ROW),
					     (int64_t)(s->src.resume_offset & UINT32_MAX), e);
			if (st != ST_AGAIN)
				s->src.resume = false;
			s->src.line = s->src.resume_line;
		}
		if (st == ST_OK)
			s->src.open = true, s->src.tag = arrow_file_tag(&s->file);
		else if (st == ST_AGAIN)
			return arrow_file_close(&s->file), st;
		else if ((st = arrow_lost(self, s, st, e)) != ST_OK)
			return st;
	}
	return ST_OK;
}

/* Goes to the next row that is wanted, over `by` rows. */
static void
arrow_step(struct arrow *s, unsigned by)
{
	s->file.at.row += by;
	uint64_t passed = by + table_batch_pass(&s->file.at);
	s->src.line += s->src.line ? passed : 0;
}

/* Makes sure that there is a row; ST_END: there is none. */
static enum status
arrow_row(struct op_inst *self, struct arrow *s, struct err *e)
{
	for (;;) {
		enum status st = arrow_next_file(self, s, e);

		if (st == ST_OK) {
			st = arrow_file_more(&s->file, e);
			if (st == ST_OK)
				return ST_OK;
		}
		if (st == ST_END && s->src.open) {
			arrow_done(s);
			continue;
		}
		if (!s->src.open || (st = arrow_lost(self, s, st, e)) != ST_OK)
			return st;
	}
}

/* Gives records of one batch. */
static enum status
arrow_read(struct op_inst *self, struct run *out, struct err *e)
{
	struct arrow *s = self->state;
	struct arrow_file *f = &s->file;
	size_t max = file_source_element_max(self), before = 0;
	enum status st = arrow_row(self, s, e);

	if (st != ST_OK)
		return st;
	int64_t first = f->at.row;
	out->file = s->src.name;
	out->line = s->src.line;
	for (arrow_step(s, 0); f->at.row < f->at.n && out->n < RUN_USUAL && before < RUN_BYTES; arrow_step(s, 1)) {
		st = arrow_rows_put(f->at.rows, f->at.row, max, out, (uint32_t)(f->at.row - first), e);
		if (st == ST_OK) {
			before += out->e[out->n - 1].len;
			continue;
		}
		if (out->n) {
			err_clear(e);
			break;
		}
		err_wrap(e, "record batch %lld", (long long)f->batch);
		st = op_source_fault(self, s->src.name, s->src.line, e);
		if (st != ST_OK)
			return st;
	}
	s->src.offset = (uint64_t)f->batch << 32 | (uint64_t)f->at.row;
	return ST_OK;
}

static enum status
arrow_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct arrow *s = self->state;

	return file_source_with_name(self, &s->src, arrow_read, out, e);
}

const struct op_desc op_arrow = {
	.name = "arrow",
	.brief = "reads rows of Arrow files and streams, as records",
	.doc = "Both formats of Arrow's IPC are read, the one that --to=arrow writes, a stream, also from standard input "
	       "(arrow -) and compressed. Columns become fields as with parquet, and those that columns= does not name and "
	       "the pipeline does not look at are left out. Rows that a filter right behind does not let through are left "
	       "out before records are made of them, under the conditions of parquet.\n\nA file in the file format, "
	       "which begins with ARROW1, is divided into splits between its record batches; a stream, and a file that "
	       "comes through a pipe, is one. Both go on at any row: in a file its record batch is sought, and a stream "
	       "is read again up to there. The element type is known before the run, from the first file, unless it is "
	       "no regular file here; the other files must have the same. A fault in a record batch is an error that names "
	       "it; with on_error=skip the rest of it is skipped and counted, and of a stream all that follows.",
	.kind = OP_SOURCE,
	.flags = OP_EXCLUDES,
	.params = arrow_params,
	.state_size = sizeof(struct arrow),
	.typing = arrow_typing,
	.check = file_source_check,
	.list = file_source_list_cut,
	.cardinality = arrow_cardinality,
	.open = arrow_open,
	.next = arrow_next,
	.close = arrow_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "arrow trips.arrow | filter .km > 5",
	.output = "{\"id\":2,\"km\":7.25,\"from\":\"Bonn\",\"at\":1709208001.0,\"stops\":[\"Mainz\"]}\n"
		  "{\"id\":4,\"km\":12.0,\"from\":\"Jena\",\"at\":1709208003.0,\"stops\":[\"Gera\",\"Weida\"]}\n",
};
