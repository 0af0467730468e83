/* SPDX-License-Identifier: MIT
 *
 * The merge cut into ranges of keys, so that threads of the pool may do some ahead of the one that is given:
 *
 *	part 0:   [      |    |          |    ]       |: the first record that does not come before a marked one,
 *	part 1:   [  |        |    |          ]          and which of equals are before it is known from their places
 *	part 2:   [         | |        |      ]
 *	range:      0      1     2        3           each is merged for itself, into memory
 *
 * The marks that part them are every so many bytes, in the order of all of them. Where a range begins in a part is
 * found between two marks of that part.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "op/whole/sorter_inner.h"

enum {
	CUT_LEAST = 64 * 1024,       /* size of a range from which on cutting pays */
	CUT_MOST = 4 * 1024 * 1024,  /* and beyond which it is of no more use */
	CUT_BUFFER = 16 * 1024       /* least size of a buffer that reads a part */
};

/* A range that is being made, or is there. */
struct cut_slot {
	struct buf made;     /* elements, each behind its length of four bytes */
	enum status code;
	struct err err;
};
struct sorter_cut {
	struct ahead ahead;
	size_t n;            /* ranges */
	size_t *edges;       /* marks with which the ranges from the second on begin */
	size_t *first;       /* the first mark of each part, and the end of them */
	size_t buffer, usual; /* sizes: of a buffer that reads a part, and of the elements of a range, about */
	struct cut_slot *slots;
	size_t n_slots;
	size_t range, at;    /* the next to be given: the range, and a place in its elements */
	bool needed;         /* it is there */
};

/* The order of all records, among marks. */
static int
cut_compare(const void *a, const void *b, void *arg)
{
	const struct sorter *s = arg;
	size_t i, k;

	memcpy(&i, a, sizeof i);
	memcpy(&k, b, sizeof k);
	struct sorter_edge x = sorter_edge(s, &s->marks[i]), y = sorter_edge(s, &s->marks[k]);
	int c = x.prefix != y.prefix ? (x.prefix > y.prefix) - (x.prefix < y.prefix)
		: sorter_compare(&s->order, &x.r, &y.r);
	return c ? c : (i > k) - (i < k);
}

