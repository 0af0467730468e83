/* SPDX-License-Identifier: MIT
 * select: makes each record smaller, down to the fields that are named.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/fields.h"
#include "value/mp.h"

struct select {
	struct words names;
	struct fields fields;
	const uint8_t **at; /* where each field's value is in the record at hand; NULL: absent */
	uint32_t *len;
};

static const struct param select_params[] = {
	{ "fields", PARAM_WORDS, offsetof(struct select, names), .flags = PARAM_REST,
	  .help = "names of the fields to keep, in the order of the result" },
	{ 0 }
};

static enum status
select_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct select *s = n->params;
	const struct type *x = n->in[0]->type;
	struct fields f;
	enum status st = fields_read(&s->names, false, &f, e);

	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	if (st == ST_OK) {
		struct type_field *v = mem_array(f.n + 1, sizeof *v);

		for (uint32_t i = 0; i < f.n; i++)
			v[i] = (struct type_field){ f.v[i].name,
				x->kind == TYPE_RECORD ? type_field_get(x, f.v[i].name, f.v[i].len)
						       : type_scalar(TYPE_ANY) };
		*type = type_record(t->arena, v, f.n, false);
		mem_free(v);
	}
	fields_forget(&f);
	return st;
}

static int64_t
select_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
select_open(struct op_inst *self, struct err *e)
{
	struct select *s = self->state;
	enum status st = fields_read(&s->names, false, &s->fields, e);

	s->at = mem_array(s->fields.n + 1, sizeof *s->at);
	s->len = mem_array(s->fields.n + 1, sizeof *s->len);
	return st;
}

static void
select_write(struct select *s, const struct elem *x, struct run *out)
{
	const struct fields *f = &s->fields;
	size_t need = MP_HEAD_MAX + x->len;

	for (uint32_t k = 0; k < f->n; k++)
		need += MP_HEAD_MAX + f->v[k].len + 1;
	uint8_t *p = mp_put_record_head(run_room(out, need), f->n);
	for (uint32_t k = 0; k < f->n; k++) {
		p = mp_put_text(p, f->v[k].name, f->v[k].len);
		if (!s->at[k]) {
			p = mp_put_nil(p);
			continue;
		}
		memcpy(p, s->at[k], s->len[k]);
		p += s->len[k];
	}
	run_done(out, p, x->pos);
}

static enum status
select_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct select *s = self->state;
	enum status st = ST_OK;

	for (uint32_t i = 0; st == ST_OK && i < in->n; i++) {
		const uint8_t *p, *value, *next, *end = in->e[i].p + in->e[i].len;
		uint32_t pairs, near = 0;
		struct field_name name;

		if (!fields_record(self, in, i, out, &pairs, &p, &st, e))
			continue;
		memset(s->at, 0, s->fields.n * sizeof *s->at);
		for (uint32_t k = 0; k < pairs; k++, p = next) {
			next = fields_pair(p, end, &name, &value);
			int at = fields_find(&s->fields, (const uint8_t *)name.name, name.len, near);

			if (at < 0)
				continue;
			near = (uint32_t)at + 1;
			s->at[at] = value;
			s->len[at] = (uint32_t)(next - value);
		}
		select_write(s, &in->e[i], out);
	}
	return st;
}

static void
select_close(struct op_inst *self)
{
	struct select *s = self->state;

	fields_forget(&s->fields);
	mem_free(s->at);
	mem_free(s->len);
}

const struct op_desc op_select = {
	.name = "select",
	.brief = "keeps only the named fields of records",
	.doc = "The fields come in the order in which they are named; a field that a record lacks "
	       "is null. Names may begin with a dot.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_EACH,
	.params = select_params,
	.state_size = sizeof(struct select),
	.typing = select_typing,
	.cardinality = select_cardinality,
	.open = select_open,
	.feed = select_feed,
	.close = select_close,
	.example = "elements [{id: 7, name: \"ann\", age: 30}] | select name id",
	.output = "{\"name\":\"ann\",\"id\":7}\n",
};
