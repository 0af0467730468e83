/* SPDX-License-Identifier: MIT */
#include "op/file/file_csv.h"

#include <string.h>

#include "base/mem.h"
#include "op/file/byte_word.h"
#include "op/file/file_glob.h"
#include "value/mp.h"

enum {
	CSV_LOOK = 16,        /* most files whose headers are read in planning */
	CSV_BLOCK = 32 * 1024
};

/* ---- parameters ---- */

static enum status
csv_conf_read(const struct file_csv *f, struct csv_conf *conf, struct err *e)
{
	uint8_t quote = 0;
	bool quotes = f->quote && strcmp(f->quote, "none");
	enum status st = ST_OK;

	*conf = (struct csv_conf){ .delim = '\t', .quote = CSV_NO_QUOTE, .escapes = !f->delim,
				   .text = f->types == FILE_CSV_TEXT, .header = f->header,
				   .ragged = f->ragged, .comment = f->comment };
	conf->n_comment = f->comment ? strlen(f->comment) : 0;
	if (f->comment && (!*f->comment || strchr(f->comment, '\n')))
		return err_set(e, ST_DATA, "comment needs a text without line ends, such as \"#\"");
	if (f->delim)
		st = byte_word_parse("delim", f->delim, &conf->delim, e);
	if (st == ST_OK && quotes)
		st = byte_word_parse("quote", f->quote, &quote, e);
	if (st != ST_OK)
		return st;
	if (quotes)
		conf->quote = quote;
	if (conf->delim == '\n' || conf->delim == '\r' || conf->quote == conf->delim
	    || conf->quote == '\n' || conf->quote == '\r')
		return err_set(e, ST_DATA, "delim and quote must differ from each other and from line ends");
	return ST_OK;
}

static void
csv_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mem_free(names[i]);
	mem_free(names);
}

/* Reads the parameter `columns` as texts; gives. */
static enum status
csv_names_read(const struct file_csv *f, char ***names, size_t *n, struct err *e)
{
	const uint8_t *p = f->columns.data, *end = p ? p + f->columns.len : NULL;
	struct mp list, m;
	size_t i = 0;

	*names = NULL;
	*n = 0;
	if (!f->columns.len)
		return ST_OK;
	p = mp_head(p, end, &list);
	bool good = p && list.kind == MP_LIST && list.n && list.n <= CSV_COLUMNS_MAX;
	char **v = good ? mem_array(list.n, sizeof *v) : NULL;
	for (; good && i < list.n; i++) {
		p = mp_head(p, end, &m);
		good = p && m.kind == MP_TEXT && m.n && !memchr(m.p, 0, m.n);
		v[i] = good ? mem_strndup((const char *)m.p, m.n) : NULL;
	}
	if (!good) {
		csv_names_free(v, i);
		err_set(e, ST_DATA, "columns= needs a list of names");
		err_help(e, "columns=[\"id\", \"name\"]");
		return ST_DATA;
	}
	*names = v;
	*n = list.n;
	return ST_OK;
}

/* Makes a reader with the parameters. Gives it, and the names, which the reader uses. */
static enum status
csv_make(const struct file_csv *f, struct csv **csv, char ***names, size_t *n, struct err *e)
{
	struct csv_conf conf;
	enum status st = csv_conf_read(f, &conf, e);

	if (st == ST_OK)
		st = csv_names_read(f, names, n, e);
	if (st == ST_OK)
		*csv = csv_new(&conf, (const char *const *)*names, *n);
	if (st == ST_OK && f->ragged && *names && !f->header)
		st = csv_ragged_check(*csv, e);
	return st;
}

/* ---- headers ---- */

/* Reads only the header of the file at path. ST_END: the file is empty. */
static enum status
csv_header_at(struct csv *csv, const char *path, bool as_is, size_t max, struct err *e)
{
	struct file_bytes *bytes = file_bytes_new();
	struct buf b = { 0 };
	enum status st = file_bytes_open(bytes, path, NULL, as_is, NULL, e), got = st;

	file_bytes_text(bytes);
	while (got == ST_OK) {
		size_t n, used;
		uint32_t lines;
		uint8_t *room = buf_room(&b, CSV_BLOCK + CSV_PAD);

		got = st = file_bytes_read(bytes, room, CSV_BLOCK, &n, e);
		b.len += n;
		if (got != ST_OK && got != ST_END)
			break;
		st = csv_header(csv, b.data, b.len, got == ST_END, &used, &lines, e);
		if (st != ST_END)
			break;
		if (b.len > max)
			st = got = err_set(e, ST_DATA, "a header of more than %zu bytes", max);
	}
	file_bytes_free(&bytes);
	buf_clear(&b);
	return st;
}

static enum status
csv_begin(struct op_inst *self, struct file_source *s, const char *path, bool inside, struct err *e)
{
	struct file_csv *f = self->state;

	csv_restart(f->csv);
	if (!f->header || !inside)
		return ST_OK;
	if (!strcmp(path, "-"))
		return err_set(e, ST_DATA, "cannot resume in the middle of standard input: the header is gone");
	enum status st = csv_header_at(f->csv, path, s->as_is, file_source_element_max(self), e);
	return st == ST_END ? ST_OK : st;
}

