/* SPDX-License-Identifier: MIT
 * take_while: lets elements through up to the first for which a test is false;
 * that one and all behind it are not given.
 */
#include "op/kit/expr_run.h"
#include "value/mp.h"

struct take_while {
	struct op_expr test;
	struct expr_run run;
};

static const struct param take_while_params[] = {
	{ "test", PARAM_EXPR, offsetof(struct take_while, test),
	  .help = "the test; the elements end where it is first false" },
	{ 0 }
};

static enum status
take_while_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct take_while *w = n->params;

	*type = n->in[0]->type;
	return typed_test(n, t, &w->test, e);
}

static int64_t
take_while_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == 0 ? 0 : -1;
}

static enum status
take_while_open(struct op_inst *self, struct err *e)
{
	struct take_while *w = self->state;

	(void)e;
	expr_run_open(self, &w->run, &w->test);
	return ST_OK;
}

static enum status
take_while_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct take_while *w = self->state;
	const uint8_t *p;
	size_t len;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = expr_run_one(self, &w->run, in, i, out, &p, &len, e);

		if (st == ST_SKIP)
			continue;
		if (st != ST_OK)
			return st;
		if (*p != 0xc2 && *p != 0xc3) {
			st = expr_run_wrong(self, in, i, out, e,
					    "the test is neither true nor false");
			if (st != ST_OK)
				return st;
			continue;
		}
		if (*p == 0xc2) {
			self->done = true;
			return ST_OK;
		}
		run_push(out, in->e[i]);
	}
	return ST_OK;
}

static void
take_while_close(struct op_inst *self)
{
	struct take_while *w = self->state;

	expr_run_close(&w->run);
}

static const struct state_row take_while_state[] = {
	{ &expr_run_state, offsetof(struct take_while, run), 0 },
	{ 0 }
};

const struct op_desc op_take_while = {
	.name = "take_while",
	.brief = "keeps the elements up to the first for which a test is false",
	.doc = "Reads nothing after that element.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_CUTS | OP_PASSES | OP_BY_EXPR,
	.params = take_while_params,
	.state_size = sizeof(struct take_while),
	.typing = take_while_typing,
	.cardinality = take_while_cardinality,
	.open = take_while_open,
	.feed = take_while_feed,
	.close = take_while_close,
	.state_rows = take_while_state,
	.example = "range 100 | map x * x | take_while x < 20",
	.output = "0\n1\n4\n9\n16\n",
};
