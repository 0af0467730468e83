/* SPDX-License-Identifier: MIT
 * drop: takes the named fields out of each record.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/fields.h"
#include "value/mp.h"

struct drop {
	struct words names;
	struct fields fields;
};

static const struct param drop_params[] = {
	{ "fields", PARAM_WORDS, offsetof(struct drop, names), .flags = PARAM_REST,
	  .help = "names of the fields to leave out" },
	{ 0 }
};

static enum status
drop_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct drop *d = n->params;
	const struct type *x = n->in[0]->type;
	struct fields f;
	enum status st = fields_read(&d->names, false, &f, e);

	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	*type = x;
	if (st == ST_OK && x->kind == TYPE_RECORD) {
		struct type_field *v = mem_array(x->n_fields + 1, sizeof *v);
		size_t k = 0;

		for (size_t i = 0; i < x->n_fields; i++)
			if (fields_find(&f, (const uint8_t *)x->fields[i].name,
					(uint32_t)strlen(x->fields[i].name), 0) < 0)
				v[k++] = x->fields[i];
		*type = type_record(t->arena, v, k, x->open);
		mem_free(v);
	}
	fields_forget(&f);
	return st;
}

static int64_t
drop_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
drop_open(struct op_inst *self, struct err *e)
{
	struct drop *d = self->state;

	return fields_read(&d->names, false, &d->fields, e);
}

/* Copies the pairs that stay, adjacent ones in one piece. */
static void
drop_write(const struct fields *f, const struct elem *x, uint32_t pairs, const uint8_t *p,
	   struct run *out)
{
	const uint8_t *end = x->p + x->len, *from = p, *next, *value;
	uint8_t *body = run_room(out, MP_HEAD_MAX + x->len) + MP_HEAD_MAX, *w = body, head[MP_HEAD_MAX];
	struct field_name name;
	uint32_t stay = 0;

	for (uint32_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, end, &name, &value);
		if (fields_find(f, (const uint8_t *)name.name, name.len, 0) < 0) {
			stay++;
			continue;
		}
		memcpy(w, from, (size_t)(p - from));
		w += p - from;
		from = next;
	}
	memcpy(w, from, (size_t)(p - from));
	w += p - from;
	/* The head is written last, since the number of pairs is known only then. */
	size_t n = (size_t)(mp_put_record_head(head, stay) - head);
	memcpy(body - MP_HEAD_MAX, head, n);
	memmove(body - MP_HEAD_MAX + n, body, (size_t)(w - body));
	run_done(out, body - MP_HEAD_MAX + n + (w - body), x->pos);
}

static enum status
drop_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct drop *d = self->state;
	enum status st = ST_OK;

	for (uint32_t i = 0; st == ST_OK && i < in->n; i++) {
		const uint8_t *p;
		uint32_t pairs;

		if (fields_record(self, in, i, out, &pairs, &p, &st, e))
			drop_write(&d->fields, &in->e[i], pairs, p, out);
	}
	return st;
}

static void
drop_close(struct op_inst *self)
{
	struct drop *d = self->state;

	fields_forget(&d->fields);
}

const struct op_desc op_drop = {
	.name = "drop",
	.brief = "removes fields from records",
	.doc = "It is not a mistake to name a field that a record lacks, unless the types show that "
	       "no record has it. Names may begin with a dot.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_EACH,
	.params = drop_params,
	.state_size = sizeof(struct drop),
	.typing = drop_typing,
	.cardinality = drop_cardinality,
	.open = drop_open,
	.feed = drop_feed,
	.close = drop_close,
	.example = "elements [{id: 7, name: \"ann\", age: 30}] | drop age id",
	.output = "{\"name\":\"ann\"}\n",
};
