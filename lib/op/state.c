/* SPDX-License-Identifier: MIT */
#include "op/state.h"

#include <string.h>

#include "op/chain.h"
#include "op/walk.h"
#include "value/mp.h"
#include "value/origin.h"

enum { STATE_FILE_MAX = 4096 };
enum state_flag { STATE_DONE = 1, STATE_ENDED = 2, STATE_FINISHING = 4 };

void
state_put_u64(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_room(b, MP_INT_MAX);

	b->len = (size_t)(mp_put_uint(p, v) - b->data);
}

void
state_put_bytes(struct buf *b, const void *bytes, size_t n)
{
	uint8_t *p = buf_room(b, MP_HEAD_MAX);

	b->len = (size_t)(mp_put_bytes_head(p, (uint32_t)n) - b->data);
	if (n)
		buf_put(b, bytes, n);
}

void
state_put_elem(struct buf *b, const struct elem *e)
{
	buf_put(b, e->p, e->len);
}

void
state_put_elems(struct buf *b, const struct elem *e, size_t n)
{
	state_put_u64(b, n);
	for (size_t k = 0; k < n; k++) {
		state_put_u64(b, e[k].pos);
		state_put_elem(b, &e[k]);
	}
}

struct state_in
state_begin(const uint8_t *p, size_t n)
{
	return (struct state_in){ p, n ? p + n : p, false };
}

/* Reads one head; NULL and bad when it is not of this kind. */
static const uint8_t *
state_head(struct state_in *in, enum mp_kind kind, struct mp *v)
{
	const uint8_t *after = in->bad || in->p == in->end ? NULL : mp_head(in->p, in->end, v);

	if (after && v->kind == kind)
		return after;
	in->bad = true;
	return NULL;
}

uint64_t
state_get_u64(struct state_in *in, uint64_t max)
{
	struct mp v;
	const uint8_t *after = state_head(in, MP_INT, &v);

	if (!after)
		return 0;
	if ((!v.unsigned_big && v.i < 0) || v.u > max) {
		in->bad = true;
		return 0;
	}
	in->p = after;
	return v.u;
}

bool
state_get_bytes(struct state_in *in, const uint8_t **p, size_t *n)
{
	struct mp v;
	const uint8_t *after = state_head(in, MP_BYTES, &v);

	*p = NULL;
	*n = 0;
	if (!after)
		return false;
	*p = v.p;
	*n = v.n;
	in->p = after;
	return true;
}

bool
state_get_elem(struct state_in *in, struct elem *e)
{
	const uint8_t *after = in->bad || in->p == in->end ? NULL : mp_skip(in->p, in->end);

	*e = (struct elem){ 0 };
	if (!after || after - in->p > UINT32_MAX || !mp_check(in->p, (size_t)(after - in->p))) {
		in->bad = true;
		return false;
	}
	*e = (struct elem){ .p = in->p, .len = (uint32_t)(after - in->p) };
	in->p = after;
	return true;
}

bool
state_get_elems(struct state_in *in, struct run *r)
{
	uint64_t n = state_get_u64(in, UINT32_MAX);

	for (uint64_t k = 0; k < n && !in->bad; k++) {
		uint32_t pos = (uint32_t)state_get_u64(in, UINT32_MAX);
		struct elem e;

		if (state_get_elem(in, &e)) {
			e.pos = pos;
			run_keep(r, e);
		}
	}
	return !in->bad;
}

void
state_put_run(struct buf *out, const struct run *r, uint32_t from)
{
	bool any = from < r->n;
	size_t n = any && r->file ? strlen(r->file) : 0;

	state_put_elems(out, r->e + from, any ? r->n - from : 0);
	state_put_bytes(out, r->file, n <= STATE_FILE_MAX ? n : 0);
	state_put_u64(out, any ? r->line : 0);
}

bool
state_get_run(struct state_in *in, struct run *r)
{
	const uint8_t *file;
	size_t n;
	char name[STATE_FILE_MAX + 1];

	state_get_elems(in, r);
	if (state_get_bytes(in, &file, &n) && n > 0 && n <= STATE_FILE_MAX) {
		memcpy(name, file, n);
		name[n] = '\0';
		r->file = origin_name(name);
	}
	r->line = state_get_u64(in, UINT64_MAX);
	return !in->bad;
}

bool
state_ended(const struct state_in *in)
{
	return !in->bad && in->p == in->end;
}

enum status
state_wrong(const struct op_inst *self, struct err *e)
{
	return err_set(e, ST_PROTO, "the saved state does not fit operator %u `%s`",
		       self->node->place, self->node->text ? self->node->text : self->desc->name);
}

