/* SPDX-License-Identifier: MIT
 * fill: replaces missing and null fields of records, by the value that the field had
 * last or by one value.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/kit/fields.h"
#include "op/state.h"
#include "value/mp.h"

struct fill {
	struct words names;
	struct buf with;
	bool empty;
	struct fields fields;
	struct buf *last;      /* down: the last value of each field; empty: none yet */
	const uint8_t **have;  /* values of the record at hand; NULL: it lacks the field */
	size_t *len;
	size_t grow;           /* bytes by which a record may grow, beside the values */
};

static const struct param fill_params[] = {
	{ "fields", PARAM_WORDS, offsetof(struct fill, names), .flags = PARAM_REST, .help = "the fields to fill" },
	{ "with", PARAM_VALUE, offsetof(struct fill, with), .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL,
	  .help = "the value to fill in, in place of the last one" },
	{ "empty", PARAM_BOOL, offsetof(struct fill, empty), "false", .flags = PARAM_KEY_ONLY,
	  .help = "fill empty texts, too" },
	{ 0 }
};

/* Only what is carried from record to record depends on their order. */
static enum op_scope
fill_scope(const struct op_node *n)
{
	const struct fill *f = n->params;

	return f->with.len ? OP_ELEMENT : OP_STREAM;
}

/* A field that was null may still be, until the first value has come. */
static const struct type *
fill_type(const struct fill *f, struct op_typing *t, const struct type *of)
{
	if (!f->with.len)
		return of;
	const struct type *with = type_of_value(t->arena, f->with.data, f->with.len), *rest = of;
	if (of->nullable)
		rest = of->kind == TYPE_LIST ? type_list(t->arena, of->item) :
		       of->kind == TYPE_RECORD ? type_record(t->arena, of->fields, of->n_fields, of->open) :
		       of->kind == TYPE_TENSOR ? type_tensor(t->arena, of->dtype, of->dims, of->n_dims) :
		       type_scalar(of->kind);
	return of->kind == TYPE_NIL ? with : type_join(t->arena, rest, with);
}

static enum status
fill_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct fill *s = n->params;
	const struct type *x = n->in[0]->type;
	struct fields f;
	enum status st = fields_read(&s->names, false, &f, e);
	struct type_field *v = mem_array(x->n_fields + 1, sizeof *v);

	*type = x;
	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	for (size_t i = 0; st == ST_OK && x->kind == TYPE_RECORD && i < x->n_fields; i++) {
		v[i] = x->fields[i];
		if (fields_find(&f, (const uint8_t *)v[i].name, (uint32_t)strlen(v[i].name), (uint32_t)i) >= 0)
			v[i].type = fill_type(s, t, v[i].type);
	}
	if (st == ST_OK && x->kind == TYPE_RECORD)
		*type = type_record(t->arena, v, x->n_fields, x->open);
	mem_free(v);
	fields_forget(&f);
	return st;
}

static int64_t
fill_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
fill_open(struct op_inst *self, struct err *e)
{
	struct fill *f = self->state;
	enum status st = fields_read(&f->names, false, &f->fields, e);

	if (st != ST_OK)
		return st;
	f->last = mem_zalloc((f->fields.n + 1) * sizeof *f->last);
	f->have = mem_zalloc((f->fields.n + 1) * sizeof *f->have);
	f->len = mem_zalloc((f->fields.n + 1) * sizeof *f->len);
	for (uint32_t i = 0; i < f->fields.n; i++) {
		f->grow += f->fields.v[i].len + MP_HEAD_MAX + 1;
		if (f->with.len)
			buf_put(&f->last[i], f->with.data, f->with.len);
	}
	return ST_OK;
}

static bool
fill_lacks(const struct fill *f, const uint8_t *p, size_t len)
{
	struct mp m;

	mp_head(p, p + len, &m);
	return m.kind == MP_NIL || (f->empty && m.kind == MP_TEXT && m.n == 0);
}

/* Finds the fields of a record: `have` is NULL where it has none. Gives whether any is to be filled. */
static bool
fill_look(struct fill *f, const struct elem *x, uint32_t pairs, const uint8_t *p)
{
	const uint8_t *end = x->p + x->len, *next, *value;
	struct field_name name;
	bool lacks = false;

	memset(f->have, 0, f->fields.n * sizeof *f->have);
	for (uint32_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, end, &name, &value);
		int at = fields_find(&f->fields, (const uint8_t *)name.name, name.len, k);

		if (at < 0)
			continue;
		f->have[at] = value;
		f->len[at] = (size_t)(next - value);
		if (fill_lacks(f, value, f->len[at])) {
			lacks = true;
		} else if (!f->with.len) {
			buf_reset(&f->last[at]);
			buf_put(&f->last[at], value, f->len[at]);
		}
	}
	for (uint32_t i = 0; i < f->fields.n; i++)
		lacks |= !f->have[i];
	return lacks;
}

