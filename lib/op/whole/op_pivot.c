/* SPDX-License-Identifier: MIT
 * pivot: makes one record of those that agree in all fields but two, with a field for each
 * value of the first, whose value the second has: long tables become wide ones.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/kit/fields.h"
#include "op/state.h"
#include "op/whole/row_keys.h"
#include "value/json/json_print.h"
#include "value/mp.h"

enum { PIVOT_COLUMNS = 10000, PIVOT_STATE_MAX = 256 * 1024 * 1024 };

/* A value: its row and column are its number in `cells`. */
struct pivot_value {
	size_t at;
	uint32_t len;
};

struct pivot {
	char *name, *value;
	int64_t mem;
	struct fields fields;   /* the two */
	const struct json_rules *rules;
	struct row_keys rows;   /* records without the two fields */
	struct key_table columns; /* names, as encoded texts */
	struct key_table cells; /* row and column of each value, 4 bytes each */
	struct pivot_value *v;
	size_t cap;
	struct buf values;      /* encoded, end to end */
	struct buf row, column; /* scratch */
	uint32_t at;            /* in finish: the row to give next */
};

static const struct param pivot_params[] = {
	{ "name", PARAM_WORD, offsetof(struct pivot, name), .help = "the field whose values become names of fields" },
	{ "value", PARAM_WORD, offsetof(struct pivot, value), .help = "the field whose values these get" },
	{ "mem", PARAM_SIZE, offsetof(struct pivot, mem), "1G", .flags = PARAM_KEY_ONLY,
	  .min = 1, .max = INT64_MAX, .help = "bytes that the records may take" },
	{ 0 }
};

static enum status
pivot_fields(struct pivot *s, struct fields *f, struct err *e)
{
	char *both[] = { s->name, s->value };
	const struct words w = { .v = both, .n = 2 };

	return fields_read(&w, false, f, e);
}

static enum status
pivot_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct pivot *s = n->params;
	const struct type *x = n->in[0]->type;
	struct type_field *v = mem_array(x->n_fields + 1, sizeof *v);
	struct fields f;
	enum status st = pivot_fields(s, &f, e);
	size_t k = 0;

	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	for (size_t i = 0; st == ST_OK && x->kind == TYPE_RECORD && i < x->n_fields; i++)
		if (fields_find(&f, (const uint8_t *)x->fields[i].name, (uint32_t)strlen(x->fields[i].name), 0) < 0)
			v[k++] = x->fields[i];
	*type = type_record(t->arena, v, k, true);
	mem_free(v);
	fields_forget(&f);
	return st;
}

static enum status
pivot_open(struct op_inst *self, struct err *e)
{
	struct pivot *s = self->state;

	s->rules = &self->ctx->json;
	return pivot_fields(s, &s->fields, e);
}

/* Takes a record apart: the other pairs go into s->row, the encoded name into s->column. Gives
 * NULL, or what is wrong. */
static const char *
pivot_take(struct pivot *s, const struct elem *x, uint32_t pairs, const uint8_t *p, const uint8_t *own[2],
	   size_t len[2])
{
	const uint8_t *end = x->p + x->len, *next, *value, *v;
	uint8_t head[MP_HEAD_MAX];
	struct field_name name;
	struct buf text = { 0 };
	uint32_t others = 0;
	size_t n;

	own[0] = own[1] = NULL;
	buf_reset(&s->row);
	buf_room(&s->row, MP_HEAD_MAX + x->len);
	for (uint32_t k = 0; k < pairs; k++) {
		next = fields_pair(p, end, &name, &value);
		int at = fields_find(&s->fields, (const uint8_t *)name.name, name.len, 0);

		if (at < 0) {
			buf_put(&s->row, p, (size_t)(next - p));
			others++;
		} else {
			own[at] = value;
			len[at] = (size_t)(next - value);
		}
		p = next;
	}
	if (!own[0] || !own[1])
		return !own[0] ? "the record lacks the field of names" : "the record lacks the field of values";
	size_t h = (size_t)(mp_put_record_head(head, others) - head), body = s->row.len;
	buf_put(&s->row, head, h);
	memmove(s->row.data + h, s->row.data, body);
	memcpy(s->row.data, head, h);
	if (text_write(own[0], len[0], s->rules, &text, NULL) != ST_OK) {
		buf_clear(&text);
		return "the name holds text or numbers that JSON cannot hold";
	}
	if (text.len > UINT32_MAX / 2) {
		buf_clear(&text);
		return "the name is too long";
	}
	buf_reset(&s->column);
	buf_put(&s->column, head, (size_t)(mp_put_text_head(head, (uint32_t)text.len) - head));
	if (text.len)
		buf_put(&s->column, text.data, text.len);
	bool twice = mp_field(s->row.data, buf_end(&s->row), text.data ? (char *)text.data : "", text.len, &v, &n);
	buf_clear(&text);
	return twice ? "the record has another field of that name" : NULL;
}