/* The type of a row; NULL: it cannot be known. */
static const struct type *
csv_row_type(struct types *arena, const struct file_csv *f, const struct csv *csv)
{
	const struct type *value = type_scalar(f->types == FILE_CSV_TEXT ? TYPE_TEXT : TYPE_ANY);
	bool chosen = f->header && f->names;
	size_t n = chosen ? f->n_names : csv_columns(csv), len;
	const struct type *type = NULL;

	if (!n)
		return f->header ? NULL : type_list(arena, value);
	struct type_field *fields = mem_array(n, sizeof *fields);
	size_t i = 0;
	for (; i < n; i++) {
		const char *name = chosen ? f->names[i] : csv_column(csv, i, &len);

		if (!chosen && memchr(name, 0, len))
			break;
		fields[i].name = chosen ? mem_strdup(name) : mem_strndup(name, len);
		fields[i].type = value;
	}
	if (i == n)
		type = type_record(arena, fields, n, f->ragged && !chosen);
	while (i)
		mem_free((char *)fields[--i].name);
	mem_free(fields);
	return type;
}

/* Finds the type of the rows from the headers of the files, if all of them exist. */
static enum status
csv_look(struct op_node *n, struct op_typing *t, struct csv *csv, const struct file_csv *f,
	 const struct type **type, struct err *e)
{
	struct words files = { 0 };
	struct err ignored;
	bool bound = false;

	for (size_t i = 0; i < n->n_binds; i++)
		bound |= !strcmp(n->binds[i].row->name, "files");
	if (bound || file_glob(&f->src.names, false, &files, &ignored) != ST_OK)
		return ST_OK;
	const struct type *all = NULL;
	enum status st = files.n <= CSV_LOOK ? ST_OK : ST_END;
	for (size_t i = 0; i < files.n && st == ST_OK; i++) {
		const struct type *one = NULL;

		csv_restart(csv);
		st = !strcmp(files.v[i], "-") ? ST_END
			: csv_header_at(csv, files.v[i], false, CSV_BLOCK, &ignored);
		if (st == ST_OK)
			one = csv_row_type(t->arena, f, csv);
		if (st == ST_DATA && f->names) {
			*e = ignored;
			err_wrap(e, "%s", files.v[i]);
			words_clear(&files);
			return ST_DATA;
		}
		all = !all ? one : one ? type_join(t->arena, all, one) : NULL;
		st = all ? ST_OK : ST_END;
	}
	if (st == ST_OK && all)
		*type = all;
	words_clear(&files);
	return ST_OK;
}

enum status
file_csv_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	/* a copy of the parameters, which lends their members */
	struct file_csv f = *(struct file_csv *)n->params;
	struct csv *csv = NULL;
	enum status st = csv_make(&f, &csv, &f.names, &f.n_names, e);

	*type = type_scalar(TYPE_ANY);
	if (st == ST_OK && (!f.header || f.names))
		*type = csv_row_type(t->arena, &f, csv);
	if (st == ST_OK && f.header)
		st = csv_look(n, t, csv, &f, type, e);
	csv_free(&csv);
	csv_names_free(f.names, f.n_names);
	return st == ST_OK ? file_named_type(&f.src.with_name, NULL, t->arena, type, e) : st;
}

enum status
file_csv_check(const struct op_node *n, struct err *e)
{
	struct csv_conf conf;
	enum status st = csv_conf_read(n->params, &conf, e);

	return st == ST_OK ? file_source_check(n, e) : st;
}

enum status
file_csv_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	const struct file_csv *f = n->params;
	bool quotes = f->quote && strcmp(f->quote, "none");

	/* In the middle of a file there is no telling whether a newline ends a row or is quoted. */
	return quotes ? file_source_list(n, out, e) : file_source_list_lines(n, out, e);
}

/* ---- running ---- */

enum status
file_csv_open(struct op_inst *self, struct err *e)
{
	struct file_csv *f = self->state;
	enum status st = csv_make(f, &f->csv, &f->names, &f->n_names, e);

	if (st != ST_OK)
		return st;
	csv_project(f->csv, self->node->project);
	f->src.text = true;
	f->src.delim = '\n';
	f->src.pad = CSV_PAD;
	f->src.begin = csv_begin;
	return file_source_open(self, e);
}

/* The file_decode of csv and tsv. */
static enum status
csv_decode(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	struct file_csv *f = self->state;
	const uint8_t *p = s->window->data + s->from;
	size_t n = s->to - s->from, max = file_source_element_max(self), used;
	bool eof = s->eof, header = !csv_ready(f->csv);
	uint32_t lines;
	enum status st;

	if (s->end - s->offset < n) {
		/* For a byte range: the line that holds its last byte is the last one. */
		size_t last = (size_t)(s->end - s->offset) - 1;
		const uint8_t *stop = memchr(p + last, '\n', n - last);

		if (stop) {
			n = (size_t)(stop + 1 - p);
			eof = true;
		}
	}
	if (header)
		st = csv_header(f->csv, p, n, eof, &used, &lines, e);
	else
		st = csv_rows(f->csv, p, n, eof, RUN_USUAL, out, &used, &lines, e);
	if (st == ST_DATA) {
		if (!header && !*e->help)
			err_help(e, "ragged=true reads rows with fewer or more fields; on_error=skip leaves them out");
		/* Without its header the file cannot be read at all. */
		st = file_source_bad(self, s, e);
		if (header) {
			used = s->to - s->from;
			s->eof = true;
		}
		if (st != ST_OK)
			return st;
	} else if (st == ST_END && eof) {
		used = n; /* nothing but empty lines */
		lines = 0;
	} else if (st == ST_END) {
		if (n <= max)
			return ST_END;
		st = file_source_too_large(self, s, "row", e);
		csv_forget(f->csv);
		return st == ST_OK ? file_source_drop_line(self, s, e) : st;
	}
	file_source_take(s, used, lines);
	return ST_OK;
}

enum status
file_csv_next(struct op_inst *self, struct run *out, struct err *e)
{
	return file_source_next(self, csv_decode, out, e);
}

void
file_csv_close(struct op_inst *self)
{
	struct file_csv *f = self->state;

	file_source_close(self);
	csv_free(&f->csv);
	csv_names_free(f->names, f->n_names);
}
