/* SPDX-License-Identifier: MIT */
#include "op/whole/group.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "op/kit/expr_value.h"
#include "op/whole/digest.h"
#include "op/whole/two_sum.h"
#include "op/whole/wide_sum.h"
#include "value/mp.h"

/* Makes room for n bytes in the cell, and keeps its first `keep` bytes. */
static void
group_reserve(struct group *g, size_t n, size_t keep, struct slab *cells, size_t *bytes)
{
	size_t cap = n < 16 ? 16 : n;

	if (n <= g->cap)
		return;
	if (g->cap && cap < (size_t)g->cap * 2)
		cap = (size_t)g->cap * 2;
	if (cap > UINT32_MAX)
		cap = UINT32_MAX;
	uint8_t *cell = slab_take(cells, cap);

	if (keep)
		memcpy(cell, g->cell, keep);
	if (g->cap)
		slab_give(cells, g->cell, g->cap);
	*bytes += cap - g->cap;
	g->cell = cell;
	g->cap = (uint32_t)cap;
}

void
group_set(struct group *g, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes)
{
	/* p may lie in the cell itself, when a state is made from a part of the old one. */
	if (len <= g->cap) {
		if (len)
			memmove(g->cell, p, len);
	} else {
		struct group old = *g;

		g->cell = NULL;
		g->cap = 0;
		group_reserve(g, len, 0, cells, bytes);
		memcpy(g->cell, p, len);
		*bytes -= old.cap;
		if (old.cap)
			slab_give(cells, old.cell, old.cap);
	}
	g->len = (uint32_t)len;
}

/* The reason why group_add would refuse a number to be added up; NULL: it would not. */
static const char *
group_refuses_number(const uint8_t *p, size_t len)
{
	struct mp m;

	mp_head(p, p + len, &m);
	return m.kind == MP_INT || m.kind == MP_FLOAT ? NULL : expr_value_not_number(m.kind);
}

static void
group_add_wide(struct group *g, const struct mp *m, bool squares, struct slab *cells, size_t *bytes)
{
	size_t need = wide_add(g->cell, g->len, g->cap, m, squares);

	if (need > g->cap) {
		group_reserve(g, need, g->len, cells, bytes);
		need = wide_add(g->cell, g->len, g->cap, m, squares);
	}
	g->len = (uint32_t)need;
}

/* Moves a sum that two floats can no longer hold to the cell. */
static void
group_unpair(struct group *g, struct slab *cells, size_t *bytes)
{
	struct mp high = { .kind = MP_FLOAT, .f = g->sum.high }, low = { .kind = MP_FLOAT, .f = g->low };

	if (!g->pair)
		return;
	g->pair = false;
	g->sum.i = 0;
	g->cell = NULL;
	group_add_wide(g, &high, false, cells, bytes);
	group_add_wide(g, &low, false, cells, bytes);
}

/* Adds a float where two hold the sum: false: they cannot. */
static bool
group_add_pair(struct group *g, double x)
{
	if (!g->pair) {
		if (g->cap || !two_sum_has(g->sum.i))
			return false;
		g->sum.high = (double)g->sum.i;
		g->low = 0;
		g->pair = true;
	}
	return two_sum_add(&g->sum.high, &g->low, x);
}

void
group_join_wide(struct group *g, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes)
{
	group_unpair(g, cells, bytes);
	size_t need = wide_join(g->cell, g->len, g->cap, p, len);

	if (need > g->cap) {
		group_reserve(g, need, g->len, cells, bytes);
		need = wide_join(g->cell, g->len, g->cap, p, len);
	}
	g->len = (uint32_t)need;
}

void
group_add_int(struct group *g, int64_t i, struct slab *cells, size_t *bytes)
{
	if (g->pair && two_sum_has(i) && group_add_pair(g, (double)i))
		return;
	group_unpair(g, cells, bytes);
	struct mp old = { .kind = MP_INT, .i = g->sum.i };

	if (!__builtin_add_overflow(old.i, i, &g->sum.i))
		return;
	g->sum.i = i;
	group_add_wide(g, &old, false, cells, bytes);
}

static void
group_sum(struct group *g, const struct mp *m, struct slab *cells, size_t *bytes)
{
	if (m->kind == MP_INT && !m->unsigned_big) {
		group_add_int(g, m->i, cells, bytes);
		return;
	}
	g->is_float = true;
	if (m->kind == MP_FLOAT && group_add_pair(g, m->f))
		return;
	group_unpair(g, cells, bytes);
	group_add_wide(g, m, false, cells, bytes);
}

static double
group_number(const struct mp *m)
{
	return m->kind == MP_FLOAT ? m->f : m->unsigned_big ? (double)m->u : (double)m->i;
}

static const char *
group_append(struct group *g, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes)
{
	if (g->len + len > UINT32_MAX - 64)
		return "the list of a key is larger than 4 GiB";
	group_reserve(g, g->len + len, g->len, cells, bytes);
	memcpy(g->cell + g->len, p, len);
	g->len += (uint32_t)len;
	return NULL;
}

