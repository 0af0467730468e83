/* SPDX-License-Identifier: MIT */
#include "op/state.h"

#include <string.h>

#include "value/mp.h"
#include "value/origin.h"

enum { STATE_FILE_MAX = 4096 };

void
state_put_u64(struct buf *b, uint64_t v)
{
	uint8_t *p = buf_room(b, MP_INT_MAX);

	b->len = (size_t)(mp_put_uint(p, v) - b->data);
}

void
state_put_double(struct buf *b, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	state_put_u64(b, bits);
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

/* Reads the head of one value; NULL and in->bad when it is of another kind. */
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

double
state_get_double(struct state_in *in)
{
	uint64_t bits = state_get_u64(in, UINT64_MAX);
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
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
state_get_value(struct state_in *in, const uint8_t **p, size_t *n)
{
	if (state_get_bytes(in, p, n) && !mp_check(*p, *n))
		in->bad = true;
	return !in->bad;
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

	state_put_elems(out, any ? r->e + from : NULL, any ? r->n - from : 0);
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
		       self->node->place, op_text(self->node));
}

enum status
state_finish(const struct op_inst *self, const struct state_in *in, struct err *e)
{
	return state_ended(in) ? ST_OK : state_wrong(self, e);
}

static void
state_number_save(const void *field, struct buf *out)
{
	state_put_u64(out, *(const uint64_t *)field);
}

static void
state_number_restore(void *field, struct state_in *in, uint64_t max)
{
	*(uint64_t *)field = state_get_u64(in, max);
}

const struct state_kind state_number = { state_number_save, state_number_restore };

void
state_rows_save(const struct op_inst *self, struct buf *out)
{
	for (const struct state_row *r = self->desc->state_rows; r->kind; r++)
		r->kind->save((const char *)self->state + r->offset, out);
}

enum status
state_rows_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e)
{
	struct state_in in = state_begin(p, n);
	char *state = self->state;

	for (const struct state_row *r = self->desc->state_rows; r->kind; r++)
		r->kind->restore(state + r->offset, &in,
				 r->limit ? *(const uint64_t *)(state + r->limit) : UINT64_MAX);
	return state_finish(self, &in, e);
}
