/* SPDX-License-Identifier: MIT
 * unpivot: gives a record for each of the named fields, with the field's name and
 * its value as fields: wide tables become long ones.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/kit/fields.h"
#include "op/state.h"
#include "value/mp.h"

enum { UNPIVOT_RUN = 4096 };

struct unpivot {
	struct words names;
	char *name, *value;
	struct fields fields;
	size_t grow;     /* bytes by which a record may grow */
	uint64_t given;  /* pairs of the element at self->at looked at so far */
};

static const struct param unpivot_params[] = {
	{ "fields", PARAM_WORDS, offsetof(struct unpivot, names), .flags = PARAM_REST,
	  .help = "the fields to give one by one" },
	{ "name", PARAM_WORD, offsetof(struct unpivot, name), "name", .flags = PARAM_KEY_ONLY,
	  .help = "field for the name of the field" },
	{ "value", PARAM_WORD, offsetof(struct unpivot, value), "value", .flags = PARAM_KEY_ONLY,
	  .help = "field for its value" },
	{ 0 }
};

/* The fields that stay, and the two new ones. */
static enum status
unpivot_type(struct op_node *n, struct op_typing *t, const struct fields *f, const struct type **type,
	     struct err *e)
{
	const struct unpivot *u = n->params;
	const struct type *x = n->in[0]->type, *value = NULL;
	struct type_field *v = mem_array(x->n_fields + 2, sizeof *v);
	enum status st = ST_OK;
	size_t k = 0;

	for (size_t i = 0; i < x->n_fields; i++) {
		const struct type_field *own = &x->fields[i];

		if (fields_find(f, (const uint8_t *)own->name, (uint32_t)strlen(own->name), (uint32_t)i) >= 0)
			value = value ? type_join(t->arena, value, own->type) : own->type;
		else
			v[k++] = *own;
	}
	for (size_t i = 0; i < k && st == ST_OK; i++)
		if (!strcmp(v[i].name, u->name) || !strcmp(v[i].name, u->value)) {
			st = typed_fail(t, n, e, "two fields would be named `%.60s`", v[i].name);
			err_help(e, "name= and value= give the new fields other names");
		}
	if (x->open || !value)
		value = type_scalar(TYPE_ANY);
	v[k] = (struct type_field){ u->name, type_scalar(TYPE_TEXT) };
	v[k + 1] = (struct type_field){ u->value, value };
	*type = type_record(t->arena, v, k + 2, x->open);
	mem_free(v);
	return st;
}

static enum status
unpivot_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct unpivot *u = n->params;
	struct fields f;
	enum status st = fields_read(&u->names, false, &f, e);

	*type = type_scalar(TYPE_ANY);
	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	if (st == ST_OK && !strcmp(u->name, u->value))
		st = typed_fail(t, n, e, "name= and value= are the same");
	if (st == ST_OK && n->in[0]->type->kind == TYPE_RECORD)
		st = unpivot_type(n, t, &f, type, e);
	fields_forget(&f);
	return st;
}

static enum status
unpivot_open(struct op_inst *self, struct err *e)
{
	struct unpivot *u = self->state;

	u->grow = strlen(u->name) + strlen(u->value) + 4 * MP_HEAD_MAX;
	return fields_read(&u->names, false, &u->fields, e);
}

/* Writes the record of one field, whose pair is from `key` to `next`. */
static void
unpivot_put(const struct unpivot *u, const struct elem *x, uint32_t pairs, const uint8_t *first, const uint8_t *key,
	    const uint8_t *value, const uint8_t *next, struct run *out)
{
	const uint8_t *end = x->p + x->len, *p = first, *after, *v;
	uint8_t *to = run_room(out, x->len + u->grow), *w = to + MP_HEAD_MAX, head[MP_HEAD_MAX];
	struct field_name name;
	uint32_t n = 2;

	for (uint32_t k = 0; k < pairs; k++, p = after) {
		after = fields_pair(p, end, &name, &v);
		if (fields_find(&u->fields, (const uint8_t *)name.name, name.len, k) >= 0)
			continue;
		memcpy(w, p, (size_t)(after - p));
		w += after - p;
		n++;
	}
	w = mp_put_text(w, u->name, (uint32_t)strlen(u->name));
	memcpy(w, key, (size_t)(value - key));
	w += value - key;
	w = mp_put_text(w, u->value, (uint32_t)strlen(u->value));
	memcpy(w, value, (size_t)(next - value));
	w += next - value;
	/* The head is written last, since the number of pairs is known only then. */
	size_t h = (size_t)(mp_put_record_head(head, n) - head);
	memcpy(to, head, h);
	memmove(to + h, to + MP_HEAD_MAX, (size_t)(w - to) - MP_HEAD_MAX);
	run_done(out, w - MP_HEAD_MAX + h, x->pos);
}

/* Gives the fields of one element from u->given on; false: the run is full. */
static bool
unpivot_give(struct unpivot *u, const struct elem *x, uint32_t pairs, const uint8_t *first, struct run *out)
{
	const uint8_t *p = first, *next, *value;
	struct field_name name;

	for (uint64_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, x->p + x->len, &name, &value);
		if (k < u->given)
			continue;
		if (out->n >= UNPIVOT_RUN || run_full(out))
			return false;
		if (fields_find(&u->fields, (const uint8_t *)name.name, name.len, (uint32_t)k) >= 0)
			unpivot_put(u, x, pairs, first, p, value, next, out);
		u->given++;
	}
	return true;
}

static enum status
unpivot_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct unpivot *u = self->state;

	for (; self->at < in->n; self->at++) {
		enum status st = ST_OK;
		const uint8_t *p;
		uint32_t pairs;

		if (!fields_record(self, in, self->at, out, &pairs, &p, &st, e)) {
			if (st != ST_OK)
				return st;
			continue;
		}
		if (!unpivot_give(u, &in->e[self->at], pairs, p, out))
			return ST_AGAIN;
		u->given = 0;
	}
	return ST_OK;
}

static void
unpivot_close(struct op_inst *self)
{
	struct unpivot *u = self->state;

	fields_forget(&u->fields);
}

static const struct state_row unpivot_state[] = {
	{ &state_number, offsetof(struct unpivot, given), 0 },
	{ 0 }
};

const struct op_desc op_unpivot = {
	.name = "unpivot",
	.brief = "gives a record for each of the named fields: wide tables become long",
	.doc = "The other fields are repeated; a field that a record lacks gives nothing. The counterpart is pivot.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.params = unpivot_params,
	.state_size = sizeof(struct unpivot),
	.typing = unpivot_typing,
	.open = unpivot_open,
	.feed = unpivot_feed,
	.close = unpivot_close,
	.state_rows = unpivot_state,
	.example = "elements [{id: 1, jan: 3, feb: 5}] | unpivot jan feb name=month value=n",
	.output = "{\"id\":1,\"month\":\"jan\",\"n\":3}\n{\"id\":1,\"month\":\"feb\",\"n\":5}\n",
};
