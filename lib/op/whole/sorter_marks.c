/* SPDX-License-Identifier: MIT
 *
 * Marks in sorted parts of a file: the places and keys of some records, from which it is known where a range of keys
 * begins in each part without reading it.
 */
#include "base/mem.h"
#include "op/whole/sorter_inner.h"

enum {
	MARKS_EVERY = 32 * 1024, /* bytes from one to the next, until that takes too much memory; */
	MARKS_PART = 2048,       /* or that part of the memory, if it is less */
	MARKS_FAR = 1 << 30,     /* from here on they are of no use, and are not put farther apart */
	MARKS_MEMORY = 16        /* that part of the memory is enough for them */
};

/* Forgets every other one. */
static void
marks_thin(struct sorter *s)
{
	size_t n = 0, len = 0;

	for (size_t i = 0; i < s->n_marks; i += 2, n++) {
		struct sorter_mark m = s->marks[i];

		memmove(s->mark_keys.data + len, s->mark_keys.data + m.key, m.key_len);
		m.key = len;
		len += m.key_len;
		s->marks[n] = m;
	}
	s->n_marks = n;
	s->mark_keys.len = len;
	s->mark_every *= s->mark_every < MARKS_FAR ? 2 : 1;
}

void
sorter_mark(struct sorter *s, const uint8_t *record)
{
	struct sorter_record r;

	sorter_read(record, &r);
	uint32_t len = r.key_len ? r.key_len : r.len;
	if (s->n_marks > 1 && s->n_marks * sizeof *s->marks + s->mark_keys.len + len > s->mem / MARKS_MEMORY)
		marks_thin(s);
	s->marks = mem_grow(s->marks, &s->cap_marks, s->n_marks + 1, sizeof *s->marks);
	s->marks[s->n_marks++] = (struct sorter_mark){ .at = s->file_len + s->write_len, .part = (uint32_t)s->n_parts,
		.key = s->mark_keys.len, .key_len = len };
	buf_put(&s->mark_keys, r.key, len);
	if (!s->mark_every)
		s->mark_every = s->mem / MARKS_PART < MARKS_EVERY ? s->mem / MARKS_PART + 1 : MARKS_EVERY;
	s->mark_next = s->file_len + s->write_len + s->mark_every;
}

struct sorter_edge
sorter_edge(const struct sorter *s, const struct sorter_mark *m)
{
	const uint8_t *key = s->mark_keys.data + m->key;
	struct sorter_edge x = { .r = { .key = key, .elem = key, .key_len = m->key_len, .len = m->key_len },
		.at = m->at, .part = m->part };

	x.prefix = sorter_prefix(&s->order, &x.r);
	return x;
}

int
sorter_edge_compare(const struct sorter *s, const struct sorter_edge *a, const struct sorter_edge *b)
{
	int c = sorter_compare_all(&s->order, a->prefix, &a->r, b->prefix, &b->r);

	if (c)
		return c;
	return a->part != b->part ? (a->part > b->part) - (a->part < b->part)
		: (a->at > b->at) - (a->at < b->at);
}

bool
sorter_before_edge(const struct sorter *s, const struct stretch *t, uint32_t part, const struct sorter_edge *x)
{
	int c = sorter_compare_all(&s->order, t->prefix, &t->r, x->prefix, &x->r);

	if (c)
		return c < 0;
	if (part != x->part)
		return part < x->part;
	return t->at - (t->to - t->from) - sorter_record_size(&t->r) < x->at;
}
