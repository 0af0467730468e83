/* SPDX-License-Identifier: MIT */
#include "op/by_index.h"
#include "op/chain.h"
#include "op/facts.h"
#include "op/pull.h"

/* Gives the source behind a permutation, each of whose elements is made into one at i; NULL: there is none such. */
static struct op_inst *
chain_seek_source(struct op_inst *i)
{
	const struct op_inst *order = NULL;

	while (i->n_in == 1 && !chain_of(i)->feeder && (i->node->permutes ? !order : op_each_alone(i->node))) {
		if (i->node->permutes)
			order = i;
		i = i->in[0];
	}
	return order && i->desc->kind == OP_SOURCE && i->by_index && i->node->on_error == OP_FAIL ? i : NULL;
}

bool
op_seek(struct op_inst *top, uint64_t n)
{
	struct op_inst *source = chain_seek_source(top);
	uint64_t at = source ? by_index_place(source->by_index) : 0;

	return source && n <= UINT64_MAX - at && by_index_seek(source->by_index, at + n);
}

/* Whether all that the instance has made was taken, and all that it does next is to make more. */
static bool
chain_rests(const struct op_inst *i)
{
	const struct chain_inst *c = chain_of(i);

	return i->taken == i->lent->n && !i->ended && !i->done && !c->finishing && !c->pending && !c->discard &&
		(!c->reaches || atomic_load_explicit(i->ctx->reached, memory_order_relaxed));
}

uint64_t
op_pass(struct op_inst *i, uint64_t n)
{
	while (chain_rests(i) && !chain_of(i)->feeder && i->desc->feed && !i->pulls && op_each_alone(i->node))
		i = i->in[0];
	if (!chain_rests(i))
		return 0;
	if (chain_of(i)->feeder)
		return feeder_pass(i, n);
	if (!i->desc->pass || i->by_index || i->node->on_error != OP_FAIL)
		return 0;
	n = i->desc->pass(i, n);
	chain_of(i)->emitted += n;
	return n;
}
