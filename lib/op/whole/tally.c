/* SPDX-License-Identifier: MIT */
#include "op/whole/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "op/whole/wide_sum.h"

bool
tally_quantiles_read(const uint8_t *p, size_t len, struct tally_quantiles *out)
{
	const uint8_t *end = p + len;
	struct mp m;

	out->n = 0;
	if (!len)
		return true;
	mp_head(p, end, &m);
	if (m.kind != MP_LIST || m.n > TALLY_QUANTILES)
		return false;
	p = m.p;
	for (uint32_t count = m.n; out->n < count; out->n++) {
		p = mp_head(p, end, &m);
		double q = m.kind == MP_FLOAT ? m.f : m.kind == MP_INT && m.u <= 1 ? (double)m.i : -1;
		if (!(q >= 0 && q <= 1))
			return false;
		out->q[out->n] = q;
		snprintf(out->name[out->n], TALLY_NAME, "p%.12g", q * 100);
	}
	return true;
}

void
tally_clear(struct tally *t)
{
	digest_clear(&t->numbers);
	mem_free(t->wide);
	*t = (struct tally){ .numbers.most = t->numbers.most };
}

size_t
tally_size(const struct tally *t)
{
	return sizeof *t - sizeof t->numbers + t->wide_cap + digest_size(&t->numbers);
}

static void
tally_wide_room(struct tally *t, size_t need)
{
	if (need > t->wide_cap)
		t->wide = mem_grow(t->wide, &t->wide_cap, need, 1);
}

static void
tally_add_wide(struct tally *t, const struct mp *m)
{
	size_t need = wide_add(t->wide, t->wide_len, t->wide_cap, m, true);

	if (need > t->wide_cap) {
		tally_wide_room(t, need);
		need = wide_add(t->wide, t->wide_len, t->wide_cap, m, true);
	}
	t->wide_len = need;
}

static void
tally_join_wide(struct tally *t, const struct tally *from)
{
	size_t need = wide_join(t->wide, t->wide_len, t->wide_cap, from->wide, from->wide_len);

	if (need > t->wide_cap) {
		tally_wide_room(t, need);
		need = wide_join(t->wide, t->wide_len, t->wide_cap, from->wide, from->wide_len);
	}
	t->wide_len = need;
}

/* Extremes of floats; -0.0 is below 0.0, so that they do not depend on an order. */
static void
tally_extremes(struct tally *t, bool first, double low, double high)
{
	if (first || low < t->low || (low == t->low && signbit(low)))
		t->low = low;
	if (first || high > t->high || (high == t->high && !signbit(high)))
		t->high = high;
}

void
tally_add(struct tally *t, const struct mp *m, bool keep)
{
	__int128 whole = m->kind == MP_FLOAT ? 0 : m->unsigned_big ? (__int128)m->u : m->i;
	double x = m->kind == MP_FLOAT ? m->f : (double)whole;

	t->is_float = t->is_float || m->kind == MP_FLOAT;
	t->sum += whole;
	if (!t->count || whole < t->least)
		t->least = whole;
	if (!t->count || whole > t->greatest)
		t->greatest = whole;
	t->count++;
	tally_add_wide(t, m);
	if (isnan(x)) {
		t->nans++;
		return;
	}
	tally_extremes(t, t->count - t->nans == 1, x, x);
	if (keep)
		digest_add(&t->numbers, x);
}

void
tally_join(struct tally *t, const struct tally *from)
{
	if (from->count > from->nans)
		tally_extremes(t, t->count == t->nans, from->low, from->high);
	if (from->count && (!t->count || from->least < t->least))
		t->least = from->least;
	if (from->count && (!t->count || from->greatest > t->greatest))
		t->greatest = from->greatest;
	t->count += from->count;
	t->nans += from->nans;
	t->nulls += from->nulls;
	t->sum = (__int128)((unsigned __int128)t->sum + (unsigned __int128)from->sum);
	t->is_float = t->is_float || from->is_float;
	tally_join_wide(t, from);
	digest_join(&t->numbers, &from->numbers);
}

size_t
tally_types(struct types *arena, const struct tally_quantiles *q, bool some, struct type_field *out)
{
	static const char *const names[TALLY_FIELDS] = { "count", "sum", "mean", "min", "max", "stddev" };
	static const enum type_kind kinds[TALLY_FIELDS] = { TYPE_INT, TYPE_ANY, TYPE_FLOAT, TYPE_ANY, TYPE_ANY, TYPE_FLOAT };
	size_t n = 0;

	for (; n < TALLY_FIELDS; n++)
		out[n] = (struct type_field){ names[n], type_scalar(kinds[n]) };
	for (uint32_t k = 0; k < q->n; k++)
		out[n++] = (struct type_field){ q->name[k], type_scalar(TYPE_FLOAT) };
	out[n++] = (struct type_field){ TALLY_NULLS, type_scalar(TYPE_INT) };
	if (q->n)
		out[n++] = (struct type_field){ TALLY_APPROX, type_scalar(TYPE_FLOAT) };
	/* Without numbers, or where all of them are nan, there are no such values. */
	for (size_t k = 2; k < n; k++)
		if (k != 2 || !some)
			out[k].type = type_nullable(arena, out[k].type);
	return n;
}

