/* SPDX-License-Identifier: MIT
 * rate: passes elements on, at most N of them, or N bytes, a second.
 *
 * What is due is given at once, so fast rates cost one wait for many elements.
 */
#include "base/clock.h"
#include "op/kit/pace.h"

struct rate {
	int64_t n, bytes;
	int64_t due; /* time at which the next element may go; 0: not begun */
};

enum { RATE_SECOND = 1000000000, RATE_BEHIND = 100 * 1000 * 1000 };

static const struct param rate_params[] = {
	{ "n", PARAM_INT, offsetof(struct rate, n), "0", .min = 0, .max = RATE_SECOND,
	  .help = "elements per second; 0: no limit" },
	{ "bytes", PARAM_SIZE, offsetof(struct rate, bytes), "0", .flags = PARAM_KEY_ONLY,
	  .min = 0, .max = INT64_MAX, .help = "bytes of elements per second; 0: no limit" },
	{ 0 }
};

static enum status
rate_check(const struct op_node *n, struct err *e)
{
	const struct rate *r = n->params;

	if (r->n || r->bytes)
		return ST_OK;
	err_set(e, ST_DATA, "rate needs a number of elements, or bytes=");
	err_help(e, "rate 100, or rate bytes=1M");
	return ST_DATA;
}

static int64_t
rate_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

/* How long this element delays the next one. */
static int64_t
rate_cost(const struct rate *r, const struct elem *x)
{
	int64_t by_n = r->n ? RATE_SECOND / r->n : 0, by_bytes = 0;

	if (r->bytes)
		by_bytes = (int64_t)((double)x->len * RATE_SECOND / (double)r->bytes);
	return by_n > by_bytes ? by_n : by_bytes;
}

static enum status
rate_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct rate *r = self->state;
	int64_t now = clock_mono_ns();

	(void)e;
	/* After a pause of the input there is no burst to catch up. */
	if (r->due < now - RATE_BEHIND)
		r->due = now;
	if (r->due > now) {
		if (pace_wait(self, r->due) != ST_OK)
			return ST_AGAIN;
		now = clock_mono_ns();
	}
	for (; self->at < in->n && r->due <= now; self->at++) {
		run_push(out, in->e[self->at]);
		r->due += rate_cost(r, &in->e[self->at]);
	}
	return self->at < in->n ? ST_AGAIN : ST_OK;
}

const struct op_desc op_rate = {
	.name = "rate",
	.brief = "limits the number of elements, or bytes, per second",
	.doc = "In the service the limit applies to each stream separately.",
	.kind = OP_TRANSFORM,
	.scope = OP_ELEMENT,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EACH,
	.params = rate_params,
	.state_size = sizeof(struct rate),
	.check = rate_check,
	.cardinality = rate_cardinality,
	.feed = rate_feed,
	.example = "range 3 | rate 1000",
	.output = "0\n1\n2\n",
};
