/* SPDX-License-Identifier: MIT
 *
 * Sorted stretches in a file, and their merge by a tree of losers:
 *
 *	            tree[0] winner
 *	         tree[1]               each inner node holds the stretch that
 *	    tree[2]   tree[3]          lost there; a new head of the winner plays
 *	   s0   s1   s2   s3           against the losers on its way up
 *
 * Of equal heads the earlier stretch wins, which keeps the sort stable.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/transfer.h"
#include "op/whole/sorter_inner.h"

static const char *
merge_folder(const struct sorter *s)
{
	const char *own = getenv("TMPDIR");

	return s->tmp && *s->tmp ? s->tmp : own && *own ? own : "/tmp";
}

static enum status
merge_file(struct sorter *s, struct err *e)
{
	s->fd = gate_nameless(s->tmp && *s->tmp ? s->tmp : NULL);
	if (s->fd >= 0)
		return ST_OK;
	err_errno(e, "cannot make a temporary file in %s", merge_folder(s));
	if (e->help[0])
		return e->kind;
	err_help(e, "set TMPDIR or tmp= to another folder, or raise mem= to avoid the file");
	return e->kind;
}

static enum status
merge_flush(struct sorter *s, struct err *e)
{
	if (tmp_room_take(&s->room, s->write_len, s->fd, merge_folder(s), e) != ST_OK)
		return e->kind;
	if (!transfer_write_at(s->fd, s->write_buf, s->write_len, s->file_len)) {
		err_errno(e, "cannot write sorted elements to a temporary file in %s", merge_folder(s));
		err_help(e, "set TMPDIR or tmp= to another folder");
		return e->kind;
	}
	s->file_len += s->write_len;
	s->write_len = 0;
	return ST_OK;
}

enum status
sorter_part_write(struct sorter *s, const uint8_t *p, size_t n, struct err *e)
{
	while (n) {
		size_t some = SORTER_WRITE - s->write_len;

		if (some > n)
			some = n;
		memcpy(s->write_buf + s->write_len, p, some);
		s->write_len += some;
		p += some;
		n -= some;
		if (s->write_len == SORTER_WRITE && merge_flush(s, e) != ST_OK)
			return e->kind;
	}
	return ST_OK;
}

enum status
sorter_part_begin(struct sorter *s, struct err *e)
{
	if (s->fd < 0 && merge_file(s, e) != ST_OK)
		return e->kind;
	if (!s->write_buf)
		s->write_buf = mem_alloc(SORTER_WRITE);
	s->parts = mem_grow(s->parts, &s->cap_parts, s->n_parts + 1, sizeof *s->parts);
	s->parts[s->n_parts].at = s->file_len;
	return ST_OK;
}

enum status
sorter_part_end(struct sorter *s, struct err *e)
{
	enum status st = merge_flush(s, e);

	s->parts[s->n_parts++].end = s->file_len;
	return st;
}

enum status
sorter_spill(struct sorter *s, struct err *e)
{
	enum status st = sorter_part_begin(s, e);
	struct sorter_record r;

	if (st != ST_OK)
		return st;
	sorter_sort(s);
	for (size_t i = 0; st == ST_OK && i < s->n; i++) {
		sorter_need(s, i);
		const uint8_t *p = s->arena + s->entries[i].at;

		sorter_ahead(s, i);
		sorter_read(p, &r);
		st = sorter_part_write(s, p, sorter_record_size(&r), e);
	}
	sorter_ranges_end(s);
	if (st == ST_OK)
		st = sorter_part_end(s, e);
	s->n = s->len = 0;
	return st;
}

/* Reads on until the buffer holds `need` bytes from `from` on. */
static enum status
stretch_fill(struct sorter *s, struct stretch *t, size_t need, struct err *e)
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
stretch_next(struct sorter *s, struct stretch *t, struct err *e)
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
	return ST_OK;
}

/* Whether the head of a comes before that of b; of equal ones, the stretch with the lower
 * number, which is older. */