static bool
tally_near(const struct tally *t, const struct tally_quantiles *q)
{
	return q->n && !digest_exact(&t->numbers);
}

size_t
tally_room(const struct tally_quantiles *q)
{
	return (TALLY_FIELDS + 2 + (size_t)q->n) * (TALLY_NAME + 2 * MP_FLOAT_MAX);
}

void
tally_look(const struct tally *t, const struct tally_quantiles *q, struct tally_more *more)
{
	more->nulls = more->nulls || t->nulls > 0;
	more->approx = more->approx || tally_near(t, q);
}

uint32_t
tally_fields(const struct tally_quantiles *q, const struct tally_more *more)
{
	return TALLY_FIELDS + q->n + more->nulls + more->approx;
}

static uint8_t *
tally_put_float(uint8_t *p, const char *name, bool known, double v)
{
	p = mp_put_text(p, name, (uint32_t)strlen(name));
	return known ? mp_put_float(p, v) : mp_put_nil(p);
}

/* Puts a whole number; one that does not fit 64 bits becomes a float. */
static uint8_t *
tally_put_whole(uint8_t *p, const char *name, __int128 v)
{
	p = mp_put_text(p, name, (uint32_t)strlen(name));
	if (v < INT64_MIN || v > UINT64_MAX)
		return mp_put_float(p, (double)v);
	return v < 0 ? mp_put_int(p, (int64_t)v) : mp_put_uint(p, (uint64_t)v);
}

uint8_t *
tally_put(struct tally *t, const struct tally_quantiles *q, const struct tally_more *more, uint8_t *p)
{
	bool any = t->count > 0, some = t->count > t->nans;
	double sum = wide_round(t->wide, t->wide_len);

	p = mp_put_uint(mp_put_text(p, "count", 5), t->count);
	p = t->is_float ? tally_put_float(p, "sum", true, sum) : tally_put_whole(p, "sum", t->sum);
	p = tally_put_float(p, "mean", any, sum / (double)t->count);
	if (t->is_float || !any) {
		p = tally_put_float(p, "min", some, t->low);
		p = tally_put_float(p, "max", some, t->high);
	} else {
		p = tally_put_whole(p, "min", t->least);
		p = tally_put_whole(p, "max", t->greatest);
	}
	p = tally_put_float(p, "stddev", some, some ? wide_stddev(t->wide, t->wide_len, t->count) : 0);
	for (uint32_t k = 0; k < q->n; k++)
		p = tally_put_float(p, q->name[k], some, digest_quantile(&t->numbers, q->q[k]));
	if (more->nulls)
		p = mp_put_uint(mp_put_text(p, TALLY_NULLS, strlen(TALLY_NULLS)), t->nulls);
	return more->approx ? tally_put_float(p, TALLY_APPROX, true, tally_near(t, q) ? DIGEST_ERROR : 0) : p;
}

static void
tally_put_wide(struct buf *out, __int128 v)
{
	state_put_u64(out, (uint64_t)v);
	state_put_u64(out, (uint64_t)(v >> 64));
}

static __int128
tally_get_wide(struct state_in *in)
{
	uint64_t low = state_get_u64(in, UINT64_MAX);

	return (__int128)((unsigned __int128)state_get_u64(in, UINT64_MAX) << 64 | low);
}

bool
tally_save(const struct tally *t, struct buf *out)
{
	state_put_u64(out, t->count);
	state_put_u64(out, t->nans);
	state_put_u64(out, t->nulls);
	tally_put_wide(out, t->sum);
	tally_put_wide(out, t->least);
	tally_put_wide(out, t->greatest);
	state_put_u64(out, t->is_float);
	state_put_double(out, t->low);
	state_put_double(out, t->high);
	state_put_bytes(out, t->wide, t->wide_len);
	return digest_save(&t->numbers, out);
}

void
tally_restore(struct tally *t, struct state_in *in)
{
	const uint8_t *p;
	size_t len;

	tally_clear(t);
	t->count = state_get_u64(in, UINT64_MAX);
	t->nans = state_get_u64(in, t->count);
	t->nulls = state_get_u64(in, UINT64_MAX);
	t->sum = tally_get_wide(in);
	t->least = tally_get_wide(in);
	t->greatest = tally_get_wide(in);
	t->is_float = state_get_u64(in, 1);
	t->low = state_get_double(in);
	t->high = state_get_double(in);
	if (state_get_bytes(in, &p, &len) && wide_valid(p, len, true)) {
		tally_wide_room(t, len);
		if (len)
			memcpy(t->wide, p, len);
		t->wide_len = len;
	} else {
		in->bad = true;
	}
	digest_restore(&t->numbers, in);
}
