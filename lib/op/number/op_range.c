/* SPDX-License-Identifier: MIT
 * range: the integers from START up to, not including, STOP.
 */
#include "op/kit/ints.h"
#include "value/mp.h"

enum range_type { RANGE_INT, RANGE_FLOAT };

struct range {
	int64_t start, stop, step;
	int type;
	struct ints_walk walk;
};

static const struct param range_params[] = {
	{ "start", PARAM_INT, offsetof(struct range, start),
	  .help = "the first number; a single number is `stop`, and counting starts at 0" },
	{ "stop", PARAM_INT, offsetof(struct range, stop), "auto", .flags = PARAM_ALLOW_AUTO,
	  .min = INT64_MIN + 1, .max = INT64_MAX, /* the smallest int64 is PARAM_AUTO */
	  .help = "where to end; this number itself is not given" },
	{ "step", PARAM_INT, offsetof(struct range, step), "1",
	  .help = "the step from one number to the next; negative: count down" },
	{ "type", PARAM_CHOICE, offsetof(struct range, type), "int", .flags = PARAM_KEY_ONLY,
	  .choices = "int|float", .help = "kind of the numbers" },
	{ 0 }
};

static int64_t
range_start(const struct range *r)
{
	return r->stop == PARAM_AUTO ? 0 : r->start;
}

static uint64_t
range_count(const struct range *r)
{
	return r->step == 0 ? 0 : ints_count(range_start(r), r->stop == PARAM_AUTO ? r->start : r->stop,
					     r->step);
}

static enum status
range_zero_step(struct err *e)
{
	err_set(e, ST_DATA, "range with step=0 would never end");
	err_help(e, "repeat gives one element for ever: elements [1] | repeat");
	return ST_DATA;
}

static enum status
range_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	const struct range *r = n->params;

	(void)t, (void)e;
	*type = type_scalar(r->type == RANGE_FLOAT ? TYPE_FLOAT : TYPE_INT);
	return ST_OK;
}

static enum status
range_check(const struct op_node *n, struct err *e)
{
	const struct range *r = n->params;

	return r->step == 0 ? range_zero_step(e) : ST_OK;
}

static enum status
range_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	(void)e;
	ints_list(out, range_count(n->params));
	return ST_OK;
}

static int64_t
range_cardinality(const struct op_node *n, const int64_t *in)
{
	uint64_t count = range_count(n->params);

	(void)in;
	return count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

static enum status
range_open(struct op_inst *self, struct err *e)
{
	struct range *r = self->state;

	/* Checked again, since a value that comes from an outer element is known only here. */
	if (r->step == 0)
		return range_zero_step(e);
	return ints_walk_open(self, &r->walk, range_count(r), e);
}

static void
range_float(const struct range *r, struct run *out, uint64_t index)
{
	uint8_t *p = run_room(out, MP_FLOAT_MAX);

	run_done(out, mp_put_float(p, (double)ints_at(range_start(r), r->step, index)), (uint32_t)index);
}

static void
range_floats(const struct range *r, struct run *out, uint64_t first, uint64_t stride, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		range_float(r, out, first + i * stride);
}

static enum status
range_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct range *r = self->state;
	uint32_t n = ints_walk_some(&r->walk);

	(void)e;
	if (n == 0)
		return ST_END;
	if (r->type == RANGE_FLOAT)
		range_floats(r, out, r->walk.at, 1, n);
	else
		ints_fill(out, ints_at(range_start(r), r->step, r->walk.at), r->step, n,
			  (uint32_t)r->walk.at);
	r->walk.at += n;
	return ST_OK;
}

static enum status
range_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	const struct range *r = self->state;

	(void)e;
	for (uint32_t i = 0; r->type == RANGE_FLOAT && i < *k; i++)
		range_float(r, out, index[i]);
	if (r->type != RANGE_FLOAT)
		ints_pick(out, range_start(r), r->step, index, *k);
	return ST_OK;
}

static enum status
range_at_every(struct op_inst *self, uint64_t first, uint64_t stride, uint32_t *k, struct run *out,
	       struct err *e)
{
	const struct range *r = self->state;

	(void)e;
	if (r->type == RANGE_FLOAT)
		range_floats(r, out, first, stride, *k);
	else
		ints_every(out, range_start(r), r->step, first, stride, k);
	return ST_OK;
}

static const struct state_row range_state[] = {
	{ &ints_walk_state, offsetof(struct range, walk), 0 },
	{ 0 }
};

const struct op_desc op_range = {
	.name = "range",
	.brief = "integers from START up to STOP",
	.doc = "`range STOP` counts from 0; `range START STOP [STEP]` sets the start and the step. "
	       "STOP itself is not given. With a negative STEP it counts down. If STOP is START, "
	       "or lies in the other direction, there are no elements.",
	.kind = OP_SOURCE,
	.params = range_params,
	.state_size = sizeof(struct range),
	.typing = range_typing,
	.check = range_check,
	.list = range_list,
	.cardinality = range_cardinality,
	.open = range_open,
	.next = range_next,
	.at = range_at,
	.at_every = range_at_every,
	.state_rows = range_state,
	.example = "range 10 0 -3",
	.output = "10\n7\n4\n1\n",
};
