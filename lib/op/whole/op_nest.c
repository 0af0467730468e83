/* SPDX-License-Identifier: MIT
 * nest: makes one record of those that agree in all fields but one, with a list of
 * that field's values.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/kit/fields.h"
#include "op/whole/group.h"
#include "op/whole/row_keys.h"
#include "value/json/json_print.h"
#include "value/mp.h"

enum { NEST_STATE_MAX = 256 * 1024 * 1024 };

struct nest {
	char *field, *sep;
	int64_t mem;
	struct fields fields;
	struct row_keys rows;  /* records with null in the field's place */
	struct group *lists;   /* the values of each */
	size_t cap;
	struct slab cells;
	size_t bytes;          /* size of the cells */
	struct buf key, text;  /* scratch */
	uint32_t at;           /* in finish: the record to give next */
};

static const struct param nest_params[] = {
	{ "field", PARAM_WORD, offsetof(struct nest, field), .help = "the field whose values are put together" },
	{ "sep", PARAM_WORD, offsetof(struct nest, sep), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "join the values to one text, with this between them, in place of a list" },
	{ "mem", PARAM_SIZE, offsetof(struct nest, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the records may take" },
	{ 0 }
};

static enum status
nest_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct nest *s = n->params;
	const struct type *x = n->in[0]->type;
	struct type_field *v = mem_array(x->n_fields + 1, sizeof *v);
	struct fields f;
	enum status st = fields_read_one(s->field, &f, e);

	*type = x->kind == TYPE_RECORD ? x : type_scalar(TYPE_ANY);
	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	for (size_t i = 0; st == ST_OK && x->kind == TYPE_RECORD && i < x->n_fields; i++) {
		v[i] = x->fields[i];
		if (fields_find(&f, (const uint8_t *)v[i].name, (uint32_t)strlen(v[i].name), 0) >= 0)
			v[i].type = s->sep ? type_scalar(TYPE_TEXT) : type_list(t->arena, v[i].type);
	}
	if (st == ST_OK && x->kind == TYPE_RECORD)
		*type = type_record(t->arena, v, x->n_fields, x->open);
	mem_free(v);
	fields_forget(&f);
	return st;
}

static enum status
nest_open(struct op_inst *self, struct err *e)
{
	struct nest *s = self->state;

	return fields_read_one(s->field, &s->fields, e);
}

/* Copies the record into s->key with null in the field's place; false: it lacks the field. */
static bool
nest_key(struct nest *s, const struct elem *x, uint32_t pairs, const uint8_t *p, const uint8_t **own, size_t *len)
{
	const uint8_t *end = x->p + x->len, *next, *value;
	struct field_name name;

	for (uint32_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, end, &name, &value);
		if (fields_find(&s->fields, (const uint8_t *)name.name, name.len, 0) != 0)
			continue;
		buf_reset(&s->key);
		buf_put(&s->key, x->p, (size_t)(value - x->p));
		buf_byte(&s->key, MP_NIL_BYTE);
		buf_put(&s->key, next, (size_t)(end - next));
		*own = value;
		*len = (size_t)(next - value);
		return true;
	}
	return false;
}

static struct group *
nest_find(struct nest *s, const uint8_t *p, size_t len)
{
	bool fresh;
	uint32_t at = row_keys_add(&s->rows, p, len, &fresh);

	if (fresh) {
		s->lists = mem_grow(s->lists, &s->cap, (size_t)at + 1, sizeof *s->lists);
		s->lists[at] = (struct group){ 0 };
	}
	return &s->lists[at];
}

static size_t
nest_size(const struct nest *s)
{
	return row_keys_size(&s->rows) + row_keys_count(&s->rows) * sizeof *s->lists + s->bytes;
}

/* Whether the value can be part of a joined text: lists and records stand there as JSON. */
static bool
nest_joins(struct nest *s, const struct op_inst *self, const uint8_t *p, size_t len)
{
	buf_reset(&s->text);
	return text_write(p, len, &self->ctx->json, &s->text, NULL) == ST_OK;
}

static enum status
nest_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct nest *s = self->state;
	enum status st = ST_OK;
	const uint8_t *p, *own;
	uint32_t pairs;
	size_t len;

	for (uint32_t i = 0; st == ST_OK && i < in->n; i++) {
		const char *why;

		if (!fields_record(self, in, i, out, &pairs, &p, &st, e))
			continue;
		if (!nest_key(s, &in->e[i], pairs, p, &own, &len))
			st = expr_run_wrong(self, in, i, out, e, "the record has no field `%.60s`", s->field);
		else if (s->sep && !nest_joins(s, self, own, len))
			st = expr_run_wrong(self, in, i, out, e, "`%.60s` has something that JSON cannot hold", s->field);
		else if ((why = group_add(nest_find(s, s->key.data, s->key.len), GROUP_LIST, own, len, &s->cells,
					  &s->bytes)) != NULL)
			st = expr_run_wrong(self, in, i, out, e, "%s", why);
	}
	if (st != ST_OK)
		return st;
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	if (nest_size(s) <= (size_t)s->mem)
		return ST_OK;
	err_set(e, ST_DATA, "%u records take more than mem=%lld bytes", row_keys_count(&s->rows), (long long)s->mem);
	err_help(e, "select the fields that are needed, or make mem= larger");
	return op_blame(self->node, e);
}

