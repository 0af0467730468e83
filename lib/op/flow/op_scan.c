/* SPDX-License-Identifier: MIT
 * scan: carries a state from element to element, and gives each new state.
 */
#include "op/kit/expr_run.h"
#include "op/state.h"

struct scan {
	struct buf init;
	struct op_expr expr;
	struct expr_run run;
	struct buf state; /* the state after the last run */
};

static const struct param scan_params[] = {
	{ "init", PARAM_VALUE, offsetof(struct scan, init), .help = "the state at the beginning" },
	{ "expr", PARAM_EXPR, offsetof(struct scan, expr),
	  .help = "the new state, computed from the state s and the element x" },
	{ 0 }
};

static enum status
scan_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	struct scan *s = n->params;
	enum status st = typed_fold(n, t, &s->expr, &s->init, type, e);

	if (st == ST_OK)
		*type = expr_type(s->expr.code);
	return st;
}

static int64_t
scan_cardinality(const struct op_node *n, const int64_t *in)
{
	return typed_one_each(n) ? in[0] : -1;
}

static enum status
scan_open(struct op_inst *self, struct err *e)
{
	struct scan *s = self->state;

	(void)e;
	expr_run_open(self, &s->run, &s->expr);
	buf_put(&s->state, s->init.data, s->init.len);
	expr_vm_set(s->run.vm, EXPR_S, s->state.data, s->state.len);
	return ST_OK;
}

/* Within a run, the state is the element given last, which lies in out. */
static enum status
scan_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct scan *s = self->state;
	struct elem last = { .p = NULL };
	enum status st = ST_OK, bad = ST_OK;

	uint32_t i = self->at;
	for (; bad == ST_OK && i < in->n && !run_full(out); i++) {
		st = expr_eval(s->run.vm, &in->e[i], out, e);
		if (st == ST_OK) {
			last = out->e[out->n - 1];
			expr_vm_set(s->run.vm, EXPR_S, last.p, last.len);
		} else if (st != ST_SKIP) {
			st = op_fault(self, in, i, out, e);
			if (st == ST_AGAIN)
				i--;
			else
				bad = st;
			expr_vm_set_index(s->run.vm, (int64_t)(s->run.seen + (i + 1 - self->at)));
		}
	}
	s->run.seen += i - self->at;
	self->at = i;
	if (last.p) {
		buf_reset(&s->state);
		buf_put(&s->state, last.p, last.len);
		expr_vm_set(s->run.vm, EXPR_S, s->state.data, s->state.len);
	}
	return bad == ST_OK && i < in->n ? ST_AGAIN : bad;
}

static void
scan_close(struct op_inst *self)
{
	struct scan *s = self->state;

	expr_run_close(&s->run);
	buf_clear(&s->state);
}

static void
scan_save(struct op_inst *self, struct buf *out)
{
	struct scan *s = self->state;

	state_put_u64(out, s->run.seen);
	buf_put(out, s->state.data, s->state.len);
}

static enum status
scan_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct scan *s = self->state;
	struct state_in in = state_begin(p, n);
	struct elem state;

	s->run.seen = state_get_u64(&in, INT64_MAX);
	if (!state_get_elem(&in, &state))
		return state_wrong(self, e);
	buf_reset(&s->state);
	buf_put(&s->state, state.p, state.len);
	expr_vm_set(s->run.vm, EXPR_S, s->state.data, s->state.len);
	expr_vm_set_index(s->run.vm, (int64_t)s->run.seen);
	return state_finish(self, &in, e);
}

const struct op_desc op_scan = {
	.name = "scan",
	.brief = "replaces each element by a state computed from all so far",
	.doc = "In the expression s is the state and x the element; its value becomes the new "
	       "state and the output. An element that is skipped leaves the state unchanged.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_BY_EXPR,
	.params = scan_params,
	.state_size = sizeof(struct scan),
	.typing = scan_typing,
	.cardinality = scan_cardinality,
	.open = scan_open,
	.feed = scan_feed,
	.close = scan_close,
	.save = scan_save,
	.restore = scan_restore,
	.example = "elements [3, 1, 5] | scan 0 s + x",
	.output = "3\n4\n9\n",
};
