/* SPDX-License-Identifier: MIT
 * choose: takes each element from the pipeline that another pipeline names.
 */
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_run.h"
#include "op/state.h"
#include "op/facts.h"
#include "op/pull.h"
#include "value/mp.h"

enum choose_stop { CHOOSE_ALL, CHOOSE_FIRST };
#define CHOOSE_NONE UINT64_MAX

struct choose {
	struct op_pipes pipes;
	struct op_node *by;
	int stop;
	struct op_inst *chain; /* the chain of by= */
	bool *ended;           /* which inputs have ended */
	size_t n_ended;
	uint64_t pick;   /* the input chosen but not given yet; CHOOSE_NONE: none */
	bool over;
};

static const struct param choose_params[] = {
	{ "pipelines", PARAM_PIPES, offsetof(struct choose, pipes), .flags = PARAM_REST,
	  .help = "the pipelines to choose from" },
	{ "by", PARAM_PIPE, offsetof(struct choose, by), .flags = PARAM_KEY_ONLY,
	  .help = "for each element, the number of a pipeline, from 0, or its name" },
	{ "stop", PARAM_CHOICE, offsetof(struct choose, stop), "first", .flags = PARAM_KEY_ONLY,
	  .choices = "all|first",
	  .help = "first: end when a chosen pipeline has ended; all: pass over such a choice" },
	{ 0 }
};

static enum status
choose_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct choose *c = n->params;
	const struct type *by = c->by->type;

	*type = n->n_in ? n->in[0]->type : type_scalar(TYPE_ANY);
	for (size_t k = 1; k < n->n_in; k++)
		*type = type_join(t->arena, *type, n->in[k]->type);
	if (type_fits(by, type_scalar(TYPE_INT))
	    || (c->pipes.names && type_fits(by, type_scalar(TYPE_TEXT))))
		return ST_OK;
	typed_fail(t, n, e, "by= must give numbers of pipelines, from 0%s",
		   c->pipes.names ? ", or their names" : "");
	err_help(e, "by=(range 2 | repeat) takes from two pipelines in turn");
	return ST_DATA;
}

static int64_t
choose_cardinality(const struct op_node *n, const int64_t *in)
{
	const struct choose *c = n->params;
	size_t endless = 0;

	for (size_t k = 0; k < n->n_in; k++)
		endless += in[k] == INT64_MAX;
	bool lasts = c->stop == CHOOSE_ALL ? endless > 0 : endless == n->n_in;
	return lasts && op_elements_of(c->by) == INT64_MAX ? INT64_MAX : -1;
}

static enum status
choose_check(const struct op_node *n, struct err *e)
{
	if (n->n_in)
		return ST_OK;
	err_set(e, ST_DATA, "choose needs pipelines to choose from");
	err_help(e, "choose (lines a.txt) (lines b.txt) by=(range 2 | repeat)");
	return ST_DATA;
}

static enum status
choose_open(struct op_inst *self, struct err *e)
{
	static const uint8_t nil = 0xc0;
	static const struct elem none = { .p = &nil, .len = 1 };
	struct choose *c = self->state;

	c->pick = CHOOSE_NONE;
	c->ended = mem_array(self->n_in + 1, sizeof *c->ended);
	return op_open_inner(c->by, self, self->outer ? self->outer : &none, &c->chain, e);
}

static enum status
choose_read(struct op_inst *self, const struct elem *x, struct err *e)
{
	struct choose *c = self->state;
	struct mp m;

	mp_head(x->p, x->p + x->len, &m);
	if (m.kind == MP_INT && m.u < c->pipes.n && (m.unsigned_big || m.i >= 0)) {
		c->pick = m.u;
		return ST_OK;
	}
	for (size_t k = 0; m.kind == MP_TEXT && c->pipes.names && k < c->pipes.n; k++) {
		if (strlen(c->pipes.names[k]) != m.n || memcmp(c->pipes.names[k], m.p, m.n))
			continue;
		c->pick = k;
		return ST_OK;
	}
	if (m.kind == MP_TEXT)
		err_set(e, ST_DATA, "by= chose `%.*s`, which is not the name of a pipeline",
			(int)(m.n < 60 ? m.n : 60), (const char *)m.p);
	else if (m.kind == MP_INT)
		err_set(e, ST_DATA, "by= chose %lld, but there are pipelines 0 to %zu",
			(long long)m.i, c->pipes.n - 1);
	else
		err_set(e, ST_DATA, "by= gave something that is not a number");
	return op_source_fault(self, NULL, 0, e);
}

