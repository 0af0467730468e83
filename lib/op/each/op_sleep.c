/* SPDX-License-Identifier: MIT
 * sleep: waits before each element. For tests, and to see what slow work does.
 */
#include "base/clock.h"
#include "op/kit/pace.h"

struct sleep {
	int64_t ns;
	int64_t until; /* end of the current wait; 0: no element is waiting */
};

static const struct param sleep_params[] = {
	{ "time", PARAM_DURATION, offsetof(struct sleep, ns), .min = 0, .max = INT64_MAX / 2,
	  .help = "how long to wait before each element" },
	{ 0 }
};

static int64_t
sleep_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

static enum status
sleep_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct sleep *s = self->state;

	(void)e;
	if (!s->until)
		s->until = clock_mono_ns() + s->ns;
	if (pace_wait(self, s->until) != ST_OK)
		return ST_AGAIN;
	s->until = 0;
	run_push(out, in->e[self->at++]);
	return self->at < in->n ? ST_AGAIN : ST_OK;
}

const struct op_desc op_sleep = {
	.name = "sleep",
	.brief = "waits before each element",
	.doc = "Simulates slow work, for tests and demonstrations.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EACH,
	.params = sleep_params,
	.state_size = sizeof(struct sleep),
	.cardinality = sleep_cardinality,
	.feed = sleep_feed,
	.example = "range 3 | sleep 1ms",
	.output = "0\n1\n2\n",
};
