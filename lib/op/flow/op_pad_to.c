/* SPDX-License-Identifier: MIT
 * pad_to: adds elements at the end until there are N.
 */
#include "base/str.h"
#include "op/kit/expr_value.h"
#include "value/mp.h"

struct pad_to {
	int64_t n;
	struct buf value;
	uint64_t seen;
};

static const struct param pad_to_params[] = {
	{ "n", PARAM_INT, offsetof(struct pad_to, n), .min = 0, .max = INT64_MAX - 1,
	  .help = "the number of elements at the end" },
	{ "value", PARAM_VALUE, offsetof(struct pad_to, value), .flags = PARAM_OPTIONAL,
	  .help = "the value to add; null by default" },
	{ 0 }
};

static enum status
pad_to_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct pad_to *p = n->params;
	const struct type *x = n->in[0]->type;

	(void)e;
	*type = p->value.len ? type_join(t->arena, x,
					 type_of_value(t->arena, p->value.data, p->value.len))
			     : type_nullable(t->arena, x);
	return ST_OK;
}

static int64_t
pad_to_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct pad_to *p = n->params;

	(void)in;
	return p->n;
}

static enum status
pad_to_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct pad_to *p = self->state;

	(void)out;
	if (in->n > (uint64_t)p->n - p->seen) {
		err_set(e, ST_DATA, "there are more than %lld element%s", (long long)p->n,
			str_s((uint64_t)p->n));
		err_help(e, "`take %lld` before it leaves the rest out", (long long)p->n);
		return op_blame(self->node, e);
	}
	p->seen += in->n;
	self->give = self->in[0]->lent;
	return ST_OK;
}

static enum status
pad_to_finish(struct op_inst *self, struct run *out, struct err *e)
{
	static const uint8_t nil = 0xc0;
	struct pad_to *p = self->state;
	struct elem pad = { .p = &nil, .len = 1 };

	(void)e;
	if (p->value.len) /* lies in the plan's memory, which outlives every run */
		pad = (struct elem){ .p = p->value.data, .len = (uint32_t)p->value.len };
	for (; p->seen < (uint64_t)p->n && out->n < RUN_USUAL; p->seen++)
		run_push(out, pad);
	return p->seen < (uint64_t)p->n ? ST_OK : ST_END;
}

static const struct state_row pad_to_state[] = {
	{ &state_number, offsetof(struct pad_to, seen), offsetof(struct pad_to, n) },
	{ 0 }
};

const struct op_desc op_pad_to = {
	.name = "pad_to",
	.aliases = "pad_to_cardinality",
	.brief = "adds elements at the end until there are N",
	.doc = "The added elements are VALUE, or null. It is an error if there are more than "
	       "N elements.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.params = pad_to_params,
	.state_size = sizeof(struct pad_to),
	.typing = pad_to_typing,
	.cardinality = pad_to_cardinality,
	.feed = pad_to_feed,
	.finish = pad_to_finish,
	.state_rows = pad_to_state,
	.example = "range 2 | pad_to 4 -1",
	.output = "0\n1\n-1\n-1\n",
};
