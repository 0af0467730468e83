/* SPDX-License-Identifier: MIT
 *
 * The merge of sorted stretches in a file, by a tree of losers:
 *
 *	            tree[0] winner
 *	         tree[1]               each inner node holds the stretch that
 *	    tree[2]   tree[3]          lost there; a new head of the winner plays
 *	   s0   s1   s2   s3           against the losers on its way up
 *
 * Of equal heads the earlier stretch wins, which keeps the sort stable.
 */
#include "base/mem.h"
#include "base/transfer.h"
#include "op/whole/sorter_inner.h"

/* Reads on until the buffer holds `need` bytes from `from` on. */
static enum status
stretch_fill(const struct sorter *s, struct stretch *t, size_t need, struct err *e)
{
	size_t have = t->to - t->from;

	memmove(t->buf, t->buf + t->from, have);
	t->from = 0;
	t->to = have;
	if (need > t->cap)
		t->buf = mem_grow(t->buf, &t->cap, need, 1);
	size_t some = t->cap - t->to;
	if (some > t->end - t->at)
		some = (size_t)(t->end - t->at);
	ssize_t n = transfer_read_at(s->fd, t->buf + t->to, some, t->at);
	if (n < 0)
		return err_errno(e, "cannot read sorted elements back from a temporary file");
	t->to += (size_t)n;
	t->at += (uint64_t)n;
	if (t->to < need)
		return err_set(e, ST_IO, "a temporary file has become shorter");
	return ST_OK;
}

/* Makes the next record of the stretch its head. */
static enum status
stretch_next(const struct sorter *s, struct stretch *t, struct err *e)
{
	enum status st = ST_OK;

	if (t->from == t->to && t->at == t->end) {
		t->over = true;
		return ST_OK;
	}
	if (t->to - t->from < SORTER_HEAD)
		st = stretch_fill(s, t, SORTER_HEAD, e);
	if (st != ST_OK)
		return st;
	sorter_read(t->buf + t->from, &t->r);
	size_t size = sorter_record_size(&t->r);
	if (t->to - t->from < size) {
		st = stretch_fill(s, t, size, e);
		if (st != ST_OK)
			return st;
		sorter_read(t->buf + t->from, &t->r);
	}
	t->from += size;
	t->prefix = sorter_prefix(&s->order, &t->r);
	t->more = sorter_more(&s->order, &t->r);
	return ST_OK;
}

/* Whether the head of a comes before that of b; of equal ones, the stretch with the lower
 * number, which is older. */
static bool
merge_before(const struct merge *m, uint32_t a, uint32_t b)
{
	const struct stretch *x = &m->stretches[a], *y = &m->stretches[b];
	int c;

	if (x->over || y->over)
		return y->over && (!x->over || a < b);
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix;
	if (x->more != y->more)
		return x->more < y->more;
	c = sorter_compare(&m->s->order, &x->r, &y->r);
	return c ? c < 0 : a < b;
}

/* Plays the stretch against the losers on its way up the tree. */
static void
merge_play(struct merge *m, uint32_t i)
{
	for (size_t at = (i + m->n) / 2; at; at /= 2)
		if (merge_before(m, m->tree[at], i)) {
			uint32_t t = m->tree[at];

			m->tree[at] = i;
			i = t;
		}
	m->tree[0] = i;
}

/* Finds the winner below a node, and notes its losers. */
static uint32_t
merge_build(struct merge *m, size_t at)
{
	if (at >= m->n)
		return (uint32_t)(at - m->n);
	uint32_t a = merge_build(m, 2 * at), b = merge_build(m, 2 * at + 1);
	bool first = merge_before(m, a, b);

	m->tree[at] = first ? b : a;
	return first ? a : b;
}

