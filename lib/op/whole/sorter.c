/* SPDX-License-Identifier: MIT */
#include "op/whole/sorter.h"

#include <unistd.h>

#include "base/mem.h"
#include "op/whole/sorter_inner.h"
#include "value/mp.h"

enum { SORTER_SHORT = 16 }; /* length of a stretch that is sorted by insertion */

/* The content of a key, which is known to be a text. */
static inline const uint8_t *
sorter_text(const uint8_t *p, uint32_t *n)
{
	struct mp m;

	if ((*p & 0xe0) == 0xa0) {
		*n = *p & 0x1f;
		return p + 1;
	}
	if (*p == 0xd9) {
		*n = p[1];
		return p + 2;
	}
	mp_head(p, p + UINT32_MAX, &m);
	*n = m.n;
	return m.p;
}

static inline uint64_t
sorter_eight(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	if (n >= 8) {
		memcpy(&v, p, 8);
		return __builtin_bswap64(v);
	}
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (56 - 8 * i);
	return v;
}

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

static uint64_t
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

uint64_t
sorter_prefix(const struct sorter_order *o, const struct sorter_record *r)
{
	uint64_t v;

	if (o->texts) {
		uint32_t n;
		const uint8_t *p = sorter_text(r->key, &n);

		v = sorter_eight(p + o->skip, n - o->skip);
	} else {
		v = sorter_prefix_any(r->key, r->elem + r->len);
	}
	return o->reverse ? ~v : v;
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
sorter_before(const struct sorter *s, const struct sorter_entry *a, const struct sorter_entry *b)
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
sorter_insertion(const struct sorter *s, struct sorter_entry *v, size_t n)
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
sorter_merge_halves(const struct sorter *s, const struct sorter_entry *from, size_t mid, size_t n,
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
sorter_sort(struct sorter *s)
{
	struct sorter_record r;
	size_t n = s->n, width = SORTER_SHORT;

	for (size_t i = 0; i < n; i++) {
		sorter_read(s->arena + s->entries[i].at, &r);
		s->entries[i].prefix = sorter_prefix(&s->order, &r);
	}
	for (size_t i = 0; i < n; i += SORTER_SHORT)
		sorter_insertion(s, s->entries + i, n - i < SORTER_SHORT ? n - i : SORTER_SHORT);
	if (n <= width)
		return;
	s->spare = mem_grow(s->spare, &s->cap_spare, n, sizeof *s->spare);
	for (; width < n; width *= 2) {
		for (size_t i = 0; i < n; i += 2 * width) {
			size_t all = n - i < 2 * width ? n - i : 2 * width;

			sorter_merge_halves(s, s->entries + i, all < width ? all : width, all,
					    s->spare + i);
		}
		struct sorter_entry *t = s->entries;
		size_t cap = s->cap_entries;

		s->entries = s->spare;
		s->cap_entries = s->cap_spare;
		s->spare = t;
		s->cap_spare = cap;
	}
}

struct sorter *
sorter_new(size_t mem, bool reverse, const char *tmp)
{
	struct sorter *s = mem_zalloc(sizeof *s);

	s->mem = mem;
	s->order = (struct sorter_order){ .reverse = reverse, .texts = true };
	s->tmp = mem_strdup(tmp);
	s->fd = -1;
	return s;
}

void
sorter_free(struct sorter **sp)
{
	struct sorter *s = *sp;

	*sp = NULL;
	if (!s)
		return;
	sorter_merge_clear(s);
	if (s->fd >= 0)
		close(s->fd);
	mem_free(s->first);
	mem_free(s->arena);
	mem_free(s->entries);
	mem_free(s->spare);
	mem_free(s->tmp);
	mem_free(s->write_buf);
	mem_free(s->parts);
	mem_free(s);
}

/* Notes what is true of all keys so far: whether they are texts, and how they begin. */
static void
sorter_learn(struct sorter *s, const uint8_t *key)
{
	uint32_t n;

	if (!s->order.texts)
		return;
	if ((*key & 0xe0) != 0xa0 && (*key < 0xd9 || *key > 0xdb)) {
		s->order.texts = false;
		return;
	}
	const uint8_t *p = sorter_text(key, &n);
	if (!s->first) {
		s->first = mem_alloc((size_t)n + 1);
		memcpy(s->first, p, n);
		s->first_len = s->order.skip = n;
		return;
	}
	size_t skip = s->order.skip < n ? s->order.skip : n;
	if (memcmp(s->first, p, skip)) {
		size_t k = 0;

		while (s->first[k] == p[k])
			k++;
		skip = k;
	}
	s->order.skip = skip;
}

enum status
sorter_add(struct sorter *s, const uint8_t *key, size_t key_len, const uint8_t *p, size_t len,
	   struct err *e)
{
	size_t need = SORTER_HEAD + key_len + len;
	uint32_t lens[2] = { (uint32_t)key_len, (uint32_t)len };
	enum status st = ST_OK;

	/* Two entries per element: one is for the merge sort. */
	if (s->n && s->len + need + (s->n + 1) * 2 * sizeof *s->entries > s->mem)
		st = sorter_spill(s, e);
	if (st != ST_OK)
		return st;
	sorter_learn(s, key ? key : p);
	s->arena = mem_grow(s->arena, &s->cap, s->len + need, 1);
	uint8_t *to = s->arena + s->len;
	memcpy(to, lens, SORTER_HEAD);
	if (key_len)
		memcpy(to + SORTER_HEAD, key, key_len);
	memcpy(to + SORTER_HEAD + key_len, p, len);
	s->entries = mem_grow(s->entries, &s->cap_entries, s->n + 1, sizeof *s->entries);
	s->entries[s->n++].at = s->len;
	s->len += need;
	return ST_OK;
}

enum status
sorter_end(struct sorter *s, struct err *e)
{
	enum status st = ST_OK;

	s->ended = true;
	s->next = 0;
	if (!s->n_parts) {
		sorter_sort(s);
		return ST_OK;
	}
	if (s->n)
		st = sorter_spill(s, e);
	/* The merge needs the memory for its buffers. */
	mem_free(s->arena);
	mem_free(s->entries);
	mem_free(s->spare);
	s->arena = NULL;
	s->entries = s->spare = NULL;
	s->cap = s->cap_entries = s->cap_spare = 0;
	return st == ST_OK ? sorter_merge_begin(s, e) : st;
}

enum status
sorter_take(struct sorter *s, struct run *out, struct err *e)
{
	struct sorter_record r;
	size_t bytes = 0;

	if (s->n_parts)
		return sorter_merge_take(s, out, e);
	while (s->next < s->n && out->n < RUN_USUAL && bytes < RUN_BYTES) {
		sorter_read(s->arena + s->entries[s->next++].at, &r);
		uint8_t *p = run_room(out, r.len);
		memcpy(p, r.elem, r.len);
		run_done(out, p + r.len, 0);
		bytes += r.len;
	}
	return s->next < s->n ? ST_OK : ST_END;
}

bool
sorter_in_memory(const struct sorter *s, size_t *bytes)
{
	*bytes = s->len;
	return !s->n_parts;
}

bool
sorter_at(const struct sorter *s, size_t i, const uint8_t **key, size_t *key_len,
	  const uint8_t **p, size_t *len)
{
	struct sorter_record r;

	if (i >= s->n - s->next)
		return false;
	sorter_read(s->arena + s->entries[s->next + i].at, &r);
	*key = r.key_len ? r.key : NULL;
	*key_len = r.key_len;
	*p = r.elem;
	*len = r.len;
	return true;
}