/* The first mark of a part that does not come before another one; marks of a part are in order. */
static size_t
cut_find(const struct sorter *s, size_t part, size_t edge)
{
	size_t low = s->cut->first[part], high = s->cut->first[part + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cut_compare(&mid, &edge, (void *)s) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The stretch of a part that has to be read for a range: from the last mark before it to the first behind it. */
static struct sorter_part
cut_part(const struct sorter *s, size_t part, size_t range)
{
	const struct sorter_cut *c = s->cut;
	struct sorter_part all = s->parts[s->unmerged + part];

	if (range) {
		size_t at = cut_find(s, part, c->edges[range - 1]);

		if (at > c->first[part])
			all.at = s->marks[at - 1].at;
	}
	if (range + 1 < c->n) {
		size_t at = cut_find(s, part, c->edges[range]);

		if (at < c->first[part + 1])
			all.end = s->marks[at].at;
	}
	return all;
}

static enum status
cut_merge(const struct sorter *s, size_t range, struct merge *m, struct buf *to, struct err *e)
{
	const struct sorter_cut *c = s->cut;
	bool begins = range > 0, ends = range + 1 < c->n;
	size_t n = s->n_parts - s->unmerged;
	struct sorter_edge from, end;
	struct sorter_part *parts = mem_array(n, sizeof *parts);

	if (begins)
		from = sorter_edge(s, &s->marks[c->edges[range - 1]]);
	if (ends)
		end = sorter_edge(s, &s->marks[c->edges[range]]);
	for (size_t i = 0; i < n; i++)
		parts[i] = cut_part(s, i, range);
	enum status st = merge_open(m, s, parts, n, c->buffer, begins ? &from : NULL, e);
	mem_free(parts);
	while (st == ST_OK) {
		const struct stretch *t = merge_head(m);

		if (t->over || (ends && !sorter_before_edge(s, t, (uint32_t)s->unmerged + m->tree[0], &end)))
			break;
		uint8_t *p = buf_room(to, 4 + t->r.len);
		memcpy(p, &t->r.len, 4);
		memcpy(p + 4, t->r.elem, t->r.len);
		to->len += 4 + t->r.len;
		st = merge_step(m, e);
	}
	return st;
}

static void
cut_work(void *arg, size_t range)
{
	const struct sorter *s = arg;
	struct cut_slot *slot = &s->cut->slots[range % s->cut->n_slots];
	struct merge m;

	buf_reset(&slot->made);
	buf_room(&slot->made, s->cut->usual);
	slot->code = cut_merge(s, range, &m, &slot->made, &slot->err);
	merge_close(&m);
}

/* How many marks a range has; 0: the merge is not cut. */
static size_t
cut_size(const struct sorter *s, size_t n_slots)
{
	/* A range takes twice its size, with its buffers; in each part it may begin and end between marks. */
	uint64_t room = s->mem / 2 / n_slots / 2, ragged = (s->n_parts - s->unmerged) * s->mark_every;

	room = room > CUT_MOST ? CUT_MOST : room;
	if (room < CUT_LEAST || room < 2 * ragged)
		return 0;
	return (size_t)((room - ragged) / s->mark_every);
}

void
sorter_cut_begin(struct sorter *s)
{
	uint32_t threads = pool_size();
	size_t gone = 0, n_parts = s->n_parts - s->unmerged, n_slots = threads + 1, each = cut_size(s, n_slots);

	while (gone < s->n_marks && s->marks[gone].part < s->unmerged)
		gone++;
	size_t n_marks = s->n_marks - gone;
	if (threads < 2 || !each || n_marks < 2 * each)
		return;
	struct sorter_cut *c = s->cut = mem_zalloc(sizeof *c);
	size_t *order = mem_array(n_marks, sizeof *order);
	for (size_t i = 0; i < n_marks; i++)
		order[i] = gone + i;
	qsort_r(order, n_marks, sizeof *order, cut_compare, s);
	c->n = n_marks / each;
	c->edges = order;
	for (size_t i = 1; i < c->n; i++)
		c->edges[i - 1] = order[i * each];
	c->first = mem_array(n_parts + 1, sizeof *c->first);
	for (size_t part = 0, i = gone; part <= n_parts; part++) {
		while (i < s->n_marks && s->marks[i].part < s->unmerged + part)
			i++;
		c->first[part] = i;
	}
	c->usual = each * (size_t)s->mark_every;
	c->buffer = c->usual / n_parts;
	c->buffer = c->buffer < CUT_BUFFER ? CUT_BUFFER : c->buffer > SORTER_BUFFER ? SORTER_BUFFER : c->buffer;
	c->n_slots = n_slots;
	c->slots = mem_zalloc(n_slots * sizeof *c->slots);
	ahead_begin_within(&c->ahead, c->n, n_slots - 1, cut_work, s);
}

enum status
sorter_cut_take(struct sorter *s, struct run *out, struct err *e)
{
	struct sorter_cut *c = s->cut;
	size_t bytes = 0;

	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		struct cut_slot *slot = &c->slots[c->range % c->n_slots];
		uint32_t len;

		if (c->range == c->n)
			return ST_END;
		if (!c->needed)
			ahead_need(&c->ahead, c->range);
		c->needed = true;
		if (slot->code != ST_OK) {
			*e = slot->err;
			return slot->code;
		}
		if (c->at == slot->made.len) {
			c->at = 0;
			c->range++;
			c->needed = false;
			continue;
		}
		memcpy(&len, slot->made.data + c->at, 4);
		uint8_t *p = run_room(out, len);
		memcpy(p, slot->made.data + c->at + 4, len);
		run_done(out, p + len, 0);
		c->at += 4 + len;
		bytes += len;
	}
	return ST_OK;
}

void
sorter_cut_free(struct sorter *s)
{
	struct sorter_cut *c = s->cut;

	s->cut = NULL;
	if (!c)
		return;
	ahead_end(&c->ahead);
	for (size_t i = 0; i < c->n_slots; i++)
		buf_clear(&c->slots[i].made);
	mem_free(c->slots);
	mem_free(c->edges);
	mem_free(c->first);
	mem_free(c);
}
