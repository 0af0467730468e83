/* SPDX-License-Identifier: MIT
 *
 * The past of a stream that nobody can need any more: splits before its oldest restart
 * point. Its memory and its rows so stay as small as they are, however long it runs.
 * A restart point can have a large state (a shuffle of many elements). A stream keeps two of
 * that size: one that is needed if the worker is lost, and one that takes its place when
 * readers are so far.
 */
#include <string.h>

#include "base/mem.h"
#include "core/disp/disp_past.h"
#include "core/disp/disp_row.h"

enum {
	PAST_ROWS = 4096,  /* rows that go at a time */
	PAST_ROWS_SMALL = 4,
	PAST_SPLITS = 32,  /* fewer are not worth moving the others */
	PAST_ROOM = 16,    /* times as much as is used is too much */
	PAST_LARGE = 64 * 1024, /* bytes of a state */
	PAST_LARGE_SMALL = 16,
	PAST_LARGE_POINTS = 2
};

struct split_place *
past_split(const struct stream *s, uint64_t k)
{
	return &s->splits[k - s->first_split];
}

struct split_place *
past_add_split(struct stream *s)
{
	size_t n = (size_t)(s->n_splits++ - s->first_split);

	if (n == s->cap_splits)
		s->splits = mem_grow(s->splits, &s->cap_splits, n + 1, sizeof *s->splits);
	return &s->splits[n];
}

/* The splits from number `from` on are moved to the front, or to a smaller place. */
static void
past_move(struct stream *s, uint64_t from)
{
	size_t n = (size_t)(s->n_splits - from);

	if (n < s->cap_splits / PAST_ROOM) {
		struct split_place *small = mem_dup(past_split(s, from), n * sizeof *small);

		mem_free(s->splits);
		s->splits = small;
		s->cap_splits = n;
	} else {
		memmove(s->splits, past_split(s, from), n * sizeof *s->splits);
	}
	s->first_split = from;
	if (s->saved_splits < from)
		s->saved_splits = from;
}

/* The last two stay: how large the next one is follows from them. */
void
past_forget(struct disp *d, struct stream *s)
{
	uint64_t from = s->n_points ? s->points[0].split : 0, rows = d->o.small_splits ? PAST_ROWS_SMALL : PAST_ROWS;
	uint64_t few = d->o.small_splits ? 1 : PAST_SPLITS, n;
	uint64_t floor = views_floor(s), window = window_floor(s);

	if (s->n_splits < 2)
		return;
	/* A group that came late lacks what is before the first point: for it the stream is made from its start. */
	if (s->n_points && s->points[0].offset > (floor > window ? floor : window))
		return;
	from = from < s->n_splits - 2 ? from : s->n_splits - 2;
	if (s->worker && s->asked < from) /* it may make again what others have had by now */
		from = s->asked;
	if (from <= s->first_split)
		return;
	n = s->n_splits - from;
	if (from - s->first_split >= few && from - s->first_split >= n)
		past_move(s, from);
	if (s->first_split - s->first_row >= rows) {
		s->first_row = s->first_split;
		disp_delete_below(d, ROW_SPLIT, s->iter->id, s->index, s->first_row);
	}
}

enum status
past_load_split(struct stream *s, uint64_t k, const struct split_place *p, struct err *e)
{
	if (!s->n_splits)
		s->n_splits = s->first_split = s->first_row = k;
	if (k != s->n_splits)
		return err_set(e, ST_DATA, "split %llu of stream %u has no row", (unsigned long long)s->n_splits, s->index);
	*past_add_split(s) = *p;
	s->saved_splits = s->n_splits;
	return ST_OK;
}

enum status
past_loaded(struct disp *d, struct stream *s, struct err *e)
{
	if (!s->finished && s->first_split && (!s->n_points || s->points[0].split < s->first_split))
		return err_set(e, ST_DATA, "split %llu of stream %u has no row",
			       (unsigned long long)(s->n_points ? s->points[0].split : 0), s->index);
	if (!s->finished && s->first_split) /* the first point was below what is acknowledged before */
		past_forget(d, s);
	return ST_OK;
}

/* Large states */

bool
past_large(const struct disp *d, size_t n)
{
	return n > (d->o.small_splits ? PAST_LARGE_SMALL : PAST_LARGE);
}

bool
past_room(struct disp *d, struct stream *s, size_t n, bool certain)
{
	if (!past_large(d, n) || s->n_points < PAST_LARGE_POINTS)
		return true;
	while (certain && s->n_points >= PAST_LARGE_POINTS)
		disp_split_drop_point(d, s, s->n_points - 1);
	return certain;
}

void
past_saved(const struct disp *d, struct point *p)
{
	if (!d || !d->o.read_row || !past_large(d, p->state.n))
		return;
	mem_free(p->state.p);
	p->state = (struct bytes){ 0 };
	p->stored = true;
}

struct bytes
past_state(const struct disp *d, const struct stream *s, const struct point *p)
{
	struct disp_row row = { .kind = ROW_POINT, .n_key = 3, .key = { s->iter->id, s->index, p->offset } };
	struct bytes out = { 0 };
	struct point read = { 0 };
	struct buf b = { 0 };
	struct err e;

	if (p->stored && d->o.read_row(d->o.read_arg, &row, &b) &&
	    !fields_decode("restart point row", row_point_fields, b.data, b.len, &read, &e))
		out = read.state;
	else if (p->state.n)
		out = (struct bytes){ mem_dup(p->state.p, p->state.n), p->state.n };
	buf_clear(&b);
	return out;
}