static uint8_t *
fill_value(const struct fill *f, size_t i, uint8_t *w)
{
	if (!f->last[i].len)
		return mp_put_nil(w);
	memcpy(w, f->last[i].data, f->last[i].len);
	return w + f->last[i].len;
}

/* Writes the record with what is filled in; fields that it lacks come at its end. */
static void
fill_put(const struct fill *f, const struct elem *x, uint32_t pairs, const uint8_t *p, struct run *out)
{
	const uint8_t *end = x->p + x->len, *next, *value;
	size_t room = x->len + f->grow + MP_HEAD_MAX;
	struct field_name name;
	uint32_t n = pairs;

	for (uint32_t i = 0; i < f->fields.n; i++) {
		room += f->last[i].len;
		n += !f->have[i];
	}
	uint8_t *w = mp_put_record_head(run_room(out, room), n);
	for (uint32_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, end, &name, &value);
		int at = fields_find(&f->fields, (const uint8_t *)name.name, name.len, k);
		/* the last one counts, where a field is there twice */
		bool fills = at >= 0 && value == f->have[at] && fill_lacks(f, value, (size_t)(next - value));

		memcpy(w, p, (size_t)((fills ? value : next) - p));
		w += (fills ? value : next) - p;
		if (fills && (f->last[at].len || !f->empty))
			w = fill_value(f, (size_t)at, w);
		else if (fills) { /* nothing has come yet: it stays as it is */
			memcpy(w, value, (size_t)(next - value));
			w += next - value;
		}
	}
	for (uint32_t i = 0; i < f->fields.n; i++)
		if (!f->have[i])
			w = fill_value(f, i, mp_put_text(w, f->fields.v[i].name, f->fields.v[i].len));
	run_done(out, w, x->pos);
}

static enum status
fill_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct fill *f = self->state;
	enum status st = ST_OK;

	for (; st == ST_OK && self->at < in->n; self->at++) {
		const uint8_t *p;
		uint32_t pairs;

		if (run_full(out))
			return ST_AGAIN;
		if (!fields_record(self, in, self->at, out, &pairs, &p, &st, e))
			continue;
		if (fill_look(f, &in->e[self->at], pairs, p))
			fill_put(f, &in->e[self->at], pairs, p, out);
		else
			run_push(out, in->e[self->at]);
	}
	return st;
}

static void
fill_close(struct op_inst *self)
{
	struct fill *f = self->state;

	for (uint32_t i = 0; f->last && i < f->fields.n; i++)
		buf_clear(&f->last[i]);
	mem_free(f->last);
	mem_free(f->have);
	mem_free(f->len);
	fields_forget(&f->fields);
}

static void
fill_save(struct op_inst *self, struct buf *out)
{
	struct fill *f = self->state;

	for (uint32_t i = 0; i < f->fields.n && !f->with.len; i++)
		state_put_bytes(out, f->last[i].data, f->last[i].len);
}

static enum status
fill_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct fill *f = self->state;
	struct state_in in = state_begin(p, n);
	size_t len;

	for (uint32_t i = 0; i < f->fields.n && !f->with.len && state_get_bytes(&in, &p, &len); i++) {
		if (len && mp_check_next(p, p + len) != p + len)
			in.bad = true;
		buf_reset(&f->last[i]);
		if (len && !in.bad)
			buf_put(&f->last[i], p, len);
	}
	return state_finish(self, &in, e);
}

const struct op_desc op_fill = {
	.name = "fill",
	.brief = "fills missing and null fields of records, with the last value or a given one",
	.doc = "Without with= a field gets the value that it had last in an earlier record (fill down); before the first "
	       "value it stays null. A field that a record lacks is added at its end.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.scope_of = fill_scope,
	.params = fill_params,
	.state_size = sizeof(struct fill),
	.typing = fill_typing,
	.cardinality = fill_cardinality,
	.open = fill_open,
	.feed = fill_feed,
	.close = fill_close,
	.save = fill_save,
	.restore = fill_restore,
	.example = "elements [{day: \"mon\", n: 1}, {day: null, n: 2}, {day: \"tue\", n: 3}] | fill day",
	.output = "{\"day\":\"mon\",\"n\":1}\n{\"day\":\"mon\",\"n\":2}\n{\"day\":\"tue\",\"n\":3}\n",
};