/* Chooses the next input: ST_OK with pick set or, when on_error drops a bad choice, without. */
static enum status
choose_choose(struct op_inst *self, const struct run *out, struct err *e)
{
	struct choose *c = self->state;
	struct elem x;

	if (out->n && !op_ready(c->chain))
		return ST_AGAIN;
	enum status st = op_next(c->chain, &x, e);
	return st == ST_OK ? choose_read(self, &x, e) : st;
}

/* Notes that an input has ended. When all have, the operator ends, though by= may go on for
 * ever. */
static void
choose_ended(struct op_inst *self, uint64_t k)
{
	struct choose *c = self->state;

	c->n_ended += !c->ended[k];
	c->ended[k] = true;
	c->over = c->stop == CHOOSE_FIRST || c->n_ended == self->n_in;
}

static enum status
choose_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct choose *c = self->state;
	struct elem x;
	enum status st;

	while (out->n < RUN_USUAL && !run_full(out) && !c->over) {
		if (c->pick == CHOOSE_NONE) {
			st = choose_choose(self, out, e);
			if (st != ST_OK)
				return st == ST_AGAIN && out->n ? ST_OK : st;
			if (c->pick == CHOOSE_NONE)
				continue;
		}
		struct op_inst *in = self->in[c->pick];

		if (out->n && !op_ready(in))
			return ST_OK;
		st = op_next(in, &x, e);
		if (st == ST_END) {
			choose_ended(self, c->pick);
			c->pick = CHOOSE_NONE;
			continue;
		}
		if (st != ST_OK)
			return st == ST_AGAIN && out->n ? ST_OK : st;
		x.pos = 0;
		run_keep(out, x);
		c->pick = CHOOSE_NONE;
	}
	return c->over ? ST_END : ST_OK;
}

static void
choose_close(struct op_inst *self)
{
	struct choose *c = self->state;

	op_close(&c->chain);
	mem_free(c->ended);
}

static void
choose_save(struct op_inst *self, struct buf *out)
{
	struct choose *c = self->state;
	struct buf by = { 0 };

	state_put_u64(out, c->pick);
	state_put_u64(out, c->over);
	for (size_t k = 0; k < self->n_in; k++)
		state_put_u64(out, c->ended[k]);
	if (!op_state_save(c->chain, &by) || by.len > UINT32_MAX)
		self->unsaved = true;
	else
		state_put_bytes(out, by.data, by.len);
	buf_clear(&by);
}

static enum status
choose_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct choose *c = self->state;
	struct state_in in = state_begin(p, n);

	c->pick = state_get_u64(&in, UINT64_MAX);
	c->over = state_get_u64(&in, 1);
	c->n_ended = 0;
	for (size_t k = 0; k < self->n_in; k++)
		c->n_ended += c->ended[k] = state_get_u64(&in, 1);
	if (c->pick != CHOOSE_NONE && c->pick >= c->pipes.n)
		in.bad = true;
	if (!state_get_bytes(&in, &p, &n) || !state_ended(&in))
		return state_wrong(self, e);
	return op_state_restore(c->chain, p, n, e);
}

const struct op_desc op_choose = {
	.name = "choose",
	.aliases = "choose_from_datasets",
	.brief = "takes each element from the pipeline that another one names",
	.doc = "by= gives, for each element, the number of the pipeline to take it from, or its "
	       "name if the pipelines are given as name=(..). The output ends when by= ends, or "
	       "when a pipeline is chosen that has ended; stop=all passes over such a choice.",
	.kind = OP_COMBINE,
	.scope = OP_GLOBAL,
	.params = choose_params,
	.state_size = sizeof(struct choose),
	.typing = choose_typing,
	.cardinality = choose_cardinality,
	.check = choose_check,
	.open = choose_open,
	.next = choose_next,
	.close = choose_close,
	.save = choose_save,
	.restore = choose_restore,
	.example = "choose (elements [0, 2, 4]) (elements [1, 3]) by=(range 2 | repeat)",
	.output = "0\n1\n2\n3\n4\n",
};
