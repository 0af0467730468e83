/* SPDX-License-Identifier: MIT
 *
 * The ledgers of a stream: one for each view, that is for those who may take its
 * elements. A stream has all its views from the start, and they count by themselves: element
 * k of a view is at offset round_at(part, k) of the stream.
 *
 * An ordinary job has one view, which lies in the stream itself.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"

void
views_init(struct stream *s)
{
	size_t n = s->iter->n_views;

	s->views = n > 1 ? mem_array(n, sizeof *s->views) : &s->one;
}

void
views_clear(struct stream *s)
{
	for (size_t i = 0; i < s->iter->n_views; i++) {
		intervals_clear(&s->views[i].acked);
		intervals_clear(&s->views[i].presumed);
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
		uint64_t at = acked->n ? round_at(&s->iter->views[i], acked->v[acked->n - 1].end - 1) : 0;

		if (acked->n && at != UINT64_MAX && at + 1 > end)
			end = at + 1;
	}
	return end;
}

uint64_t
views_floor(const struct stream *s)
{
	uint64_t floor = UINT64_MAX;

	for (size_t i = 0; i < s->iter->n_views; i++) {
		uint64_t at = round_at(&s->iter->views[i], intervals_gap(&s->views[i].acked, 0));

		floor = at < floor ? at : floor;
	}
	return floor;
}

uint64_t
views_count(const struct stream *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->iter->n_views; i++)
		n += intervals_count(&s->views[i].acked);
	return n;
}

uint64_t
views_length(const struct stream *s, size_t view, uint64_t length)
{
	return round_below(&s->iter->views[view], length);
}

bool
views_covered(const struct stream *s, uint64_t length)
{
	for (size_t i = 0; i < s->iter->n_views; i++)
		if (!intervals_covers(&s->views[i].acked, 0, views_length(s, i, length)))
			return false;
	return true;
}

bool
views_reached(const struct stream *s)
{
	for (size_t i = 0; i < s->iter->n_views; i++)
		if (!s->views[i].reached)
			return false;
	return true;
}

bool
views_finished(struct stream *s)
{
	size_t n = s->iter->n_views;

	for (; s->n_done < n; s->n_done++) { /* those before it cannot lose anything */
		uint64_t length = views_length(s, s->n_done, s->length);

		if (!intervals_covers(&s->views[s->n_done].acked, 0, length))
			return false;
	}
	return true;
}

void
views_taken(const struct stream *s, size_t view, struct intervals *out)
{
	intervals_copy(out, &s->views[view].acked);
	for (size_t i = 0; i < s->n_held; i++)
		if (s->held[i].view == view)
			intervals_add_all(out, &s->held[i].got);
}
