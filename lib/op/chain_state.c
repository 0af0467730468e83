/* SPDX-License-Identifier: MIT
 *
 * The state of a whole chain, operator by operator, as bytes and back:
 *
 *	version, then for each operator, the last one first:
 *	name, place, flags, epoch, elements given, [place in its walk],
 *	its own state, what it lent and has not handed over, the number of its inputs
 */
#include <string.h>

#include "op/chain.h"
#include "op/state.h"
#include "op/by_index.h"
#include "op/facts.h"
#include "op/pull.h"

enum chain_flag { CHAIN_DONE = 1, CHAIN_ENDED = 2, CHAIN_FINISHING = 4 };

/* Whether the place in its walk is all that an instance read by index has to remember. */
static bool
chain_state_walks(const struct op_inst *i)
{
	return i->by_index && i->desc->kind != OP_TRANSFORM;
}

static bool
chain_state_possible(const struct op_inst *i)
{
	/* standard input belongs to this process: no other can read on */
	if (chain_of(i)->pending || op_is_local(i->node))
		return false;
	if (i->desc->flags & OP_REMOTE) /* only on a worker does it give the same each time */
		return i->ctx->repeatable;
	if (chain_of(i)->feeder || i->desc->save || i->desc->state_rows || i->by_index)
		return true;
	/* without a save, the source is read again up to this place */
	if (i->desc->kind == OP_SOURCE)
		return true;
	return i->desc->kind == OP_TRANSFORM && i->desc->scope == OP_ELEMENT;
}

static bool
chain_state_save(struct op_inst *i, struct buf *out)
{
	struct buf own = { 0 };
	bool ok = chain_state_possible(i);

	if (!ok)
		return false;
	state_put_bytes(out, i->desc->name, strlen(i->desc->name));
	state_put_u64(out, i->node->place);
	state_put_u64(out, (i->done ? CHAIN_DONE : 0) | (i->ended ? CHAIN_ENDED : 0)
				   | (chain_of(i)->finishing ? CHAIN_FINISHING : 0));
	state_put_u64(out, i->epoch);
	state_put_u64(out, chain_of(i)->emitted);
	if (i->by_index)
		state_put_u64(out, by_index_place(i->by_index));
	/* The operator is saved before its inputs: a prefetch then holds its thread still,
	 * which makes the inputs safe to look at. */
	i->unsaved = false;
	if (chain_of(i)->feeder)
		ok = feeder_save(i, &own);
	else if (chain_state_walks(i))
		;
	else if (i->desc->state_rows)
		state_rows_save(i, &own);
	else if (i->desc->save)
		i->desc->save(i, &own);
	ok = ok && !i->unsaved && own.len <= UINT32_MAX;
	if (ok) {
		state_put_bytes(out, own.data, own.len);
		state_put_run(out, i->lent, i->taken);
		state_put_u64(out, i->n_in);
	}
	for (size_t k = 0; ok && k < i->n_in; k++)
		ok = chain_state_save(i->in[k], out);
	buf_clear(&own);
	return ok;
}

bool
op_state_save(struct op_inst *i, struct buf *out)
{
	size_t before = out->len;

	state_put_u64(out, STATE_VERSION);
	if (chain_state_save(i, out))
		return true;
	out->len = before;
	return false;
}

static void
chain_state_lent(struct op_inst *i, struct state_in *in)
{
	run_reset(&i->out);
	i->lent = &i->out;
	i->taken = 0;
	state_get_run(in, &i->out);
}

static enum status
chain_state_restore(struct op_inst *i, struct state_in *in, struct err *e)
{
	const uint8_t *name, *own;
	size_t n_name, n_own;
	enum status st = ST_OK;

	state_get_bytes(in, &name, &n_name);
	uint64_t place = state_get_u64(in, UINT32_MAX);
	uint64_t flags = state_get_u64(in, CHAIN_DONE | CHAIN_ENDED | CHAIN_FINISHING);
	uint64_t epoch = state_get_u64(in, UINT32_MAX);
	uint64_t emitted = state_get_u64(in, UINT64_MAX);
	if (i->by_index && !by_index_seek(i->by_index, state_get_u64(in, UINT64_MAX)))
		in->bad = true;
	state_get_bytes(in, &own, &n_own);
	if (in->bad || n_name != strlen(i->desc->name) || memcmp(name, i->desc->name, n_name)
	    || place != i->node->place)
		return state_wrong(i, e);
	i->done = flags & CHAIN_DONE;
	i->ended = flags & CHAIN_ENDED;
	chain_of(i)->finishing = flags & CHAIN_FINISHING;
	i->epoch = (uint32_t)epoch;
	chain_of(i)->emitted = emitted;
	if (chain_of(i)->feeder)
		st = feeder_restore(i, own, n_own, e);
	else if (chain_state_walks(i))
		st = ST_OK;
	else if (i->desc->state_rows)
		st = state_rows_restore(i, own, n_own, e);
	else if (i->desc->restore)
		st = i->desc->restore(i, own, n_own, e);
	else if (i->desc->kind == OP_SOURCE)
		chain_of(i)->discard = emitted;
	if (st != ST_OK)
		return st;
	chain_state_lent(i, in);
	if (state_get_u64(in, UINT32_MAX) != i->n_in || in->bad)
		return state_wrong(i, e);
	for (size_t k = 0; st == ST_OK && k < i->n_in; k++)
		st = chain_state_restore(i->in[k], in, e);
	return st;
}

enum status
op_state_restore(struct op_inst *i, const uint8_t *p, size_t n, struct err *e)
{
	struct state_in in = state_begin(p, n);

	if (state_get_u64(&in, UINT64_MAX) != STATE_VERSION || in.bad)
		return err_set(e, ST_PROTO, "the saved state is of another version");
	enum status st = chain_state_restore(i, &in, e);
	return st == ST_OK && !state_ended(&in) ? state_wrong(i, e) : st;
}