static bool
merge_before(const struct sorter *s, uint32_t a, uint32_t b)
{
	const struct stretch *x = &s->stretches[a], *y = &s->stretches[b];
	int c;

	if (x->over || y->over)
		return y->over && (!x->over || a < b);
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix;
	c = sorter_compare(&s->order, &x->r, &y->r);
	return c ? c < 0 : a < b;
}

/* Plays the stretch against the losers on its way up the tree. */
static void
merge_play(struct sorter *s, uint32_t i)
{
	for (size_t at = (i + s->n_stretches) / 2; at; at /= 2)
		if (merge_before(s, s->tree[at], i)) {
			uint32_t t = s->tree[at];

			s->tree[at] = i;
			i = t;
		}
	s->tree[0] = i;
}

/* Finds the winner below a node, and notes its losers. */
static uint32_t
merge_build(struct sorter *s, size_t at)
{
	if (at >= s->n_stretches)
		return (uint32_t)(at - s->n_stretches);
	uint32_t a = merge_build(s, 2 * at), b = merge_build(s, 2 * at + 1);
	bool first = merge_before(s, a, b);

	s->tree[at] = first ? b : a;
	return first ? a : b;
}

static enum status
merge_open(struct sorter *s, size_t from, size_t n, struct err *e)
{
	size_t cap = s->mem / (n + 1);
	enum status st = ST_OK;

	if (cap < SORTER_BUFFER)
		cap = SORTER_BUFFER;
	if (cap > 4 * 1024 * 1024)
		cap = 4 * 1024 * 1024;
	s->n_stretches = n;
	s->stretches = mem_array(n, sizeof *s->stretches);
	s->tree = mem_array(n, sizeof *s->tree);
	for (size_t i = 0; st == ST_OK && i < n; i++) {
		struct stretch *t = &s->stretches[i];

		t->at = s->parts[from + i].at;
		t->end = s->parts[from + i].end;
		t->cap = cap;
		t->buf = mem_alloc(cap);
		st = stretch_next(s, t, e);
	}
	if (st == ST_OK)
		s->tree[0] = n > 1 ? merge_build(s, 1) : 0;
	return st;
}

void
sorter_merge_clear(struct sorter *s)
{
	for (size_t i = 0; i < s->n_stretches; i++)
		mem_free(s->stretches[i].buf);
	mem_free(s->stretches);
	mem_free(s->tree);
	s->stretches = NULL;
	s->tree = NULL;
	s->n_stretches = 0;
}

static enum status
merge_step(struct sorter *s, struct err *e)
{
	uint32_t winner = s->tree[0];
	enum status st = stretch_next(s, &s->stretches[winner], e);

	if (st == ST_OK && s->n_stretches > 1)
		merge_play(s, winner);
	return st;
}

/* Merges the parts [from, from + n) into one, which is added at the end. */
static enum status
merge_some(struct sorter *s, size_t from, size_t n, struct err *e)
{
	enum status st = sorter_part_begin(s, e);

	if (st == ST_OK)
		st = merge_open(s, from, n, e);
	while (st == ST_OK && !s->stretches[s->tree[0]].over) {
		const struct stretch *t = &s->stretches[s->tree[0]];
		size_t size = sorter_record_size(&t->r);

		st = sorter_part_write(s, t->r.elem + t->r.len - size, size, e);
		if (st == ST_OK)
			st = merge_step(s, e);
	}
	sorter_merge_clear(s);
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
	return st == ST_OK ? merge_open(s, done, s->n_parts - done, e) : st;
}

enum status
sorter_merge_take(struct sorter *s, struct run *out, struct err *e)
{
	size_t bytes = 0;
	enum status st = ST_OK;

	while (out->n < RUN_USUAL && bytes < RUN_BYTES) {
		const struct stretch *t = &s->stretches[s->tree[0]];

		if (t->over)
			return ST_END;
		uint8_t *p = run_room(out, t->r.len);
		memcpy(p, t->r.elem, t->r.len);
		run_done(out, p + t->r.len, 0);
		bytes += t->r.len;
		if ((st = merge_step(s, e)) != ST_OK)
			return st;
	}
	return ST_OK;
}
