/* SPDX-License-Identifier: MIT */
#include "op/whole/tally.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
	*t = (struct tally){ .numbers.most = t->numbers.most };
}

void
tally_add(struct tally *t, const struct mp *m, bool keep)
{
	__int128 whole = m->kind == MP_FLOAT ? 0 : m->unsigned_big ? (__int128)m->u : m->i;
	double x = m->kind == MP_FLOAT ? m->f : (double)whole, step;

	t->is_float = t->is_float || m->kind == MP_FLOAT;
	t->sum += whole;
	if (!t->count || whole < t->least)
		t->least = whole;
	if (!t->count || whole > t->greatest)
		t->greatest = whole;
	t->count++;
	t->float_sum += x;
	if (isnan(x)) {
		t->nans++;
		return;
	}
	uint64_t n = t->count - t->nans;
	if (n == 1 || x < t->low)
		t->low = x;
	if (n == 1 || x > t->high)
		t->high = x;
	step = x - t->mean;
	t->mean += step / (double)n;
	t->spread += step * (x - t->mean);
	if (keep)
		digest_add(&t->numbers, x);
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

uint32_t
tally_fields(const struct tally *t, const struct tally_quantiles *q)
{
	return TALLY_FIELDS + q->n + (t->nulls > 0) + tally_near(t, q);
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
tally_put(struct tally *t, const struct tally_quantiles *q, uint8_t *p)
{
	double count = (double)(t->count - t->nans);
	bool any = t->count > 0, some = count > 0;

	p = mp_put_uint(mp_put_text(p, "count", 5), t->count);
	p = t->is_float ? tally_put_float(p, "sum", true, t->float_sum) : tally_put_whole(p, "sum", t->sum);
	p = tally_put_float(p, "mean", any, (t->is_float ? t->float_sum : (double)t->sum) / (double)t->count);
	if (t->is_float || !any) {
		p = tally_put_float(p, "min", some, t->low);
		p = tally_put_float(p, "max", some, t->high);
	} else {
		p = tally_put_whole(p, "min", t->least);
		p = tally_put_whole(p, "max", t->greatest);
	}
	p = tally_put_float(p, "stddev", some, t->nans ? NAN : some ? sqrt(t->spread / count) : 0);
	for (uint32_t k = 0; k < q->n; k++)
		p = tally_put_float(p, q->name[k], some, digest_quantile(&t->numbers, q->q[k]));
	if (t->nulls)
		p = mp_put_uint(mp_put_text(p, TALLY_NULLS, strlen(TALLY_NULLS)), t->nulls);
	return tally_near(t, q) ? tally_put_float(p, TALLY_APPROX, true, DIGEST_ERROR) : p;
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
	const double floats[] = { t->mean, t->spread, t->float_sum, t->low, t->high };

	state_put_u64(out, t->count);
	state_put_u64(out, t->nans);
	state_put_u64(out, t->nulls);
	tally_put_wide(out, t->sum);
	tally_put_wide(out, t->least);
	tally_put_wide(out, t->greatest);
	state_put_u64(out, t->is_float);
	for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
		uint64_t bits;

		memcpy(&bits, &floats[k], sizeof bits);
		state_put_u64(out, bits);
	}
	return digest_save(&t->numbers, out);
}

void
tally_restore(struct tally *t, struct state_in *in)
{
	double *const floats[] = { &t->mean, &t->spread, &t->float_sum, &t->low, &t->high };

	tally_clear(t);
	t->count = state_get_u64(in, UINT64_MAX);
	t->nans = state_get_u64(in, t->count);
	t->nulls = state_get_u64(in, UINT64_MAX);
	t->sum = tally_get_wide(in);
	t->least = tally_get_wide(in);
	t->greatest = tally_get_wide(in);
	t->is_float = state_get_u64(in, 1);
	for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
		uint64_t bits = state_get_u64(in, UINT64_MAX);

		memcpy(floats[k], &bits, sizeof bits);
	}
	digest_restore(&t->numbers, in);
}
