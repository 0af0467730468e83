/* SPDX-License-Identifier: MIT
 *
 * The order of records: prefixes of their keys, comparison, and sorting by it.
 */
#include "op/whole/sorter_inner.h"
#include "value/mp.h"

enum { SORTER_SHORT = 16 }; /* length of a stretch that is sorted by insertion */

/* The bits of a double, so that they compare as unsigned numbers. */
static uint64_t
sorter_float(double f)
{
	uint64_t u;

	if (f != f)
		return UINT64_MAX;
	f += 0.0; /* turns -0 into 0, which it equals */
	memcpy(&u, &f, 8);
	return u >> 63 ? ~u : u | (uint64_t)1 << 63;
}

uint64_t
sorter_prefix_any(const uint8_t *p, const uint8_t *end)
{
	static const uint8_t rank[] = { 0, 1, 2, 2, 3, 4, 5, 6, 7, 8 };
	struct mp m;

	mp_head(p, end, &m);
	uint64_t head = (uint64_t)rank[m.kind] << 56;

	switch (m.kind) {
	case MP_BOOL: return head | m.b;
	/* Rounding keeps the order; keys that become equal are compared in full. */
	case MP_INT:
		return head | sorter_float(m.unsigned_big ? (double)m.u : (double)m.i) >> 8;
	case MP_FLOAT: return head | sorter_float(m.f) >> 8;
	case MP_TEXT:
	case MP_BYTES: return head | sorter_eight(m.p, m.n) >> 8;
	case MP_LIST: /* a list by its first item, an empty one before all others */
		return m.n ? head | (sorter_prefix_any(m.p, end) >> 8) : head;
	default: return head;
	}
}

int
sorter_compare(const struct sorter_order *o, const struct sorter_record *a,
	       const struct sorter_record *b)
{
	int c;

	if (o->texts) {
		uint32_t n, k, least;
		const uint8_t *p = sorter_text(a->key, &n), *q = sorter_text(b->key, &k);

		least = n < k ? n : k;
		c = memcmp(p + o->skip, q + o->skip, least - o->skip);
		if (!c)
			c = (n > k) - (n < k);
	} else {
		c = mp_compare(a->key, a->key_len ? a->key_len : a->len,
			       b->key, b->key_len ? b->key_len : b->len);
	}
	return o->reverse ? -c : c;
}

/* Whether a comes before b; of equal keys, the one that came first does. */
static inline bool
sorter_before(const struct sorter_pile *s, const struct sorter_entry *a, const struct sorter_entry *b)
{
	struct sorter_record x, y;
	int c;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	sorter_read(s->arena + a->at, &x);
	sorter_read(s->arena + b->at, &y);
	c = sorter_compare(&s->order, &x, &y);
	return c ? c < 0 : a->at < b->at;
}

static void
sorter_insertion(const struct sorter_pile *s, struct sorter_entry *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct sorter_entry x = v[i];
		size_t k = i;

		for (; k && sorter_before(s, &x, &v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Merges from[0, mid) and from[mid, n) into to. */
static void
sorter_merge_halves(const struct sorter_pile *s, const struct sorter_entry *from, size_t mid, size_t n,
		    struct sorter_entry *to)
{
	size_t i = 0, k = mid, at = 0;

	while (i < mid && k < n) {
		if (sorter_before(s, &from[k], &from[i]))
			to[at++] = from[k++];
		else
			to[at++] = from[i++];
	}
	memcpy(to + at, from + i, (mid - i) * sizeof *to);
	memcpy(to + at + (mid - i), from + k, (n - k) * sizeof *to);
}

void
sorter_compare_sort(const struct sorter_pile *s, struct sorter_entry *v, struct sorter_entry *spare, size_t n)
{
	struct sorter_entry *from = v, *to = spare;

	for (size_t i = 0; i < n; i += SORTER_SHORT)
		sorter_insertion(s, v + i, n - i < SORTER_SHORT ? n - i : SORTER_SHORT);
	for (size_t width = SORTER_SHORT; width < n; width *= 2) {
		struct sorter_entry *t = from;

		for (size_t i = 0; i < n; i += 2 * width) {
			size_t all = n - i < 2 * width ? n - i : 2 * width;

			sorter_merge_halves(s, from + i, all < width ? all : width, all, to + i);
		}
		from = to;
		to = t;
	}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
}
