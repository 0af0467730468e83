/* SPDX-License-Identifier: MIT
 * tee: sends every element through a fragment beside the pipeline, and passes it on.
 */
#include "op/fragment.h"
#include "op/kit/expr_value.h"

struct tee {
	struct op_fragment inner;
	struct fragment fragment;
	bool over;   /* the fragment wants no more input */
	bool fed;    /* the fragment was fed the run at hand */
	bool ending;
};

static const struct param tee_params[] = {
	{ "fragment", PARAM_FRAGMENT, offsetof(struct tee, inner), .flags = PARAM_WHOLE,
	  .help = "the fragment that gets a copy of each element, such as (| save copy/)" },
	{ 0 }
};

static int64_t
tee_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

static enum status
tee_open(struct op_inst *self, struct err *e)
{
	struct tee *t = self->state;

	return fragment_open(self, &t->inner, &t->fragment, e);
}

/* Pulls until the fragment has taken everything it was fed. ST_AGAIN only when the chain is to
 * stop. */
static enum status
tee_drain(struct op_inst *self, struct err *e)
{
	struct tee *t = self->state;
	struct run *none;
	enum status st;

	do {
		st = fragment_pull(&t->fragment, &none, e);
	} while (st == ST_OK);
	if (st == ST_END) {
		t->over = true;
		return ST_OK;
	}
	if (st != ST_AGAIN)
		return st;
	if (op_stopped(self->ctx))
		return ST_AGAIN;
	if (fragment_hungry(&t->fragment))
		return ST_OK;
	err_set(e, ST_DATA, "an operator in the fragment of tee takes its input by a thread of its own");
	err_help(e, "put `prefetch` before or after tee");
	return op_blame(self->node, e);
}

static enum status
tee_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e)
{
	struct tee *t = self->state;
	enum status st = ST_OK;

	(void)in, (void)out;
	if (!t->over) {
		if (!t->fed)
			fragment_feed(&t->fragment, self->in[0]->lent);
		t->fed = true;
		st = tee_drain(self, e);
	}
	if (st != ST_OK)
		return st;
	t->fed = false;
	self->give = self->in[0]->lent;
	return ST_OK;
}

static enum status
tee_finish(struct op_inst *self, struct run *out, struct err *e)
{
	struct tee *t = self->state;
	enum status st;

	(void)out;
	if (t->over)
		return ST_END;
	fragment_end(&t->fragment);
	t->ending = true;
	st = tee_drain(self, e);
	return st == ST_OK ? ST_END : st;
}

static void
tee_close(struct op_inst *self)
{
	struct tee *t = self->state;

	fragment_close(&t->fragment);
}

static void
tee_save(struct op_inst *self, struct buf *out)
{
	struct tee *t = self->state;

	state_put_u64(out, t->over);
	/* In the middle of a run, the fragment holds elements that would be fed to it again. */
	if (t->fed || t->ending || !fragment_save(&t->fragment, out))
		self->unsaved = true;
}

static enum status
tee_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct tee *t = self->state;
	struct state_in in = state_begin(p, n);
	const uint8_t *own;
	size_t len;

	t->over = state_get_u64(&in, 1);
	if (!state_get_bytes(&in, &own, &len) || !state_ended(&in))
		return state_wrong(self, e);
	return fragment_restore(&t->fragment, own, len, e);
}

static bool
tee_partwise(const struct op_node *n, const char **remedy)
{
	(void)n, (void)remedy;
	return true;
}

const struct op_desc op_tee = {
	.name = "tee",
	.brief = "sends a copy of each element through a fragment",
	.doc = "The elements themselves are passed on unchanged. The fragment's output is dropped; "
	       "the fragment is useful for its effects, as with save, print or exec. An error in "
	       "the fragment is an error of the pipeline. If the fragment ends early, as with "
	       "take, the remaining elements are only passed on.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.params = tee_params,
	.state_size = sizeof(struct tee),
	.partwise = tee_partwise,
	.cardinality = tee_cardinality,
	.open = tee_open,
	.feed = tee_feed,
	.finish = tee_finish,
	.close = tee_close,
	.save = tee_save,
	.restore = tee_restore,
	.example = "range 3 | tee (| filter x > 0 | print copy)",
	.output = "0\n1\n2\n",
};