/* Joins the values as texts into s->text. */
static void
nest_join(struct nest *s, const struct group *g, const struct json_rules *rules)
{
	const uint8_t *p = g->cell, *end = g->cell + g->len, *next;

	buf_reset(&s->text);
	for (; p < end; p = next) {
		next = mp_skip(p, end);
		if (p != g->cell)
			buf_str(&s->text, s->sep);
		text_write(p, (size_t)(next - p), rules, &s->text, NULL); /* nest_feed has seen to it that it can be written */
	}
}

static void
nest_give(struct nest *s, uint32_t at, const struct json_rules *rules, struct run *out)
{
	const struct group *g = &s->lists[at];
	uint32_t len, pairs;
	const uint8_t *row = row_keys_at(&s->rows, at, &len), *end = row + len, *p, *next, *value;
	struct field_name name;
	struct mp m;

	if (s->sep)
		nest_join(s, g, rules);
	uint8_t *w = run_room(out, 2 * MP_HEAD_MAX + len + group_room(g) + s->text.len);
	p = mp_head(row, end, &m);
	pairs = m.n;
	w = mp_put_record_head(w, pairs);
	for (uint32_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, end, &name, &value);
		bool own = fields_find(&s->fields, (const uint8_t *)name.name, name.len, 0) == 0;

		memcpy(w, p, (size_t)((own ? value : next) - p));
		w += (own ? value : next) - p;
		if (own && s->sep) {
			w = mp_put_text_head(w, (uint32_t)s->text.len);
			memcpy(w, s->text.len ? s->text.data : (const uint8_t *)"", s->text.len);
			w += s->text.len;
		} else if (own) {
			w = group_put(g, GROUP_LIST, w);
		}
	}
	run_done(out, w, 0);
}

static enum status
nest_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct nest *s = self->state;

	(void)e;
	for (; s->at < row_keys_count(&s->rows) && out->n < RUN_USUAL && !run_full(out); s->at++)
		nest_give(s, s->at, &self->ctx->json, out);
	return s->at >= row_keys_count(&s->rows) ? ST_END : ST_OK;
}

static void
nest_empty(struct nest *s)
{
	for (uint32_t k = 0; k < row_keys_count(&s->rows); k++)
		group_free(&s->lists[k], &s->cells);
	row_keys_clear(&s->rows);
	s->bytes = 0;
}

static void
nest_close(struct op_inst *self)
{
	struct nest *s = self->state;

	nest_empty(s);
	mem_free(s->lists);
	slab_clear(&s->cells);
	buf_clear(&s->key);
	buf_clear(&s->text);
	fields_forget(&s->fields);
}

static void
nest_save(struct op_inst *self, struct buf *out)
{
	struct nest *s = self->state;

	self->unsaved = nest_size(s) > NEST_STATE_MAX;
	state_put_u64(out, s->at);
	state_put_u64(out, row_keys_count(&s->rows));
	for (uint32_t k = 0; k < row_keys_count(&s->rows) && !self->unsaved; k++) {
		uint32_t len;
		const uint8_t *p = row_keys_at(&s->rows, k, &len);

		state_put_bytes(out, p, len);
		group_save(&s->lists[k], out);
	}
}

static enum status
nest_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct nest *s = self->state;
	struct state_in in = state_begin(p, n);
	struct mp m;
	size_t len;

	nest_empty(s);
	uint64_t at = state_get_u64(&in, KEY_TABLE_MAX), count = state_get_u64(&in, KEY_TABLE_MAX);
	for (uint64_t k = 0; k < count && !in.bad && state_get_value(&in, &p, &len); k++) {
		mp_head(p, p + len, &m);
		/* a record twice would get the memory of its list twice */
		uint32_t before = row_keys_count(&s->rows);
		struct group *g = m.kind == MP_RECORD ? nest_find(s, p, len) : NULL;
		in.bad = in.bad || !g || row_keys_count(&s->rows) == before;
		if (!in.bad)
			group_restore(g, false, GROUP_LIST, &in, &s->cells, &s->bytes);
	}
	s->at = at <= row_keys_count(&s->rows) ? (uint32_t)at : row_keys_count(&s->rows);
	return state_finish(self, &in, e);
}

const struct op_desc op_nest = {
	.name = "nest",
	.aliases = "implode",
	.brief = "joins records that differ in one field only, with a list of that field's values",
	.doc = "Records need not stand side by side; they come in the order in which the first of each appeared, "
	       "after the last element. The counterpart is unnest.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE,
	.params = nest_params,
	.state_size = sizeof(struct nest),
	.typing = nest_typing,
	.open = nest_open,
	.feed = nest_feed,
	.finish = nest_finish,
	.close = nest_close,
	.save = nest_save,
	.restore = nest_restore,
	.example = "elements [{id: 1, tag: \"a\"}, {id: 2, tag: \"c\"}, {id: 1, tag: \"b\"}] | nest tag",
	.output = "{\"id\":1,\"tag\":[\"a\",\"b\"]}\n{\"id\":2,\"tag\":[\"c\"]}\n",
};
