/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/whole/exact_sum.h"
#include "op/whole/partial.h"
#include "value/mp.h"

bool
group_joins(enum group_agg agg)
{
	return agg != GROUP_STDDEV && agg != GROUP_QUANTILE;
}

size_t
group_part_room(const struct group *g)
{
	return (size_t)g->len + 2 * MP_HEAD_MAX + MP_INT_MAX + MP_FLOAT_MAX;
}

/* A number, a list of the values, or a list of the number of values and their sum. */
uint8_t *
group_put_part(const struct group *g, enum group_agg agg, uint8_t *p)
{
	if (agg == GROUP_COUNT)
		return mp_put_uint(p, g->n);
	if (agg == GROUP_SUM || agg == GROUP_MEAN) {
		p = mp_put_uint(mp_put_list_head(p, 2), g->n);
		if (!g->is_float)
			return mp_put_int(p, g->sum.i);
		p = mp_put_bytes_head(p, g->len);
	} else {
		p = mp_put_list_head(p, agg == GROUP_LIST ? (uint32_t)g->n : g->n != 0);
	}
	if (g->len)
		memcpy(p, g->cell, g->len);
	return p + g->len;
}

/* Adds a sum, and sets *why if it becomes too large. */
static bool
group_join_sum(struct group *g, const struct mp *m, struct slab *cells, size_t *bytes, const char **why)
{
	uint8_t one[MP_FLOAT_MAX];
	double x;

	if (m->kind == MP_INT && !m->unsigned_big) {
		*why = group_add(g, GROUP_SUM, one, (size_t)(mp_put_int(one, m->i) - one), cells, bytes);
		return true;
	}
	if (m->kind != MP_BYTES || !m->n || m->n % sizeof x || m->n > EXACT_SUM_MOST)
		return false;
	for (uint32_t at = 0; at < m->n; at += sizeof x) {
		memcpy(&x, m->p + at, sizeof x);
		group_add(g, GROUP_SUM, one, (size_t)(mp_put_float(one, x) - one), cells, bytes);
	}
	return true;
}

static const uint8_t *
group_join_mean(struct group *g, const uint8_t *p, const uint8_t *end, struct slab *cells, size_t *bytes,
		const char **why)
{
	uint64_t before = g->n;
	struct mp n, sum;

	p = mp_head(p, end, &n);
	if (!p || n.kind != MP_INT || n.i < 0)
		return NULL;
	p = mp_head(p, end, &sum);
	if (!p || (n.u && !group_join_sum(g, &sum, cells, bytes, why)))
		return NULL;
	g->n = before + n.u;
	return p;
}

const uint8_t *
group_join(struct group *g, enum group_agg agg, const uint8_t *p, const uint8_t *end, struct slab *cells,
	   size_t *bytes, const char **why)
{
	struct mp m;

	p = p ? mp_head(p, end, &m) : NULL;
	if (!p || m.kind != (agg == GROUP_COUNT ? MP_INT : MP_LIST))
		return NULL;
	if (agg == GROUP_COUNT) {
		g->n += m.i < 0 ? 0 : m.u;
		return m.i < 0 ? NULL : p;
	}
	if (agg == GROUP_SUM || agg == GROUP_MEAN)
		return m.n == 2 ? group_join_mean(g, p, end, cells, bytes, why) : NULL;
	for (uint32_t k = 0; p && k < m.n && !*why; k++) {
		const uint8_t *value = p;

		p = mp_skip(p, end);
		if (p)
			*why = group_add(g, agg, value, (size_t)(p - value), cells, bytes);
	}
	return p;
}