enum status
state_finish(const struct op_inst *self, const struct state_in *in, struct err *e)
{
	return state_ended(in) ? ST_OK : state_wrong(self, e);
}

/* Read by index, all it remembers is its place in the walk. */
static bool
state_walks(const struct op_inst *i)
{
	return i->walk && i->desc->kind != OP_TRANSFORM;
}

static bool
state_can_save(const struct op_inst *i)
{
	if (i->pending)
		return false;
	if (i->feeder || i->desc->save || i->walk)
		return true;
	if (i->desc->kind == OP_SOURCE) /* it is read again up to where it was */
		return !op_is_local(i->node) && !(i->desc->flags & OP_REMOTE);
	return i->desc->kind == OP_TRANSFORM && i->desc->scope == OP_ELEMENT;
}

static bool
state_save(struct op_inst *i, struct buf *out)
{
	struct buf own = { 0 };
	bool ok = state_can_save(i);

	if (!ok)
		return false;
	state_put_bytes(out, i->desc->name, strlen(i->desc->name));
	state_put_u64(out, i->node->place);
	state_put_u64(out, (i->done ? STATE_DONE : 0) | (i->ended ? STATE_ENDED : 0)
				   | (i->finishing ? STATE_FINISHING : 0));
	state_put_u64(out, i->epoch);
	state_put_u64(out, i->emitted);
	if (i->walk)
		state_put_u64(out, walk_place(i->walk));
	/* The operator first: a prefetch then holds its thread still, which
	 * makes its inputs safe to look at. */
	i->unsaved = false;
	if (i->feeder)
		ok = feeder_save(i, &own);
	else if (i->desc->save && !state_walks(i))
		i->desc->save(i, &own);
	ok = ok && !i->unsaved && own.len <= UINT32_MAX;
	if (ok) {
		state_put_bytes(out, own.data, own.len);
		state_put_run(out, i->lent, i->taken);
		state_put_u64(out, i->n_in);
	}
	for (size_t k = 0; ok && k < i->n_in; k++)
		ok = state_save(i->in[k], out);
	buf_clear(&own);
	return ok;
}

bool
op_state_save(struct op_inst *i, struct buf *out)
{
	size_t before = out->len;

	state_put_u64(out, STATE_VERSION);
	if (state_save(i, out))
		return true;
	out->len = before;
	return false;
}

static void
state_restore_lent(struct op_inst *i, struct state_in *in)
{
	run_reset(&i->out);
	i->lent = &i->out;
	i->taken = 0;
	state_get_run(in, &i->out);
}

static enum status
state_restore(struct op_inst *i, struct state_in *in, struct err *e)
{
	const uint8_t *name, *own;
	size_t n_name, n_own;
	enum status st = ST_OK;

	state_get_bytes(in, &name, &n_name);
	uint64_t place = state_get_u64(in, UINT32_MAX);
	uint64_t flags = state_get_u64(in, STATE_DONE | STATE_ENDED | STATE_FINISHING);
	uint64_t epoch = state_get_u64(in, UINT32_MAX);
	uint64_t emitted = state_get_u64(in, UINT64_MAX);
	if (i->walk && !walk_seek(i->walk, state_get_u64(in, UINT64_MAX)))
		in->bad = true;
	state_get_bytes(in, &own, &n_own);
	if (in->bad || n_name != strlen(i->desc->name) || memcmp(name, i->desc->name, n_name)
	    || place != i->node->place)
		return state_wrong(i, e);
	i->done = flags & STATE_DONE;
	i->ended = flags & STATE_ENDED;
	i->finishing = flags & STATE_FINISHING;
	i->epoch = (uint32_t)epoch;
	i->emitted = emitted;
	if (i->feeder)
		st = feeder_restore(i, own, n_own, e);
	else if (state_walks(i))
		st = ST_OK;
	else if (i->desc->restore)
		st = i->desc->restore(i, own, n_own, e);
	else if (i->desc->kind == OP_SOURCE)
		i->discard = emitted;
	if (st != ST_OK)
		return st;
	state_restore_lent(i, in);
	if (state_get_u64(in, UINT32_MAX) != i->n_in || in->bad)
		return state_wrong(i, e);
	for (size_t k = 0; st == ST_OK && k < i->n_in; k++)
		st = state_restore(i->in[k], in, e);
	return st;
}

enum status
op_state_restore(struct op_inst *i, const uint8_t *p, size_t n, struct err *e)
{
	struct state_in in = state_begin(p, n);

	if (state_get_u64(&in, UINT64_MAX) != STATE_VERSION || in.bad)
		return err_set(e, ST_PROTO, "the saved state is of another version");
	enum status st = state_restore(i, &in, e);
	return st == ST_OK && !state_ended(&in) ? state_wrong(i, e) : st;
}