/* Adds a value for a row and a column; false: there is one. */
static bool
pivot_add(struct pivot *s, uint32_t row, uint32_t column, const uint8_t *p, size_t len)
{
	uint32_t place[2] = { row, column };
	bool fresh;
	uint32_t at = key_table_add(&s->cells, (const uint8_t *)place, sizeof place, &fresh);

	if (!fresh)
		return false;
	s->v = mem_grow(s->v, &s->cap, (size_t)at + 1, sizeof *s->v);
	s->v[at] = (struct pivot_value){ s->values.len, (uint32_t)len };
	buf_put(&s->values, p, len);
	return true;
}

static const char *
pivot_one(struct pivot *s, const struct elem *x, uint32_t pairs, const uint8_t *p)
{
	const uint8_t *own[2];
	size_t len[2];
	bool fresh;
	const char *why = pivot_take(s, x, pairs, p, own, len);

	if (why)
		return why;
	if (s->columns.n >= PIVOT_COLUMNS &&
	    key_table_find(&s->columns, s->column.data, s->column.len) == KEY_TABLE_NONE)
		return "there are more than 10000 names";
	uint32_t row = row_keys_add(&s->rows, s->row.data, s->row.len, &fresh);
	uint32_t column = key_table_add(&s->columns, s->column.data, s->column.len, &fresh);
	return pivot_add(s, row, column, own[1], len[1]) ? NULL :
		"its row has a value of that name already (group_by gives one for each)";
}

static size_t
pivot_size(const struct pivot *s)
{
	return row_keys_size(&s->rows) + key_table_size(&s->columns) + key_table_size(&s->cells) +
	       s->cells.n * sizeof *s->v + s->values.len;
}

static enum status
pivot_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct pivot *s = self->state;
	enum status st = ST_OK;

	for (uint32_t i = 0; st == ST_OK && i < in->n; i++) {
		const uint8_t *p;
		uint32_t pairs;

		if (!fields_record(self, in, i, out, &pairs, &p, &st, e))
			continue;
		const char *why = pivot_one(s, &in->e[i], pairs, p);
		if (why)
			st = expr_run_wrong(self, in, i, out, e, "%s", why);
	}
	if (st != ST_OK)
		return st;
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	if (pivot_size(s) <= (size_t)s->mem)
		return ST_OK;
	err_set(e, ST_DATA, "%u records take more than mem=%lld bytes", row_keys_count(&s->rows), (long long)s->mem);
	err_help(e, "select the fields that are needed, or make mem= larger");
	return op_blame(self->node, e);
}

/* The value of a row and a column; NULL: there is none. */
static const struct pivot_value *
pivot_find(const struct pivot *s, uint32_t row, uint32_t column)
{
	uint32_t place[2] = { row, column }, at = key_table_find(&s->cells, (const uint8_t *)place, sizeof place);

	return at == KEY_TABLE_NONE ? NULL : &s->v[at];
}

/* A row with all columns, null where it has no value. */
static void
pivot_give(struct pivot *s, uint32_t row, struct run *out)
{
	uint32_t len, n;
	const uint8_t *p = row_keys_at(&s->rows, row, &len), *first;
	size_t room = len + 2 * MP_HEAD_MAX;
	struct mp m;

	for (uint32_t c = 0; c < s->columns.n; c++) {
		const struct pivot_value *v = pivot_find(s, row, c);

		key_table_at(&s->columns, c, &n);
		room += n + (v ? v->len : 1);
	}
	uint8_t *w = run_room(out, room);
	first = mp_head(p, p + len, &m);
	w = mp_put_record_head(w, m.n + s->columns.n);
	memcpy(w, first, (size_t)(p + len - first));
	w += p + len - first;
	for (uint32_t c = 0; c < s->columns.n; c++) {
		const struct pivot_value *v = pivot_find(s, row, c);
		const uint8_t *name = key_table_at(&s->columns, c, &n);

		memcpy(w, name, n);
		w += n;
		if (v)
			memcpy(w, s->values.data + v->at, v->len);
		w = v ? w + v->len : mp_put_nil(w);
	}
	run_done(out, w, 0);
}

static enum status
pivot_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct pivot *s = self->state;

	(void)e;
	for (; s->at < row_keys_count(&s->rows) && out->n < RUN_USUAL && !run_full(out); s->at++)
		pivot_give(s, s->at, out);
	return s->at >= row_keys_count(&s->rows) ? ST_END : ST_OK;
}

