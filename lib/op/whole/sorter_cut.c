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
	struct sorter_edge *edges; /* with which the ranges from the second on begin */
	size_t *first;       /* the first mark of each part, and the end of them */
	size_t buffer, usual; /* sizes: of a buffer that reads a part, and of the elements of a range, about */
	struct cut_slot *slots;
	size_t n_slots;
	size_t range;        /* the one that is given, or is next */
	const struct cut_slot *slot; /* its elements; NULL: not there yet */
	size_t at;           /* the place of the next element among them */
};

static int
cut_compare(const void *a, const void *b, void *arg)
{
	return sorter_edge_compare(arg, a, b);
}

/* The first mark of a part that does not come before the edge; marks of a part are in order. */
static size_t
cut_find(const struct sorter *s, size_t part, const struct sorter_edge *edge)
{
	size_t low = s->cut->first[part], high = s->cut->first[part + 1];

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct sorter_edge x = sorter_edge(s, &s->marks[mid]);

		if (sorter_edge_compare(s, &x, edge) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The stretch of a part that has to be read for what lies between two edges (NULL: none): from the last mark before
 * it to the first behind it. */
static struct sorter_part
cut_part(const struct sorter *s, size_t part, const struct sorter_edge *from, const struct sorter_edge *end)
{
	const struct sorter_cut *c = s->cut;
	struct sorter_part some = s->parts[s->unmerged + part];
	size_t first = from ? cut_find(s, part, from) : c->first[part];
	size_t behind = end ? cut_find(s, part, end) : c->first[part + 1];

	if (first > c->first[part])
		some.at = s->marks[first - 1].at;
	if (behind < c->first[part + 1])
		some.end = s->marks[behind].at;
	return some;
}

static enum status
cut_merge(const struct sorter *s, size_t range, struct merge *m, struct buf *to, struct err *e)
{
	const struct sorter_cut *c = s->cut;
	const struct sorter_edge *from = range ? &c->edges[range - 1] : NULL;
	const struct sorter_edge *end = range + 1 < c->n ? &c->edges[range] : NULL;
	size_t n = s->n_parts - s->unmerged;
	struct sorter_part *parts = mem_array(n, sizeof *parts);

	for (size_t i = 0; i < n; i++)
		parts[i] = cut_part(s, i, from, end);
	enum status st = merge_open(m, s, parts, n, c->buffer, from, e);
	mem_free(parts);
	while (st == ST_OK) {
		const struct stretch *t = merge_head(m);

		if (t->over || (end && !sorter_before_edge(s, t, (uint32_t)s->unmerged + m->tree[0], end)))
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
	c->edges = mem_array(n_marks, sizeof *c->edges);
	for (size_t i = 0; i < n_marks; i++)
		c->edges[i] = sorter_edge(s, &s->marks[gone + i]);
	qsort_r(c->edges, n_marks, sizeof *c->edges, cut_compare, s);
	c->n = n_marks / each;
	for (size_t i = 1; i < c->n; i++)
		c->edges[i - 1] = c->edges[i * each];
	c->edges = mem_realloc(c->edges, c->n * sizeof *c->edges);
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

/* Waits for the elements of the range that is next. */
static enum status
cut_need(struct sorter_cut *c, struct err *e)
{
	const struct cut_slot *slot = &c->slots[c->range % c->n_slots];

	if (c->range == c->n)
		return ST_END;
	ahead_need(&c->ahead, c->range);
	if (slot->code != ST_OK) {
		*e = slot->err;
		return slot->code;
	}
	c->slot = slot;
	c->at = 0;
	return ST_OK;
}

enum status
sorter_cut_take(struct sorter *s, struct run *out, struct err *e)
{
	struct sorter_cut *c = s->cut;
	size_t bytes = 0;

	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		enum status st = c->slot ? ST_OK : cut_need(c, e);
		uint32_t len;

		if (st != ST_OK)
			return st;
		if (c->at == c->slot->made.len) {
			c->slot = NULL;
			c->range++;
			continue;
		}
		const uint8_t *from = c->slot->made.data + c->at;
		memcpy(&len, from, 4);
		uint8_t *p = run_room(out, len);
		memcpy(p, from + 4, len);
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

	if (!c)
		return;
	ahead_end(&c->ahead); /* until then threads look at s->cut */
	s->cut = NULL;
	for (size_t i = 0; i < c->n_slots; i++)
		buf_clear(&c->slots[i].made);
	mem_free(c->slots);
	mem_free(c->edges);
	mem_free(c->first);
	mem_free(c);
}
