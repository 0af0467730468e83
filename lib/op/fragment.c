/* SPDX-License-Identifier: MIT */
#include "op/fragment.h"

#include "op/chain.h"
#include "op/state.h"
#include "op/pull.h"

struct fragment_feed {
	struct run *run; /* the run to give next; NULL: none */
	bool end;
	struct run own;  /* the run that a restore brought back */
};

static enum status
fragment_head_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct fragment_feed *f = self->state;

	(void)out, (void)e;
	if (!f->run || !f->run->n)
		return f->end ? ST_END : ST_AGAIN;
	self->give = f->run;
	f->run = NULL;
	return ST_OK;
}

static void
fragment_head_close(struct op_inst *self)
{
	struct fragment_feed *f = self->state;

	run_clear(&f->own);
}

static void
fragment_head_save(struct op_inst *self, struct buf *out)
{
	struct fragment_feed *f = self->state;

	state_put_elems(out, f->run ? f->run->e : NULL, f->run ? f->run->n : 0);
	state_put_u64(out, f->end);
}

static enum status
fragment_head_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct fragment_feed *f = self->state;
	struct state_in in = state_begin(p, n);

	run_reset(&f->own);
	state_get_elems(&in, &f->own);
	f->run = &f->own;
	f->end = state_get_u64(&in, 1);
	return state_finish(self, &in, e);
}

const struct op_desc fragment_head = {
	.name = "|",
	.brief = "what feeds a fragment",
	.kind = OP_SOURCE,
	.scope = OP_STREAM,
	.state_size = sizeof(struct fragment_feed),
	.next = fragment_head_next,
	.close = fragment_head_close,
	.save = fragment_head_save,
	.restore = fragment_head_restore,
};

/* Finds the head of a chain: its source, along first inputs. */
static struct op_inst *
fragment_find(struct op_inst *i)
{
	while (i->desc != &fragment_head && i->n_in)
		i = i->in[0];
	return i->desc == &fragment_head ? i : NULL;
}

enum status
fragment_open(struct op_inst *self, const struct op_fragment *f, struct fragment *out,
	      struct err *e)
{
	struct chain_how how = {
		.outer = self->outer, .outer_key = chain_of(self)->outer_key, .epoch = self->epoch
	};
	enum status st = chain_open(f->tail, self->ctx, &how, &out->tail, e);

	if (st != ST_OK)
		return st;
	out->head = fragment_find(out->tail);
	return out->head ? ST_OK : err_set(e, ST_BUG, "a fragment has lost its head");
}

void
fragment_close(struct fragment *f)
{
	op_close(&f->tail);
	f->head = NULL;
}

void
fragment_feed(struct fragment *f, struct run *run)
{
	((struct fragment_feed *)f->head->state)->run = run;
}

void
fragment_end(struct fragment *f)
{
	((struct fragment_feed *)f->head->state)->end = true;
}

bool
fragment_hungry(const struct fragment *f)
{
	return !((struct fragment_feed *)f->head->state)->run;
}

enum status
fragment_pull(struct fragment *f, struct run **out, struct err *e)
{
	return op_pull(f->tail, out, e);
}

void
fragment_set_epoch(struct op_inst *i, uint32_t epoch)
{
	i->epoch = epoch;
	for (size_t k = 0; k < i->n_in; k++)
		fragment_set_epoch(i->in[k], epoch);
}

enum status
fragment_rewind(struct fragment *f, uint32_t epoch, struct err *e)
{
	fragment_set_epoch(f->tail, epoch - 1); /* op_rewind adds the one */
	return op_rewind(f->tail, e);
}

bool
fragment_save(struct fragment *f, struct buf *out)
{
	struct buf own = { 0 };
	bool ok = op_state_save(f->tail, &own) && own.len <= UINT32_MAX;

	if (ok)
		state_put_bytes(out, own.data, own.len);
	buf_clear(&own);
	return ok;
}

enum status
fragment_restore(struct fragment *f, const uint8_t *p, size_t n, struct err *e)
{
	return op_state_restore(f->tail, p, n, e);
}
