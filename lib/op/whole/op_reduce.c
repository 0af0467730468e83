/* SPDX-License-Identifier: MIT
 * reduce: carries a state over all elements and gives it at the end.
 */
#include "op/kit/expr_run.h"
#include "op/state.h"

struct reduce {
	struct buf init;
	struct op_expr expr;
	struct expr_run run;
	struct buf state[2]; /* used in turn, since the new state is computed from the old one */
	int now;
};

static const struct param reduce_params[] = {
	{ "init", PARAM_VALUE, offsetof(struct reduce, init),
	  .help = "the state at the beginning" },
	{ "expr", PARAM_EXPR, offsetof(struct reduce, expr),
	  .help = "the new state, computed from the state s and the element x" },
	{ 0 }
};

static enum status
reduce_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct reduce *r = n->params;

	return typed_fold(n, t, &r->expr, &r->init, type, e);
}

static int64_t
reduce_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0] == INT64_MAX ? in[0] : 1;
}

static void
reduce_set(struct reduce *r, const uint8_t *p, size_t len)
{
	struct buf *b = &r->state[!r->now];

	buf_reset(b);
	buf_put(b, p, len);
	r->now = !r->now;
	expr_vm_set(r->run.vm, EXPR_S, b->data, b->len);
}

static enum status
reduce_open(struct op_inst *self, struct err *e)
{
	struct reduce *r = self->state;

	(void)e;
	expr_run_open(self, &r->run, &r->expr);
	reduce_set(r, r->init.data, r->init.len);
	return ST_OK;
}

static enum status
reduce_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct reduce *r = self->state;
	const uint8_t *p;
	size_t len;

	for (uint32_t i = 0; i < in->n; i++) {
		enum status st = expr_run_one(self, &r->run, in, i, out, &p, &len, e);

		if (st == ST_OK)
			reduce_set(r, p, len);
		else if (st != ST_SKIP)
			return st;
	}
	out->n = 0; /* with on_error=keep, an element that fails here has no place in the output */
	return ST_OK;
}

static enum status
reduce_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct reduce *r = self->state;
	const struct buf *b = &r->state[r->now];

	(void)e;
	run_keep(out, (struct elem){ .p = b->data, .len = (uint32_t)b->len });
	return ST_END;
}

static void
reduce_close(struct op_inst *self)
{
	struct reduce *r = self->state;

	expr_run_close(&r->run);
	buf_clear(&r->state[0]);
	buf_clear(&r->state[1]);
}

static void
reduce_save(struct op_inst *self, struct buf *out)
{
	struct reduce *r = self->state;

	state_put_u64(out, r->run.seen);
	buf_put(out, r->state[r->now].data, r->state[r->now].len);
}

static enum status
reduce_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct reduce *r = self->state;
	struct state_in in = state_begin(p, n);
	struct elem state;

	r->run.seen = state_get_u64(&in, INT64_MAX);
	if (state_get_elem(&in, &state))
		reduce_set(r, state.p, state.len);
	expr_vm_set_index(r->run.vm, (int64_t)r->run.seen);
	return state_finish(self, &in, e);
}

const struct op_desc op_reduce = {
	.name = "reduce",
	.aliases = "fold",
	.brief = "combines all elements into one value",
	.doc = "In the expression s is the state and x the element; its value becomes the new "
	       "state. The last state is given after the last element.",
	.kind = OP_TRANSFORM,
	.scope = OP_GLOBAL,
	.flags = OP_WHOLE | OP_BY_EXPR,
	.params = reduce_params,
	.state_size = sizeof(struct reduce),
	.typing = reduce_typing,
	.cardinality = reduce_cardinality,
	.open = reduce_open,
	.feed = reduce_feed,
	.finish = reduce_finish,
	.close = reduce_close,
	.save = reduce_save,
	.restore = reduce_restore,
	.example = "range 101 | reduce 0 s + x",
	.output = "5050\n",
};
