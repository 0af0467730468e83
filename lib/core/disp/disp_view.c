/* SPDX-License-Identifier: MIT
 *
 * The ledgers of a stream: one for each view, that is for those who may take its
 * elements. A stream has all its views from the start, and they count by themselves: element
 * k of a view is at offset round_at(part, k) of the stream.
 *
 * An ordinary job has one view, which lies in the stream itself.
 */
#include <string.h>

#include "base/mem.h"
#include "core/disp/disp_inner.h"

enum { VIEW_MISSED = 256 }; /* ranges that are kept of what was missed */

bool
views_whole(const struct iteration *it)
{
	return it->job->opts.share != SHARE_NONE;
}

struct round_part
views_part(const struct iteration *it, size_t view)
{
	return views_whole(it) ? ROUND_ALL : it->views[view];
}

/* The element of the stream that is element k of the view. */
static uint64_t
views_at(const struct stream *s, size_t view, uint64_t k)
{
	struct round_part part = views_part(s->iter, view);
	uint64_t at = round_at(&part, k);

	return at > UINT64_MAX - s->base ? UINT64_MAX : s->base + at;
}

uint64_t
views_below(const struct stream *s, size_t view, uint64_t offset)
{
	struct round_part part = views_part(s->iter, view);

	return round_below(&part, offset > s->base ? offset - s->base : 0);
}

uint64_t
views_gap(const struct stream *s, size_t view, const struct intervals *taken)
{
	return views_at(s, view, intervals_gap(taken, 0));
}

uint64_t
views_rest(const struct stream *s, uint64_t length)
{
	return length > s->base ? (length - s->base) % views_part(s->iter, 0).of : 0;
}

uint64_t
views_gives(const struct stream *s)
{
	return s->length > s->base ? s->length - s->base : 0;
}

void
views_init(struct stream *s)
{
	size_t n = s->iter->n_views;

	s->views = n > 1 ? mem_array(n, sizeof *s->views) : &s->one;
}

void
views_add(struct stream *s)
{
	size_t n = s->iter->n_views;
	struct view *views = mem_array(n, sizeof *views);

	memcpy(views, s->views, (n - 1) * sizeof *views);
	if (s->views == &s->one)
		s->one = (struct view){ 0 };
	else
		mem_free(s->views);
	s->views = views;
}

void
views_clear(struct stream *s)
{
	for (size_t i = 0; i < s->iter->n_views; i++) {
		intervals_clear(&s->views[i].acked);
		intervals_clear(&s->views[i].presumed);
		intervals_clear(&s->views[i].missed);
	}
	if (s->views != &s->one)
		mem_free(s->views);
	s->views = NULL;
}

uint64_t
views_end(const struct stream *s)
{
	uint64_t end = 0;

	for (size_t i = 0; i < s->iter->n_views; i++) {
		const struct intervals *acked = &s->views[i].acked;
		const struct intervals *missed = &s->views[i].missed;
		const struct range *last = acked->n ? &acked->v[acked->n - 1] : NULL, *lost;
		uint64_t at = last ? views_at(s, i, last->end - 1) : 0;

		lost = missed->n ? &missed->v[missed->n - 1] : NULL;
		if (last && lost && lost->end == last->end) { /* that may not be there at all */
			if (lost->start <= last->start)
				continue;
			at = lost->start - 1;
		}
		if (acked->n && at != UINT64_MAX && at + 1 > end)
			end = at + 1;
	}
	return s->ended && end > s->length ? s->length : end; /* the last elements count otherwise */
}

uint64_t
views_floor(const struct stream *s)
{
	uint64_t floor = UINT64_MAX;

	for (size_t i = 0; i < s->iter->n_views; i++) {
		uint64_t at = views_gap(s, i, &s->views[i].acked);

		if (!group_live(s->iter, i))
			continue;
		floor = at < floor ? at : floor;
	}
	if (floor == UINT64_MAX) /* there is nobody */
		return 0;
	return s->ended && floor > s->length - views_rest(s, s->length) ? s->length - views_rest(s, s->length) : floor;
}

uint64_t
views_count(const struct stream *s)
{
	uint64_t n = 0;

	if (views_whole(s->iter)) /* all have these */
		return views_floor(s);
	for (size_t i = 0; i < s->iter->n_views; i++)
		n += intervals_count(&s->views[i].acked);
	return n;
}

uint64_t
views_own(const struct stream *s, size_t view, uint64_t length)
{
	return views_below(s, view, length - views_rest(s, length));
}

uint64_t
views_length(const struct stream *s, size_t view)
{
	struct round_part p = views_part(s->iter, view);

	if (p.of > 1 && !s->tail_known)
		return UINT64_MAX;
	return views_own(s, view, s->length) + round_spread_below(&p, s->tail_all, s->tail_at + s->tail_n) -
		round_spread_below(&p, s->tail_all, s->tail_at);
}

bool
views_covered(const struct stream *s, uint64_t length)
{
	bool any = false;

	for (size_t i = 0; i < s->iter->n_views; i++) {
		if (!group_live(s->iter, i))
			continue;
		any = true;
		if (!intervals_covers(&s->views[i].acked, 0, views_own(s, i, length)))
			return false;
	}
	return any;
}

bool
views_reached(const struct stream *s)
{
	for (size_t i = 0; i < s->iter->n_views; i++)
		if (!s->views[i].reached && group_live(s->iter, i))
			return false;
	return true;
}

bool
views_finished(struct stream *s)
{
	size_t n = s->iter->n_views;

	if (group_shares(s->iter)) /* groups come and go */
		return views_covered(s, s->length);
	for (; s->n_done < n; s->n_done++) { /* those before it cannot lose anything */
		uint64_t length = views_length(s, s->n_done);

		if (!intervals_covers(&s->views[s->n_done].acked, 0, length))
			return false;
	}
	return true;
}

void
views_cut(struct view *v, uint64_t length)
{
	for (size_t i = 0; i < v->missed.n; i++)
		if (v->missed.v[i].end > length)
			intervals_sub(&v->acked, v->missed.v[i].start > length ? v->missed.v[i].start : length,
				      v->missed.v[i].end);
	intervals_sub(&v->missed, length, UINT64_MAX);
}

uint64_t
views_missed(const struct view *v)
{
	return intervals_count(&v->missed) + v->missed_more;
}

void
views_miss(struct view *v, uint64_t start, uint64_t end)
{
	struct intervals *m = &v->missed;

	intervals_add(&v->acked, start, end);
	if (m->n < VIEW_MISSED || m->v[m->n - 1].end == start)
		intervals_add(m, start, end);
	else
		v->missed_more += end - start;
}

void
views_taken(const struct stream *s, size_t view, struct intervals *out)
{
	intervals_copy(out, &s->views[view].acked);
	for (size_t i = 0; i < s->n_held; i++)
		if (s->held[i].view == view)
			intervals_add_all(out, &s->held[i].got);
}