enum status
merge_open(struct merge *m, const struct sorter *s, const struct sorter_part *parts, size_t n, size_t buffer,
	   const struct sorter_edge *from, struct err *e)
{
	enum status st = ST_OK;

	*m = (struct merge){ .s = s, .n = n, .stretches = mem_zalloc(n * sizeof *m->stretches),
		.tree = mem_array(n, sizeof *m->tree) };
	for (size_t i = 0; st == ST_OK && i < n; i++) {
		struct stretch *t = &m->stretches[i];

		*t = (struct stretch){ .at = parts[i].at, .end = parts[i].end, .cap = buffer, .buf = mem_alloc(buffer) };
		do
			st = stretch_next(s, t, e);
		while (st == ST_OK && from && !t->over
		       && sorter_before_edge(s, t, (uint32_t)(s->unmerged + i), from));
	}
	if (st == ST_OK)
		m->tree[0] = n > 1 ? merge_build(m, 1) : 0;
	return st;
}

enum status
merge_step(struct merge *m, struct err *e)
{
	uint32_t winner = m->tree[0];
	enum status st = stretch_next(m->s, &m->stretches[winner], e);

	if (st == ST_OK && m->n > 1)
		merge_play(m, winner);
	return st;
}

void
merge_close(struct merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		mem_free(m->stretches[i].buf);
	mem_free(m->stretches);
	mem_free(m->tree);
	*m = (struct merge){ 0 };
}

static enum status
merge_parts(struct sorter *s, size_t from, size_t n, struct err *e)
{
	size_t buffer = s->mem / (n + 1);

	buffer = buffer < SORTER_BUFFER ? SORTER_BUFFER : buffer > SORTER_BUFFER_MAX ? SORTER_BUFFER_MAX : buffer;
	return merge_open(&s->merge, s, s->parts + from, n, buffer, NULL, e);
}

/* Merges the parts [from, from + n) into one, which is added at the end. */
static enum status
merge_some(struct sorter *s, size_t from, size_t n, struct err *e)
{
	enum status st = sorter_part_begin(s, e);

	if (st == ST_OK)
		st = merge_parts(s, from, n, e);
	while (st == ST_OK && !merge_head(&s->merge)->over) {
		const struct stretch *t = merge_head(&s->merge);
		size_t size = sorter_record_size(&t->r);

		st = sorter_part_write(s, t->r.elem + t->r.len - size, size, e);
		if (st == ST_OK)
			st = merge_step(&s->merge, e);
	}
	merge_close(&s->merge);
	return st == ST_OK ? sorter_part_end(s, e) : st;
}

enum status
sorter_merge_begin(struct sorter *s, struct err *e)
{
	size_t fan = s->mem / SORTER_BUFFER, done = 0, level;
	enum status st = ST_OK;

	fan = fan < 4 ? 4 : fan > SORTER_FAN_MAX ? SORTER_FAN_MAX : fan;
	/* Level by level, neighbours are merged with neighbours: equal keys keep their order. */
	while (st == ST_OK && s->n_parts - done > fan) {
		level = s->n_parts;
		for (; st == ST_OK && done < level; done += fan)
			st = merge_some(s, done, level - done < fan ? level - done : fan, e);
		done = level;
	}
	if (st != ST_OK)
		return st;
	s->unmerged = done;
	sorter_cut_begin(s);
	return s->cut ? ST_OK : merge_parts(s, done, s->n_parts - done, e);
}

enum status
sorter_merge_take(struct sorter *s, struct run *out, struct err *e)
{
	size_t bytes = 0;
	enum status st = ST_OK;

	if (s->cut)
		return sorter_cut_take(s, out, e);
	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		const struct stretch *t = merge_head(&s->merge);

		if (t->over)
			return ST_END;
		uint8_t *p = run_room(out, t->r.len);
		memcpy(p, t->r.elem, t->r.len);
		run_done(out, p + t->r.len, 0);
		bytes += t->r.len;
		if ((st = merge_step(&s->merge, e)) != ST_OK)
			return st;
	}
	return ST_OK;
}

void
sorter_merge_clear(struct sorter *s)
{
	sorter_cut_free(s);
	merge_close(&s->merge);
}