const char *
group_add_number(struct group *g, double x, struct slab *cells, size_t *bytes)
{
	if (isnan(x)) /* has no place among the others */
		return NULL;
	if (!g->squeezed)
		return group_append(g, (const uint8_t *)&x, sizeof x, cells, bytes);
	size_t before = digest_size(g->sum.digest);
	digest_add(g->sum.digest, x);
	*bytes += digest_size(g->sum.digest) - before;
	return NULL;
}

const char *
group_refuses(enum group_agg agg, const uint8_t *p, size_t len)
{
	bool number = agg == GROUP_SUM || agg == GROUP_MEAN || agg == GROUP_STDDEV || agg == GROUP_QUANTILE;

	return number ? group_refuses_number(p, len) : NULL;
}

static const char *
group_number_added(struct group *g, enum group_agg agg, const uint8_t *p, size_t len, struct slab *cells, size_t *bytes)
{
	const char *why = group_refuses_number(p, len);
	struct mp m;

	if (why)
		return why;
	mp_head(p, p + len, &m);
	if (agg == GROUP_QUANTILE)
		return group_add_number(g, group_number(&m), cells, bytes);
	if (agg == GROUP_STDDEV)
		group_add_wide(g, &m, true, cells, bytes);
	else
		group_sum(g, &m, cells, bytes);
	return NULL;
}

const char *
group_add(struct group *g, enum group_agg agg, const uint8_t *p, size_t len, struct slab *cells,
	  size_t *bytes)
{
	const char *why = NULL;
	bool better;

	switch (agg) {
	case GROUP_COUNT:
		break;
	case GROUP_STDDEV:
	case GROUP_QUANTILE:
	case GROUP_SUM:
	case GROUP_MEAN:
		why = group_number_added(g, agg, p, len, cells, bytes);
		break;
	case GROUP_LIST:
		why = group_append(g, p, len, cells, bytes);
		break;
	case GROUP_MIN:
	case GROUP_MAX:
	case GROUP_FIRST:
	case GROUP_LAST:
		better = !g->n || agg == GROUP_LAST;
		if (g->n && (agg == GROUP_MIN || agg == GROUP_MAX)) {
			int c = mp_compare(p, len, g->cell, g->len);

			better = agg == GROUP_MIN ? c < 0 : c > 0;
		}
		if (better)
			group_set(g, p, len, cells, bytes);
		break;
	}
	if (!why)
		g->n++;
	return why;
}

bool
group_squeeze(struct group *g, struct slab *cells, size_t *bytes)
{
	enum { LARGE = 256 * 1024 }; /* bytes of numbers that take more than buckets do */

	if (g->squeezed || g->len < LARGE)
		return false;
	struct digest *d = mem_zalloc(sizeof *d);
	for (size_t at = 0; at < g->len; at += sizeof(double)) {
		double x;

		memcpy(&x, g->cell + at, sizeof x);
		digest_add(d, x);
	}
	*bytes += digest_size(d);
	*bytes -= g->cap;
	slab_give(cells, g->cell, g->cap);
	g->cell = NULL;
	g->len = g->cap = 0;
	g->squeezed = true;
	g->sum.digest = d;
	return true;
}

static void
group_free_digest(struct group *g)
{
	if (!g->squeezed)
		return;
	digest_clear(g->sum.digest);
	mem_free(g->sum.digest);
}

/* Does not touch small cells: a million of them, given back one by one, would be waited for. */
void
group_release(struct group *g)
{
	group_free_digest(g);
	if (g->cap > SLAB_MAX)
		mem_free(g->cell);
}

void
group_free(struct group *g, struct slab *cells)
{
	group_free_digest(g);
	if (g->cap)
		slab_give(cells, g->cell, g->cap);
	*g = (struct group){ 0 };
}

uint8_t *
group_put_quantile(const struct group *g, double q, uint8_t *p)
{
	struct digest d = { .most = SIZE_MAX };
	double x;

	if (g->squeezed)
		return mp_put_float(p, digest_quantile(g->sum.digest, q));
	if (!g->len)
		return mp_put_nil(p);
	for (size_t at = 0; at < g->len; at += sizeof x) {
		memcpy(&x, g->cell + at, sizeof x);
		digest_add(&d, x);
	}
	x = digest_quantile(&d, q);
	digest_clear(&d);
	return mp_put_float(p, x);
}

size_t
group_room(const struct group *g)
{
	return (size_t)g->len + MP_HEAD_MAX + MP_FLOAT_MAX;
}

uint8_t *
group_put_state(const struct group *g, uint8_t *p)
{
	memcpy(p, g->cell, g->len);
	return p + g->len;
}

