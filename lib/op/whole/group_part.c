/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/whole/partial.h"
#include "op/whole/wide_sum.h"
#include "value/mp.h"

/* Groups whose part is how many values there are, then what they come to. */
static bool
group_counts(enum group_agg agg)
{
	return agg == GROUP_SUM || agg == GROUP_MEAN || agg == GROUP_STDDEV || agg == GROUP_QUANTILE;
}

size_t
group_part_room(const struct group *g)
{
	return (size_t)g->len + (g->pair ? WIDE_MOST : 0) + 2 * MP_HEAD_MAX + 3 * MP_INT_MAX;
}

/* A number, a list of the values, or a list of the number of values and
 *
 *	sum                 of ints, as long as it fits 64 bits
 *	floats, sum, bytes  else: whether floats are among them, a part of the sum, and the rest (wide_sum.h)
 *	bytes               for stddev, the sums; for quantiles, the numbers
 */
uint8_t *
group_put_part(const struct group *g, enum group_agg agg, uint8_t *p)
{
	bool sum = agg == GROUP_SUM || agg == GROUP_MEAN, wide = sum && (g->len || g->is_float);
	uint8_t both[WIDE_MOST];

	if (agg == GROUP_COUNT)
		return mp_put_uint(p, g->n);
	if (group_counts(agg)) {
		p = mp_put_uint(mp_put_list_head(p, wide ? 4 : 2), g->n);
		if (sum && !wide)
			return mp_put_int(p, g->sum.i);
		if (wide)
			p = mp_put_int(mp_put_int(p, g->is_float), g->pair ? 0 : g->sum.i);
		if (g->pair) {
			uint32_t len = (uint32_t)(group_put_wide(g, both) - both);

			p = mp_put_bytes_head(p, len);
			memcpy(p, both, len);
			return p + len;
		}
		p = mp_put_bytes_head(p, g->len);
	} else {
		p = mp_put_list_head(p, agg == GROUP_LIST ? (uint32_t)g->n : g->n != 0);
	}
	if (g->len)
		memcpy(p, g->cell, g->len);
	return p + g->len;
}

/* Adds the bytes of a sum, of two, or of numbers: false: they are none. */
static bool
group_join_bytes(struct group *g, enum group_agg agg, const struct mp *m, uint64_t n, struct slab *cells, size_t *bytes,
		 const char **why)
{
	if (m->kind != MP_BYTES)
		return false;
	if (agg != GROUP_QUANTILE) {
		if (!wide_valid(m->p, m->n, agg == GROUP_STDDEV))
			return false;
		group_join_wide(g, m->p, m->n, cells, bytes);
		return true;
	}
	if (m->n % sizeof(double) || m->n / sizeof(double) > n)
		return false;
	for (uint32_t at = 0; at < m->n && !*why; at += sizeof(double)) {
		double x;

		memcpy(&x, m->p + at, sizeof x);
		*why = group_add_number(g, x, cells, bytes);
	}
	return true;
}

/* Adds a list of `items`, the first of which is how many values there are. */
static const uint8_t *
group_join_counted(struct group *g, enum group_agg agg, uint32_t items, const uint8_t *p, const uint8_t *end,
		   struct slab *cells, size_t *bytes, const char **why)
{
	bool sum = agg == GROUP_SUM || agg == GROUP_MEAN;
	struct mp n, m = { .kind = MP_BAD };

	p = items == 2 || (items == 4 && sum) ? mp_head(p, end, &n) : NULL;
	if (!p || n.kind != MP_INT || n.u > GROUP_MOST)
		return NULL;
	if (items == 4) {
		p = mp_head(p, end, &m);
		if (!p || m.kind != MP_INT || m.u > 1)
			return NULL;
		g->is_float = g->is_float || m.u;
	}
	p = mp_head(p, end, &m);
	if (p && sum) {
		if (m.kind != MP_INT || m.unsigned_big)
			return NULL;
		group_add_int(g, m.i, cells, bytes);
		p = items == 4 ? mp_head(p, end, &m) : p;
	}
	if (!p || (!(sum && items == 2) && !group_join_bytes(g, agg, &m, n.u, cells, bytes, why)))
		return NULL;
	g->n += n.u;
	return p;
}

const uint8_t *
group_join_part(struct group *g, enum group_agg agg, const uint8_t *p, const uint8_t *end, struct slab *cells,
	   size_t *bytes, const char **why)
{
	struct mp m;

	p = p ? mp_head(p, end, &m) : NULL;
	if (!p || m.kind != (agg == GROUP_COUNT ? MP_INT : MP_LIST))
		return NULL;
	if (agg == GROUP_COUNT) {
		g->n += m.u > GROUP_MOST ? 0 : m.u;
		return m.u > GROUP_MOST ? NULL : p;
	}
	if (group_counts(agg))
		return group_join_counted(g, agg, m.n, p, end, cells, bytes, why);
	for (uint32_t k = 0; p && k < m.n && !*why; k++) {
		const uint8_t *value = p;

		p = mp_skip(p, end);
		if (p)
			*why = group_add(g, agg, value, (size_t)(p - value), cells, bytes);
	}
	return p;
}
