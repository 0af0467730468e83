/* SPDX-License-Identifier: MIT
 *
 * Sorting integers that are their own keys: eight bytes each, from which the element is
 * written again on the way out, in place of a record and an entry.
 *
 *	value with the sign bit flipped, all bits flipped if reverse: these are sorted as unsigned numbers
 *
 * Many are dealt out by the first eight bits in which they differ, until a part fits the
 * cache; a part is sorted byte by byte from the last one on.
 */
#include "base/mem_wide.h"
#include "op/whole/sorter_inner.h"

enum {
	INTS_FEW = 48,              /* up to this many are sorted by insertion */
	INTS_CACHED = 16 * 1024,    /* this many and their copies stay in the second-level cache */
	INTS_RECORD = SORTER_HEAD + MP_INT_MAX + 2 * (int)sizeof(struct sorter_entry), /* taken by one of them otherwise */
	INTS_MOVED = 4              /* those that take less than this part of the memory are moved, not written */
};

static const uint64_t ints_sign = (uint64_t)1 << 63;

bool
sorter_ints_read(const struct sorter *s, const uint8_t *p, size_t len, uint64_t *v)
{
	uint8_t short_form[MP_INT_MAX];
	uint64_t i;
	struct mp m;

	if (*p == 0xcf && len == 9 && p[1] < 0x80 && (i = mp_u64(p + 1)) > UINT32_MAX) {
		*v = i ^ s->order.flip ^ ints_sign;
		return true;
	}
	mp_head(p, p + len, &m);
	/* Another form of the same number would not come out as it came in. */
	if (m.kind != MP_INT || m.unsigned_big || (size_t)(mp_put_int(short_form, m.i) - short_form) != len ||
	    *short_form != *p)
		return false;
	*v = (uint64_t)m.i ^ s->order.flip ^ ints_sign;
	return true;
}

static uint8_t *
ints_put(const struct sorter *s, size_t i, uint8_t *p)
{
	return mp_put_int(p, (int64_t)(s->ints[i] ^ s->order.flip ^ ints_sign));
}

enum status
sorter_ints_add(struct sorter *s, uint64_t v, struct err *e)
{
	/* Twice, since sorting needs a copy. */
	if (s->n_ints && (s->n_ints + 1) * 2 * sizeof v > s->mem && sorter_ints_spill(s, e) != ST_OK)
		return e->kind;
	s->ints = mem_grow_wide(s->ints, &s->cap_ints, s->n_ints + 1, sizeof v);
	s->ints[s->n_ints++] = v;
	s->order.texts = false;
	return ST_OK;
}

