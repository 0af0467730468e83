/* SPDX-License-Identifier: MIT
 * lookup: adds to each record the row of a file that has its key.
 */
#include <string.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/str.h"
#include "op/kit/fields.h"
#include "op/whole/join_table.h"
#include "op/facts.h"
#include "op/pull.h"
#include "op/table.h"

enum lookup_missing { LOOKUP_NULL, LOOKUP_SKIP, LOOKUP_ERROR };

struct lookup {
	char *file;
	struct op_expr key;
	char *field;
	char *as;
	int missing;
	int64_t mem;
	struct expr_value by;
	struct join_table table;
};

static const struct param lookup_params[] = {
	{ "file", PARAM_WORD, offsetof(struct lookup, file), .flags = PARAM_PATH,
	  .help = "the table: a .csv or .tsv file with a header, .ndjson or .jsonl; it may "
		  "be compressed" },
	{ "key", PARAM_EXPR, offsetof(struct lookup, key), .flags = PARAM_KEY_ONLY,
	  .help = "the key of an element" },
	{ "field", PARAM_WORD, offsetof(struct lookup, field),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the field of a row that holds its key; by default the first field" },
	{ "as", PARAM_WORD, offsetof(struct lookup, as), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "field for the whole row, instead of adding its fields to those of x" },
	{ "missing", PARAM_CHOICE, offsetof(struct lookup, missing), "null",
	  .flags = PARAM_KEY_ONLY, .choices = "null|skip|error",
	  .help = "whether an element whose key is missing gets nulls, is dropped, or "
		  "is an error" },
	{ "mem", PARAM_SIZE, offsetof(struct lookup, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the table may take" },
	{ 0 }
};

/* The source that reads files of this name; NULL: none. */
static const struct op_desc *
lookup_source(const char *file)
{
	static const char *const ends[][2] = {
		{ ".csv", "csv" }, { ".tsv", "tsv" }, { ".ndjson", "ndjson" }, { ".jsonl", "ndjson" },
		{ ".msgpack", "msgpack" }
	};
	static const char *const packs[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4" };
	size_t n = strlen(file);

	for (size_t k = 0; k < sizeof packs / sizeof *packs; k++)
		if (str_ends(file, packs[k]))
			n -= strlen(packs[k]);
	for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
		size_t len = strlen(ends[k][0]);

		if (n >= len && !memcmp(file + n - len, ends[k][0], len))
			return op_find(ends[k][1], strlen(ends[k][1]));
	}
	return NULL;
}

static enum status
lookup_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct lookup *s = n->params;
	const struct fields none = { 0 };
	enum status st = fields_typing(n, t, &none, false, e);

	if (st == ST_OK)
		st = expr_value_typing(n, t, &s->key, NULL, e);
	*type = join_table_type(t, n->in[0]->type, type_scalar(TYPE_ANY), s->as, false);
	return st;
}

static enum status
lookup_check(const struct op_node *n, struct err *e)
{
	const struct lookup *s = n->params;

	if (!lookup_source(s->file)) {
		err_set(e, ST_DATA, "the name %.200s does not tell what kind of table it is", s->file);
		err_help(e, "names end in .csv, .tsv, .ndjson, .jsonl or .msgpack; `join` reads others");
		return ST_DATA;
	}
	return gate_readable(s->file) ? err_errno(e, "cannot open %s", s->file) : ST_OK;
}

static int64_t
lookup_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct lookup *s = n->params;

	return !typed_one_each(n) || s->missing == LOOKUP_SKIP ? -1 : in[0];
}

static enum status
lookup_open(struct op_inst *self, struct err *e)
{
	struct lookup *s = self->state;

	(void)e;
	expr_value_open(self, &s->by, &s->key);
	return ST_OK;
}

/* Makes a plan of one operator: the source, with the file's name. */
static enum status
lookup_node(struct op_inst *self, struct op_node **out, struct err *e)
{
	struct lookup *s = self->state;
	const struct op_desc *d = lookup_source(s->file);

	if (!d)
		return err_set(e, ST_DATA, "%.200s is not a table that can be read", s->file);
	struct op_node *n = *out = mem_zalloc(sizeof *n);
	n->desc = d;
	n->place = self->node->place;
	n->type = type_scalar(TYPE_ANY);
	n->on_error = self->node->on_error;
	n->params = mem_zalloc(d->state_size);
	param_defaults(d->params, n->params);
	/* Sources take a name as a pattern: the signs in it are escaped. */
	struct buf name = { 0 };
	for (const char *c = s->file; *c; c++) {
		if (strchr("*?[{\\", *c))
			buf_byte(&name, '\\');
		buf_byte(&name, (uint8_t)*c);
	}
	for (const struct param *r = d->params; r->kind != PARAM_NONE; r++)
		if (r->kind == PARAM_WORDS)
			words_add((struct words *)((char *)n->params + r->offset),
				  (char *)name.data, name.len);
	buf_clear(&name);
	return ST_OK;
}

static enum status
lookup_load(struct op_inst *self, struct err *e)
{
	static const uint8_t nil = 0xc0;
	static const struct elem none = { .p = &nil, .len = 1 };
	struct lookup *s = self->state;
	struct op_node *node = NULL;
	struct op_inst *chain = NULL;
	enum status st = lookup_node(self, &node, e);

	if (st == ST_OK)
		st = op_open_inner(node, self, self->outer ? self->outer : &none, &chain, e);
	join_table_clear(&s->table);
	if (st == ST_OK)
		st = join_table_load_field(self, &s->table, chain, s->field, (size_t)s->mem, e);
	op_close(&chain);
	op_node_free(&node);
	return st;
}

static enum status
lookup_one(struct op_inst *self, const struct run *in, uint32_t i, struct run *out, struct err *e)
{
	struct lookup *s = self->state;
	const uint8_t *key, *p;
	uint32_t pairs;
	size_t len;
	enum status st = expr_value_get(self, &s->by, in, i, out, &key, &len, e);

	if (st != ST_OK)
		return st;
	uint32_t row = join_table_find(&s->table, key, len);
	if (!fields_record(self, in, i, out, &pairs, &p, &st, e))
		return st;
	if (row == JOIN_TABLE_NONE && s->missing == LOOKUP_SKIP)
		return ST_SKIP;
	if (row == JOIN_TABLE_NONE && s->missing == LOOKUP_ERROR)
		return expr_run_wrong(self, in, i, out, e, "its key is not in %s", s->file);
	join_table_put(&s->table, &in->e[i], row, s->as, out);
	return ST_OK;
}

static enum status
lookup_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct lookup *s = self->state;
	enum status st = ST_OK;

	if (!s->table.loaded && (st = lookup_load(self, e)) != ST_OK)
		return st;
	for (; (st == ST_OK || st == ST_SKIP) && self->at < in->n; self->at++) {
		if (run_full(out))
			return ST_AGAIN;
		st = lookup_one(self, in, self->at, out, e);
	}
	return st == ST_SKIP ? ST_OK : st;
}

static void
lookup_close(struct op_inst *self)
{
	struct lookup *s = self->state;

	join_table_clear(&s->table);
	expr_value_close(&s->by);
}

static const struct state_row lookup_state[] = {
	{ &expr_value_state, offsetof(struct lookup, by), 0 },
	{ 0 }
};

const struct op_desc op_lookup = {
	.name = "lookup",
	.brief = "adds the row of a file that has its key to each record",
	.doc = "The file is read once, before the first element. If several rows have the same "
	       "key, the first counts. If both have a field, the element's value is kept. join "
	       "does the same with any pipeline, and gives every matching row.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_EACH,
	.params = lookup_params,
	.state_size = sizeof(struct lookup),
	.typing = lookup_typing,
	.check = lookup_check,
	.cardinality = lookup_cardinality,
	.open = lookup_open,
	.feed = lookup_feed,
	.close = lookup_close,
	.state_rows = lookup_state,
	.example = "elements [{city: \"Ulm\"}] | lookup cities.csv key=.city",
	.output = "{\"city\":\"Ulm\",\"country\":\"DE\",\"people\":126000}\n",
};
