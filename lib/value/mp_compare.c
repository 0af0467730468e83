/* SPDX-License-Identifier: MIT
 *
 * The order of values. Records are compared without regard to the order of
 * their fields: first their keys, each side sorted, then the values in the
 * order of the sorted keys. nan equals nan and comes after all other numbers.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "value/mp.h"

struct mp_pair {
	const uint8_t *key, *value, *end;
};

static const uint8_t *mp_compare_next(const uint8_t **ap, const uint8_t *a_end,
				      const uint8_t **bp, const uint8_t *b_end, int *order);

static int
mp_compare_int_float(const struct mp *a, double f)
{
	/* 2^63 and 2^64 are exact doubles; inside them truncation is exact. */
	if (isnan(f))
		return -1;
	if (a->unsigned_big) {
		if (f < 9223372036854775808.0)
			return 1;
		if (f >= 18446744073709551616.0)
			return -1;
		uint64_t u = (uint64_t)f; /* at this size a double has no fraction */
		return a->u < u ? -1 : a->u > u;
	}
	if (f >= 9223372036854775808.0)
		return -1;
	if (f < -9223372036854775808.0)
		return 1;
	int64_t i = (int64_t)f;
	if (a->i != i)
		return a->i < i ? -1 : 1;
	double rest = f - (double)i; /* i is a double's integer part: exact */
	return rest > 0 ? -1 : rest < 0;
}

static int
mp_compare_numbers(const struct mp *a, const struct mp *b)
{
	if (a->kind == MP_INT && b->kind == MP_INT) {
		if (a->unsigned_big || b->unsigned_big) {
			if (a->unsigned_big != b->unsigned_big)
				return a->unsigned_big ? 1 : -1;
			return a->u < b->u ? -1 : a->u > b->u;
		}
		return a->i < b->i ? -1 : a->i > b->i;
	}
	if (a->kind == MP_INT)
		return mp_compare_int_float(a, b->f);
	if (b->kind == MP_INT)
		return -mp_compare_int_float(b, a->f);
	if (isnan(a->f) || isnan(b->f))
		return !!isnan(a->f) - !!isnan(b->f);
	return a->f < b->f ? -1 : a->f > b->f;
}

static int
mp_compare_bytes(const struct mp *a, const struct mp *b)
{
	uint32_t n = a->n < b->n ? a->n : b->n;
	int c = n ? memcmp(a->p, b->p, n) : 0;

	return c ? (c < 0 ? -1 : 1) : (a->n > b->n) - (a->n < b->n);
}

static int
mp_pair_order(const void *a, const void *b)
{
	const struct mp_pair *x = a, *y = b;

	return mp_compare(x->key, (size_t)(x->value - x->key),
			  y->key, (size_t)(y->value - y->key));
}

/* Reads the n pairs from p on, and sorts them by key; gives the end, NULL: malformed. */
static const uint8_t *
mp_pairs_read(struct mp_pair *pairs, uint32_t n, const uint8_t *p, const uint8_t *end)
{
	bool sorted = true;

	for (uint32_t i = 0; i < n; i++) {
		pairs[i].key = p;
		pairs[i].value = mp_skip(p, end);
		p = pairs[i].value ? mp_skip(pairs[i].value, end) : NULL;
		if (!p)
			return NULL;
		pairs[i].end = p;
		sorted = sorted && (!i || mp_pair_order(&pairs[i - 1], &pairs[i]) <= 0);
	}
	if (!sorted)
		qsort(pairs, n, sizeof *pairs, mp_pair_order);
	return p;
}

static int
mp_compare_pairs(const struct mp_pair *a, uint32_t a_n, const struct mp_pair *b, uint32_t b_n)
{
	uint32_t n = a_n < b_n ? a_n : b_n;
	int c = 0;

	for (uint32_t i = 0; i < n && !c; i++)
		c = mp_pair_order(&a[i], &b[i]);
	if (!c)
		c = (a_n > b_n) - (a_n < b_n);
	for (uint32_t i = 0; i < n && !c; i++)
		c = mp_compare(a[i].value, (size_t)(a[i].end - a[i].value),
			       b[i].value, (size_t)(b[i].end - b[i].value));
	return c;
}

/* Counts are bounded by the bytes that are there, so that a false count in
 * unchecked bytes cannot make this allocate much. */
static int
mp_compare_records(const struct mp *a, const uint8_t **ap, const uint8_t *a_end,
		   const struct mp *b, const uint8_t **bp, const uint8_t *b_end)
{
	struct mp_pair few[16], *pairs = few;
	size_t n = (size_t)a->n + b->n;
	int c = 0;

	if (n > ((size_t)(a_end - a->p) + (size_t)(b_end - b->p)) / 2) {
		*ap = *bp = NULL;
		return 0;
	}
	if (n > 16)
		pairs = mem_array(n, sizeof *pairs);
	*ap = mp_pairs_read(pairs, a->n, a->p, a_end);
	*bp = mp_pairs_read(pairs + a->n, b->n, b->p, b_end);
	if (*ap && *bp)
		c = mp_compare_pairs(pairs, a->n, pairs + a->n, b->n);
	if (pairs != few)
		mem_free(pairs);
	return c;
}

/* Compares the values at *ap and *bp and moves both past them; NULL: one is malformed. Once
 * the order is decided, they may stay within. */
static const uint8_t *
mp_compare_next(const uint8_t **ap, const uint8_t *a_end,
		const uint8_t **bp, const uint8_t *b_end, int *order)
{
	/* kinds in their order; ints and floats are one */
	static const uint8_t rank[] = { 0, 1, 2, 2, 3, 4, 5, 6, 7, 8 };
	struct mp a, b;

	*order = 0;
	*ap = mp_head(*ap, a_end, &a);
	*bp = mp_head(*bp, b_end, &b);
	if (!*ap || !*bp)
		return NULL;
	if (rank[a.kind] != rank[b.kind]) {
		*order = rank[a.kind] < rank[b.kind] ? -1 : 1;
		return *ap;
	}
	switch (a.kind) {
	case MP_BOOL: *order = a.b - b.b; break;
	case MP_INT:
	case MP_FLOAT: *order = mp_compare_numbers(&a, &b); break;
	case MP_EXT:
		*order = (a.ext > b.ext) - (a.ext < b.ext);
		if (*order)
			break;
		/* fallthrough */
	case MP_TEXT:
	case MP_BYTES: *order = mp_compare_bytes(&a, &b); break;
	case MP_LIST:
		for (uint32_t i = 0; i < a.n && i < b.n && !*order; i++)
			if (!mp_compare_next(ap, a_end, bp, b_end, order))
				return NULL;
		if (!*order)
			*order = (a.n > b.n) - (a.n < b.n);
		break;
	case MP_RECORD:
		*order = mp_compare_records(&a, ap, a_end, &b, bp, b_end);
		break;
	default: break;
	}
	return *ap && *bp ? *ap : NULL;
}

int
mp_compare(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	const uint8_t *a_end = a + a_len, *b_end = b + b_len;
	int order;

	if (a_len == b_len && !memcmp(a, b, a_len))
		return 0;
	mp_compare_next(&a, a_end, &b, b_end, &order);
	return order;
}