uint8_t *
group_put_wide(const struct group *g, uint8_t *p)
{
	struct mp high = { .kind = MP_FLOAT, .f = g->sum.high }, low = { .kind = MP_FLOAT, .f = g->low };

	if (!g->pair)
		return g->len ? group_put_state(g, p) : p;
	size_t len = wide_add(p, 0, WIDE_MOST, &high, false);
	return p + wide_add(p, len, WIDE_MOST, &low, false);
}

/* The sum as a float, rounded once. */
static double
group_sum_rounded(const struct group *g)
{
	struct mp m = { .kind = MP_INT, .i = g->sum.i };
	uint8_t sum[WIDE_MOST];

	if (g->pair)
		return g->sum.high + g->low;
	if (!g->len)
		return (double)g->sum.i;
	memcpy(sum, g->cell, g->len);
	return wide_round(sum, wide_add(sum, g->len, sizeof sum, &m, false));
}

const char *
group_wrong(const struct group *g, enum group_agg agg)
{
	int64_t sum;

	return agg != GROUP_SUM || g->is_float || !g->len || wide_int(g->cell, g->len, g->sum.i, &sum) ? NULL :
	       "the sum does not fit 64 bits (use of=float(..))";
}

static uint8_t *
group_put_sum(const struct group *g, uint8_t *p)
{
	int64_t sum = g->sum.i;

	if (g->is_float)
		return mp_put_float(p, group_sum_rounded(g));
	if (g->len)
		wide_int(g->cell, g->len, g->sum.i, &sum);
	return mp_put_int(p, sum);
}

uint8_t *
group_put(const struct group *g, enum group_agg agg, uint8_t *p)
{
	switch (agg) {
	case GROUP_COUNT:
		return mp_put_uint(p, g->n);
	case GROUP_SUM:
		return group_put_sum(g, p);
	case GROUP_MEAN:
		return g->n ? mp_put_float(p, group_sum_rounded(g) / (double)g->n) : mp_put_nil(p);
	case GROUP_STDDEV:
		return g->n ? mp_put_float(p, wide_stddev(g->cell, g->len, g->n)) : mp_put_nil(p);
	case GROUP_QUANTILE:
		return group_put_quantile(g, 0.5, p);
	case GROUP_LIST:
		p = mp_put_list_head(p, (uint32_t)g->n);
		break;
	case GROUP_MIN:
	case GROUP_MAX:
	case GROUP_FIRST:
	case GROUP_LAST:
		if (!g->n) /* every element of the key was left out */
			return mp_put_nil(p);
		break;
	}
	return g->len ? group_put_state(g, p) : p;
}

bool
group_save(const struct group *g, struct buf *out)
{
	state_put_u64(out, g->n);
	state_put_u64(out, g->squeezed);
	if (g->squeezed)
		return digest_save(g->sum.digest, out);
	uint8_t sum[WIDE_MOST];

	state_put_u64(out, g->pair ? 0 : (uint64_t)g->sum.i);
	state_put_u64(out, g->is_float);
	if (g->pair)
		state_put_bytes(out, sum, (size_t)(group_put_wide(g, sum) - sum));
	else
		state_put_bytes(out, g->cell, g->len);
	return true;
}

/* How many values lie end to end; SIZE_MAX: they are malformed. */
static size_t
group_values(const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len;
	size_t n = 0;

	for (; p && p < end; n++)
		p = mp_check_next(p, end);
	return p == end ? n : SIZE_MAX;
}

void
group_restore(struct group *g, bool reduce, enum group_agg agg, struct state_in *in,
	      struct slab *cells, size_t *bytes)
{
	const uint8_t *p;
	size_t len, want;

	g->n = state_get_u64(in, GROUP_MOST);
	if (state_get_u64(in, agg == GROUP_QUANTILE && !reduce)) {
		g->squeezed = true;
		g->sum.digest = mem_zalloc(sizeof *g->sum.digest);
		digest_restore(g->sum.digest, in);
		*bytes += digest_size(g->sum.digest);
		return;
	}
	g->sum.i = (int64_t)state_get_u64(in, UINT64_MAX);
	g->is_float = state_get_u64(in, 1);
	if (!state_get_bytes(in, &p, &len))
		return;
	if (!reduce && (agg == GROUP_SUM || agg == GROUP_MEAN || agg >= GROUP_STDDEV)) {
		bool valid = agg == GROUP_QUANTILE ? len % sizeof(double) == 0 && len / sizeof(double) <= g->n :
						     wide_valid(p, len, agg == GROUP_STDDEV);

		if (valid)
			group_set(g, p, len, cells, bytes);
		in->bad = in->bad || !valid;
		return;
	}
	if (reduce)
		want = 1;
	else if (agg == GROUP_LIST)
		want = g->n;
	else
		want = agg >= GROUP_MIN && g->n;
	if (group_values(p, len) == want)
		group_set(g, p, len, cells, bytes);
	else
		in->bad = true;
}