static void
ints_insertion(uint64_t *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = v[i];
		size_t k = i;

		for (; k && x < v[k - 1]; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

/* Moves the numbers to where they belong by eight bits; ends: where each of the 256 parts ends. */
static void
ints_move(const uint64_t *from, uint64_t *to, size_t n, unsigned shift, size_t *ends)
{
	size_t sum = 0;

	memset(ends, 0, 256 * sizeof *ends);
	for (size_t i = 0; i < n; i++)
		ends[from[i] >> shift & 255]++;
	for (unsigned b = 0; b < 256; b++) {
		size_t some = ends[b];

		ends[b] = sum;
		sum += some;
	}
	for (size_t i = 0; i < n; i++)
		to[ends[from[i] >> shift & 255]++] = from[i];
}

/* Sorts n numbers; spare has room for as many. The result is in spare if `over`, else in v; the other is lost. */
static void
ints_sort(uint64_t *v, uint64_t *spare, size_t n, bool over)
{
	size_t ends[256];
	uint64_t differ = 0;

	for (size_t i = 1; i < n; i++)
		differ |= v[i] ^ v[0];
	if (n <= INTS_FEW || !differ) {
		ints_insertion(v, differ ? n : 0);
	} else if (n > INTS_CACHED) {
		unsigned bits = 64 - (unsigned)__builtin_clzll(differ);
		size_t from = 0;

		ints_move(v, spare, n, bits > 8 ? bits - 8 : 0, ends);
		for (unsigned b = 0; b < 256; from = ends[b++])
			ints_sort(spare + from, v + from, ends[b] - from, !over);
		return;
	} else {
		for (unsigned shift = 0; shift < 64 && differ >> shift; shift += 8) {
			uint64_t *t = v;

			if (!(differ >> shift & 255))
				continue;
			ints_move(v, spare, n, shift, ends);
			v = spare;
			spare = t;
			over = !over;
		}
	}
	if (over)
		memcpy(spare, v, n * sizeof *v);
}

/* Deals the numbers out by the first eight bits in which they differ. */
static void
ints_deal(struct sorter *s, uint64_t differ)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(differ);
	size_t ends[256], cap = s->cap_ints;
	uint64_t *v = s->ints;

	ints_move(v, s->spare_ints, s->n_ints, bits > 8 ? bits - 8 : 0, ends);
	memcpy(s->int_ranges.starts + 1, ends, 255 * sizeof *ends);
	s->ints = s->spare_ints;
	s->spare_ints = v;
	s->cap_ints = s->cap_spare_ints;
	s->cap_spare_ints = cap;
}

static void
ints_sort_range(void *arg, size_t k)
{
	const struct sorter *s = arg;
	size_t from = s->int_ranges.starts[k];

	ints_sort(s->ints + from, s->spare_ints + from, s->int_ranges.starts[k + 1] - from, false);
}

void
sorter_ints_sort(struct sorter *s)
{
	uint64_t differ = 0;
	bool deal;

	s->spare_ints = mem_grow_wide(s->spare_ints, &s->cap_spare_ints, s->n_ints, sizeof *s->spare_ints);
	for (size_t i = 1; i < s->n_ints; i++)
		differ |= s->ints[i] ^ s->ints[0];
	deal = s->n_ints > INTS_CACHED && differ;
	s->int_ranges.starts[0] = 0;
	if (deal)
		ints_deal(s, differ);
	sorter_ranges_begin(&s->int_ranges, deal ? 256 : 1, s->n_ints, ints_sort_range, s);
}

enum status
sorter_ints_spill(struct sorter *s, struct err *e)
{
	enum status st = sorter_part_begin(s, e);

	if (st != ST_OK)
		return st;
	s->spilled = true;
	sorter_ints_sort(s);
	for (size_t i = 0; st == ST_OK && i < s->n_ints; i++) {
		uint8_t record[SORTER_HEAD + MP_INT_MAX];

		sorter_need(&s->int_ranges, i);
		const uint8_t *end = ints_put(s, i, record + SORTER_HEAD);
		uint32_t lens[2] = { 0, (uint32_t)(end - record) - SORTER_HEAD };

		memcpy(record, lens, sizeof lens);
		st = sorter_part_write(s, record, (size_t)(end - record), e);
	}
	sorter_ranges_end(&s->int_ranges);
	if (st == ST_OK)
		st = sorter_part_end(s, e);
	s->n_ints = 0;
	return st;
}

enum status
sorter_ints_end(struct sorter *s, struct err *e)
{
	enum status st = ST_OK;
	size_t n = s->n_ints;

	s->only_ints = false;
	if (n > s->mem / INTS_MOVED / INTS_RECORD)
		st = sorter_ints_spill(s, e);
	for (size_t i = 0; i < s->n_ints && st == ST_OK; i++) {
		uint8_t elem[MP_INT_MAX];

		st = sorter_add(s, NULL, 0, elem, (size_t)(ints_put(s, i, elem) - elem), e);
	}
	sorter_ints_clear(s);
	return st;
}

bool
sorter_ints_take(struct sorter *s, struct run *out)
{
	for (; s->next < s->n_ints && out->n < RUN_USUAL; s->next++) {
		sorter_need(&s->int_ranges, s->next);
		run_done(out, ints_put(s, s->next, run_room(out, MP_INT_MAX)), 0);
	}
	return s->next < s->n_ints;
}

void
sorter_ints_save(const struct sorter *s, struct buf *out)
{
	uint8_t elem[MP_INT_MAX];

	for (size_t i = s->next; i < s->n_ints; i++)
		buf_put(out, elem, (size_t)(ints_put(s, i, elem) - elem));
}

void
sorter_ints_clear(struct sorter *s)
{
	mem_free_wide(s->ints, s->cap_ints, sizeof *s->ints);
	mem_free_wide(s->spare_ints, s->cap_spare_ints, sizeof *s->spare_ints);
	s->ints = s->spare_ints = NULL;
	s->n_ints = s->cap_ints = s->cap_spare_ints = 0;
}
