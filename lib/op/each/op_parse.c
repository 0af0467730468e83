/* SPDX-License-Identifier: MIT
 * parse: makes values of texts.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "value/format/textform.h"
#include "value/csv/csv.h"
#include "value/json/json.h"

enum { PARSE_AUTO, PARSE_TEXT }; /* the choices of types= */
enum parse_form { PARSE_JSON, PARSE_CSV, PARSE_TSV, PARSE_KV, PARSE_URL };

struct parse {
	int form;
	struct buf columns;
	int types;
	struct json *json;
	struct csv *csv;
	char **names;
	uint32_t n_names;
	struct textform form_state;
	struct buf value; /* the value made last */
};

static const struct param parse_params[] = {
	{ "format", PARAM_CHOICE, offsetof(struct parse, form), .choices = "json|csv|tsv|kv|url",
	  .help = "format of the texts: kv is a=1 b=\"two words\", url is a=1&b=two%20words" },
	{ "columns", PARAM_VALUE, offsetof(struct parse, columns),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "csv, tsv: names of the columns; without names rows become lists" },
	{ "types", PARAM_CHOICE, offsetof(struct parse, types), "auto", .flags = PARAM_KEY_ONLY,
	  .choices = "auto|text",
	  .help = "csv, tsv, kv, url: auto recognises numbers, true, false and null as the csv "
		  "source does; text leaves all values as text" },
	{ 0 }
};

static void
parse_names_free(char ***names, uint32_t n)
{
	for (uint32_t k = 0; *names && k < n; k++)
		mem_free((*names)[k]);
	mem_free(*names);
	*names = NULL;
}

/* Reads columns= as texts; gives. */
static enum status
parse_names(const struct parse *s, char ***names, uint32_t *n, struct err *e)
{
	const uint8_t *p = s->columns.data, *end = buf_end(&s->columns);
	struct mp m;

	*names = NULL;
	*n = 0;
	if (!s->columns.len)
		return ST_OK;
	if (s->form != PARSE_CSV && s->form != PARSE_TSV)
		return err_set(e, ST_DATA, "columns= is for csv and tsv");
	mp_head(p, end, &m);
	if (m.kind == MP_LIST && m.n && m.n <= CSV_COLUMNS_MAX) {
		uint32_t count = m.n;

		p = m.p;
		*names = mem_array(count, sizeof **names);
		for (; *n < count; ++*n) {
			p = mp_head(p, end, &m);
			if (m.kind != MP_TEXT || memchr(m.p, 0, m.n))
				break;
			(*names)[*n] = mem_strndup((const char *)m.p, m.n);
		}
		if (*n == count)
			return ST_OK;
		parse_names_free(names, *n);
	}
	err_set(e, ST_DATA, "columns= is not a list of names");
	err_help(e, "parse csv columns=[\"id\", \"name\"]");
	return ST_DATA;
}

static const struct type *
parse_type(struct op_typing *t, const struct parse *s, char **names, uint32_t n)
{
	const struct type *item = type_scalar(s->types == PARSE_TEXT ? TYPE_TEXT : TYPE_ANY), *type;
	struct type_field *fields;

	if (s->form == PARSE_JSON)
		return type_scalar(TYPE_ANY);
	if (s->form == PARSE_KV || s->form == PARSE_URL)
		return type_record(t->arena, NULL, 0, true);
	if (!names)
		return type_list(t->arena, item);
	fields = mem_array(n, sizeof *fields);
	for (uint32_t k = 0; k < n; k++)
		fields[k] = (struct type_field){ names[k], item };
	type = type_record(t->arena, fields, n, false);
	mem_free(fields);
	return type;
}

static enum status
parse_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct parse *s = n->params;
	const struct type *x = n->in[0]->type;
	struct buf name = { 0 };
	char **names;
	uint32_t n_names;
	enum status st = parse_names(s, &names, &n_names, e);

	if (st != ST_OK)
		return st;
	*type = parse_type(t, s, names, n_names);
	parse_names_free(&names, n_names);
	if (type_fits(x, type_scalar(TYPE_TEXT)) || type_fits(x, type_scalar(TYPE_BYTES)))
		return ST_OK;
	type_print(x, &name);
	typed_fail(t, n, e, "`parse` needs texts, this is %s", (char *)name.data);
	err_help(e, "map to the text first: map .line | parse json");
	buf_clear(&name);
	return ST_DATA;
}

