/* SPDX-License-Identifier: MIT
 * counter: integers without end.
 */
#include "op/kit/ints.h"

struct counter {
	int64_t start, step;
	struct ints_walk walk;
};

static const struct param counter_params[] = {
	{ "start", PARAM_INT, offsetof(struct counter, start), "0", .help = "the first number" },
	{ "step", PARAM_INT, offsetof(struct counter, step), "1",
	  .help = "the step from one number to the next; negative: count down; 0: "
		  "repeat the first" },
	{ 0 }
};

/* How many numbers there are until 64 bits are exceeded. */
static uint64_t
counter_count(const struct counter *c)
{
	if (c->step == 0)
		return UINT64_MAX;
	if (c->step > 0)
		return ((uint64_t)INT64_MAX - (uint64_t)c->start) / (uint64_t)c->step + 1;
	return ((uint64_t)c->start - (uint64_t)INT64_MIN) / (0 - (uint64_t)c->step) + 1;
}

static enum status
counter_typing(struct op_node *n, struct op_typing *t, const struct type **type, struct err *e)
{
	(void)n, (void)t, (void)e;
	*type = type_scalar(TYPE_INT);
	return ST_OK;
}

static enum status
counter_list(const struct op_node *n, struct split_list *out, struct err *e)
{
	(void)n, (void)e;
	ints_list(out, UINT64_MAX);
	return ST_OK;
}

static int64_t
counter_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n, (void)in;
	return INT64_MAX;
}

static enum status
counter_open(struct op_inst *self, struct err *e)
{
	struct counter *c = self->state;

	return ints_walk_open(self, &c->walk, UINT64_MAX, e);
}

static enum status
counter_ended(const struct counter *c, struct err *e)
{
	return err_set(e, ST_DATA, "counter has reached the %s integer of 64 bits",
		       c->step > 0 ? "largest" : "smallest");
}

static enum status
counter_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct counter *c = self->state;
	uint32_t n = ints_walk_some(&c->walk);
	uint64_t count = counter_count(c);

	if (n == 0)
		return ST_END;
	if (c->walk.at >= count)
		return counter_ended(c, e);
	if (n > count - c->walk.at)
		n = (uint32_t)(count - c->walk.at);
	ints_fill(out, ints_at(c->start, c->step, c->walk.at), c->step, n, (uint32_t)c->walk.at);
	c->walk.at += n;
	return ST_OK;
}

/* Where elements are read by index, another operator has set an end: take, zip. */
static enum status
counter_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	const struct counter *c = self->state;
	uint64_t count = counter_count(c);

	for (uint32_t i = 0; i < *k; i++)
		if (index[i] >= count)
			return counter_ended(c, e);
	ints_pick(out, c->start, c->step, index, *k);
	return ST_OK;
}

static enum status
counter_at_every(struct op_inst *self, uint64_t first, uint64_t stride, uint32_t *k, struct run *out,
		 struct err *e)
{
	const struct counter *c = self->state;
	uint64_t count = counter_count(c);

	if (first >= count)
		return counter_ended(c, e);
	if (*k > (count - 1 - first) / stride + 1)
		*k = (uint32_t)((count - 1 - first) / stride + 1);
	ints_every(out, c->start, c->step, first, stride, k);
	return ST_OK;
}

static const struct state_row counter_state[] = {
	{ &ints_walk_state, offsetof(struct counter, walk), 0 },
	{ 0 }
};

const struct op_desc op_counter = {
	.name = "counter",
	.brief = "integers without end",
	.doc = "START, START+STEP and so on, for ever; an operator after it, such as `take`, has "
	       "to end it. Beyond 64 bits it is an error, never a wrap.",
	.kind = OP_SOURCE,
	.params = counter_params,
	.state_size = sizeof(struct counter),
	.typing = counter_typing,
	.list = counter_list,
	.cardinality = counter_cardinality,
	.open = counter_open,
	.next = counter_next,
	.at = counter_at,
	.at_every = counter_at_every,
	.state_rows = counter_state,
	.example = "counter 5 10 | take 3",
	.output = "5\n15\n25\n",
};
