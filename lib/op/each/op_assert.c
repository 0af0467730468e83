/* SPDX-License-Identifier: MIT
 * assert: passes elements on, and makes an error of each for which a test is false.
 */
#include "op/kit/expr_run.h"
#include "value/mp.h"

struct assert {
	struct op_expr test;
	char *message;
	struct expr_run run;
};

static const struct param assert_params[] = {
	{ "test", PARAM_EXPR, offsetof(struct assert, test),
	  .help = "the test that each element must pass" },
	{ "message", PARAM_WORD, offsetof(struct assert, message),
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL, .help = "the error message" },
	{ 0 }
};

static enum status
assert_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct assert *a = n->params;

	*type = n->in[0]->type;
	return typed_test(n, t, &a->test, e);
}

static int64_t
assert_cardinality(const struct op_node *n, const int64_t *in)
{
	return n->on_error == OP_SKIP ? -1 : in[0];
}

static enum status
assert_open(struct op_inst *self, struct err *e)
{
	struct assert *a = self->state;

	(void)e;
	expr_run_open(self, &a->run, &a->test);
	return ST_OK;
}

static enum status
assert_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct assert *a = self->state;
	const uint8_t *p;
	size_t len;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = expr_run_one(self, &a->run, in, i, out, &p, &len, e);

		if (st == ST_SKIP)
			continue;
		if (st == ST_OK && *p != 0xc3)
			st = expr_run_wrong(self, in, i, out, e, "%s",
					    a->message ? a->message : "the test is not true");
		else if (st == ST_OK)
			run_push(out, in->e[i]);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

static void
assert_close(struct op_inst *self)
{
	struct assert *a = self->state;

	expr_run_close(&a->run);
}

static const struct state_row assert_state[] = {
	{ &expr_run_state, offsetof(struct assert, run), 0 },
	{ 0 }
};

const struct op_desc op_assert = {
	.name = "assert",
	.brief = "treats elements for which a test is false as errors",
	.doc = "By default such an error ends the run; on_error=skip drops these elements and "
	       "counts them.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EACH,
	.params = assert_params,
	.state_size = sizeof(struct assert),
	.typing = assert_typing,
	.cardinality = assert_cardinality,
	.open = assert_open,
	.feed = assert_feed,
	.close = assert_close,
	.state_rows = assert_state,
	.example = "range 3 | assert x < 10",
	.output = "0\n1\n2\n",
};