static int64_t
parse_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
parse_open(struct op_inst *self, struct err *e)
{
	struct parse *s = self->state;
	enum status st = parse_names(s, &s->names, &s->n_names, e);

	if (st != ST_OK)
		return st;
	if (s->form == PARSE_JSON)
		s->json = json_new();
	if (s->form == PARSE_CSV || s->form == PARSE_TSV) {
		bool tsv = s->form == PARSE_TSV;
		struct csv_conf conf = { .delim = tsv ? '\t' : ',', .quote = tsv ? CSV_NO_QUOTE : '"',
					 .escapes = tsv, .text = s->types == PARSE_TEXT };

		s->csv = csv_new(&conf, (const char *const *)s->names, s->n_names);
	}
	return ST_OK;
}

static enum status
parse_one(struct parse *s, const struct elem *x, struct run *out, struct err *e)
{
	enum status st = ST_OK;
	struct textform_conf conf = { .typed = s->types == PARSE_AUTO };
	struct elem row;
	struct mp m;

	mp_head(x->p, x->p + x->len, &m);
	if (m.kind != MP_TEXT && m.kind != MP_BYTES)
		return err_set(e, ST_DATA, "this element is not a text");
	buf_reset(&s->value);
	switch ((enum parse_form)s->form) {
	case PARSE_JSON: st = json_value(s->json, m.p, m.n, &s->value, e); break;
	case PARSE_CSV:
	case PARSE_TSV:
		st = csv_row_of(s->csv, m.p, m.n, &row, e);
		if (st == ST_OK)
			buf_put(&s->value, row.p, row.len);
		break;
	case PARSE_KV: st = textform_kv(&s->form_state, &conf, m.p, m.n, &s->value, e); break;
	case PARSE_URL: st = textform_url(&s->form_state, &conf, m.p, m.n, &s->value, e); break;
	}
	if (st != ST_OK)
		return st;
	uint8_t *p = run_room(out, s->value.len);
	memcpy(p, s->value.data, s->value.len);
	run_done(out, p + s->value.len, x->pos);
	return ST_OK;
}

static enum status
parse_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct parse *s = self->state;

	for (uint32_t i = self->at; i < in->n; i++) {
		if (run_full(out)) {
			self->at = i;
			return ST_AGAIN;
		}
		enum status st = parse_one(s, &in->e[i], out, e);

		if (st == ST_OK)
			continue;
		if (op_fault_later(self, out, e)) {
			self->at = i;
			return ST_AGAIN;
		}
		do { /* a retry would give the same result */
			st = op_fault(self, in, i, out, e);
		} while (st == ST_AGAIN && parse_one(s, &in->e[i], out, e) != ST_OK);
		if (st != ST_OK && st != ST_AGAIN)
			return st;
	}
	return ST_OK;
}

static void
parse_close(struct op_inst *self)
{
	struct parse *s = self->state;

	json_free(&s->json);
	csv_free(&s->csv);
	parse_names_free(&s->names, s->n_names);
	textform_clear(&s->form_state);
	buf_clear(&s->value);
}

const struct op_desc op_parse = {
	.name = "parse",
	.brief = "turns texts into values: json, csv, tsv, kv, url",
	.doc = "Each text is one JSON value, one row, or one record. A text in another format is "
	       "an error; on_error= decides what happens to it. In csv, tsv, kv and url, unquoted "
	       "values get types as in the csv source (a JSON number, true, false, or null for an "
	       "empty value), unless types=text. If a key occurs more than once, the last value "
	       "counts. The functions parse_csv() and parse_kv() follow the same rules.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_EACH,
	.params = parse_params,
	.state_size = sizeof(struct parse),
	.typing = parse_typing,
	.cardinality = parse_cardinality,
	.open = parse_open,
	.feed = parse_feed,
	.close = parse_close,
	.example = "elements [\"level=warn took=1.5 msg=\\\"disk full\\\"\"] | parse kv",
	.output = "{\"level\":\"warn\",\"took\":1.5,\"msg\":\"disk full\"}\n",
};
