/* SPDX-License-Identifier: MIT
 * rename: gives fields of each record other names.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/kit/fields.h"
#include "value/mp.h"

struct rename {
	struct words names;
	struct fields fields;
	size_t grow; /* bytes by which a record may grow */
};

static const struct param rename_params[] = {
	{ "fields", PARAM_WORDS, offsetof(struct rename, names), .flags = PARAM_REST,
	  .help = "old:new, for each field to rename" },
	{ 0 }
};

static enum status
rename_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct rename *r = n->params;
	const struct type *x = n->in[0]->type;
	struct fields f;
	enum status st = fields_read(&r->names, true, &f, e);

	if (st == ST_OK)
		st = fields_typing(n, t, &f, true, e);
	*type = x;
	if (st == ST_OK && x->kind == TYPE_RECORD) {
		struct type_field *v = mem_array(x->n_fields + 1, sizeof *v);

		for (size_t i = 0; st == ST_OK && i < x->n_fields; i++) {
			int at = fields_find(&f, (const uint8_t *)x->fields[i].name,
					     (uint32_t)strlen(x->fields[i].name), (uint32_t)i);

			v[i] = x->fields[i];
			if (at >= 0)
				v[i].name = f.v[at].to;
			for (size_t k = 0; k < i; k++)
				if (!strcmp(v[k].name, v[i].name))
					st = typed_fail(t, n, e, "two fields would be named `%.60s`",
							v[i].name);
		}
		if (st == ST_OK)
			*type = type_record(t->arena, v, x->n_fields, x->open);
		mem_free(v);
	}
	fields_forget(&f);
	return st;
}

static int64_t
rename_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
rename_open(struct op_inst *self, struct err *e)
{
	struct rename *r = self->state;
	enum status st = fields_read(&r->names, true, &r->fields, e);

	for (uint32_t i = 0; st == ST_OK && i < r->fields.n; i++)
		r->grow += r->fields.v[i].to_len + MP_HEAD_MAX;
	return st;
}

static void
rename_write(const struct rename *r, const struct elem *x, uint32_t pairs, const uint8_t *p,
	     struct run *out)
{
	const uint8_t *end = x->p + x->len, *next, *value;
	uint8_t *w = run_room(out, x->len + r->grow + MP_HEAD_MAX);
	struct field_name name;

	w = mp_put_record_head(w, pairs);
	for (uint32_t k = 0; k < pairs; k++, p = next) {
		next = fields_pair(p, end, &name, &value);
		int at = fields_find(&r->fields, (const uint8_t *)name.name, name.len, k);

		if (at >= 0) {
			w = mp_put_text(w, r->fields.v[at].to, r->fields.v[at].to_len);
			p = value;
		}
		memcpy(w, p, (size_t)(next - p));
		w += next - p;
	}
	run_done(out, w, x->pos);
}

static enum status
rename_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct rename *r = self->state;
	enum status st = ST_OK;

	for (uint32_t i = 0; st == ST_OK && i < in->n; i++) {
		const uint8_t *p;
		uint32_t pairs;

		if (fields_record(self, in, i, out, &pairs, &p, &st, e))
			rename_write(r, &in->e[i], pairs, p, out);
	}
	return st;
}

static void
rename_close(struct op_inst *self)
{
	struct rename *r = self->state;

	fields_forget(&r->fields);
}

const struct op_desc op_rename = {
	.name = "rename",
	.brief = "renames fields of records",
	.doc = "The fields keep their places. It is not a mistake to name a field that a record "
	       "lacks, unless the types show that no record has it.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_EACH,
	.params = rename_params,
	.state_size = sizeof(struct rename),
	.typing = rename_typing,
	.cardinality = rename_cardinality,
	.open = rename_open,
	.feed = rename_feed,
	.close = rename_close,
	.example = "elements [{usr: \"ann\", n: 3}] | rename usr:user",
	.output = "{\"user\":\"ann\",\"n\":3}\n",
};