static void
pivot_empty(struct pivot *s)
{
	row_keys_clear(&s->rows);
	key_table_clear(&s->columns);
	key_table_clear(&s->cells);
	buf_reset(&s->values);
}

static void
pivot_close(struct op_inst *self)
{
	struct pivot *s = self->state;

	pivot_empty(s);
	mem_free(s->v);
	buf_clear(&s->values);
	buf_clear(&s->row);
	buf_clear(&s->column);
	fields_forget(&s->fields);
}

static void
pivot_save(struct op_inst *self, struct buf *out)
{
	struct pivot *s = self->state;
	uint32_t len;

	self->unsaved = pivot_size(s) > PIVOT_STATE_MAX;
	state_put_u64(out, s->at);
	state_put_u64(out, row_keys_count(&s->rows));
	for (uint32_t k = 0; k < row_keys_count(&s->rows) && !self->unsaved; k++) {
		const uint8_t *p = row_keys_at(&s->rows, k, &len);

		state_put_bytes(out, p, len);
	}
	state_put_u64(out, s->columns.n);
	for (uint32_t k = 0; k < s->columns.n && !self->unsaved; k++) {
		const uint8_t *p = key_table_at(&s->columns, k, &len);

		state_put_bytes(out, p, len);
	}
	state_put_u64(out, s->cells.n);
	for (uint32_t k = 0; k < s->cells.n && !self->unsaved; k++) {
		uint32_t place[2];

		memcpy(place, key_table_at(&s->cells, k, &len), sizeof place);
		state_put_u64(out, place[0]);
		state_put_u64(out, place[1]);
		state_put_bytes(out, s->values.data + s->v[k].at, s->v[k].len);
	}
}

/* Reads a value of this kind, which must be new to the table. */
static void
pivot_restore_key(struct state_in *in, enum mp_kind kind, struct row_keys *rows, struct key_table *columns)
{
	const uint8_t *p;
	bool fresh = false;
	struct mp m;
	size_t len;

	if (!state_get_value(in, &p, &len))
		return;
	mp_head(p, p + len, &m);
	if (m.kind == kind && rows)
		row_keys_add(rows, p, len, &fresh);
	else if (m.kind == kind)
		key_table_add(columns, p, len, &fresh);
	in->bad = in->bad || !fresh;
}

static enum status
pivot_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct pivot *s = self->state;
	struct state_in in = state_begin(p, n);
	size_t len;

	pivot_empty(s);
	uint64_t at = state_get_u64(&in, KEY_TABLE_MAX), count = state_get_u64(&in, KEY_TABLE_MAX);
	for (uint64_t k = 0; k < count && !in.bad; k++)
		pivot_restore_key(&in, MP_RECORD, &s->rows, NULL);
	count = state_get_u64(&in, PIVOT_COLUMNS);
	for (uint64_t k = 0; k < count && !in.bad; k++)
		pivot_restore_key(&in, MP_TEXT, NULL, &s->columns);
	count = state_get_u64(&in, KEY_TABLE_MAX);
	for (uint64_t k = 0; k < count && !in.bad; k++) {
		uint64_t row = state_get_u64(&in, KEY_TABLE_MAX), column = state_get_u64(&in, KEY_TABLE_MAX);

		if (row >= row_keys_count(&s->rows) || column >= s->columns.n || !state_get_value(&in, &p, &len) ||
		    !pivot_add(s, (uint32_t)row, (uint32_t)column, p, len))
			in.bad = true;
	}
	s->at = at <= row_keys_count(&s->rows) ? (uint32_t)at : row_keys_count(&s->rows);
	return state_finish(self, &in, e);
}

const struct op_desc op_pivot = {
	.name = "pivot",
	.brief = "turns a long table into a wide one: records that agree in all fields but two become one",
	.doc = "Each value of the field NAME becomes a field, which has the value of the field VALUE; null where "
	       "there is none. All records that come out have the same fields, in the order in which the names first "
	       "appeared, and come after the last element. The counterpart is unpivot.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE,
	.params = pivot_params,
	.state_size = sizeof(struct pivot),
	.typing = pivot_typing,
	.open = pivot_open,
	.feed = pivot_feed,
	.finish = pivot_finish,
	.close = pivot_close,
	.save = pivot_save,
	.restore = pivot_restore,
	.example = "elements [{id: 1, m: \"jan\", n: 3}, {id: 1, m: \"feb\", n: 5}, {id: 2, m: \"feb\", n: 7}] "
		   "| pivot m n",
	.output = "{\"id\":1,\"jan\":3,\"feb\":5}\n{\"id\":2,\"jan\":null,\"feb\":7}\n",
};
