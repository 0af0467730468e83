/* SPDX-License-Identifier: MIT
 *
 * Groups that share a job by a window. A worker that gives elements up says for which view,
 * and they stand in its ledger as missed, beside what it acknowledged: nothing waits for
 * them any more, and nothing is skipped in silence.
 *
 * When a stream is made again, a view that is behind the first by more than a worker keeps
 * would have missed what it lacks there. So it misses it now, or one reader that was slow for
 * a day would have a day made again.
 */
#include "core/disp/disp_window.h"

#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"

uint64_t
window_bytes(const struct iteration *it)
{
	const struct job_opts *o = &it->job->opts;

	return o->share != SHARE_WINDOW ? 0 : o->share_window ? (uint64_t)o->share_window : INT64_MAX;
}

uint64_t
window_floor(const struct stream *s)
{
	uint64_t end = s->window && window_bytes(s->iter) ? views_end(s) : 0;

	return end > s->window ? end - s->window : 0;
}

/* The part of [start, end) that nobody of the view has is missed. */
static void
window_miss(struct stream *s, uint32_t view, uint64_t start, uint64_t end)
{
	struct view *v = &s->views[view];
	struct intervals taken = { 0 };

	views_taken(s, view, &taken);
	for (uint64_t at = start; (at = intervals_gap(&taken, at)) < end;) {
		uint64_t stop = intervals_next(&taken, at);

		stop = stop < end ? stop : end;
		views_miss(v, at, stop);
		at = stop;
	}
	intervals_clear(&taken);
}

bool
window_leaves_out(const struct stream *s)
{
	/* A group that came late may have begun with what only the worker still had, and which cannot be made again. */
	return window_bytes(s->iter) || (group_shares(s->iter) && s->first_split);
}

uint64_t
window_from(const struct stream *s)
{
	uint64_t floor = window_floor(s), from = 0;

	/* Not before the first point of which all that follows is there; how much is kept may have changed. */
	for (unsigned i = 0; i < s->n_points && window_leaves_out(s); i++)
		if (s->points[i].offset <= floor || (!i && s->first_split))
			from = s->points[i].offset;
	return from;
}

void
window_begin(struct disp *d, struct stream *s)
{
	uint64_t from = window_from(s);

	for (uint32_t i = 0; from && i < s->iter->n_views; i++) {
		if (!group_live(s->iter, i) || s->views[i].fresh || hold_lacks(d, s, i, NULL))
			continue;
		window_miss(s, i, 0, from);
		s->views[i].dirty = true;
		disp_dirty(d, &s->dirty, DIRTY_LEDGER);
		group_settle_soon(d, s->iter); /* it may have all now */
	}
}

void
window_missed(struct disp *d, struct peer *p, struct stream *s, struct msg *m)
{
	struct msg_missed *said = &m->missed;
	uint64_t most = s->ended ? s->length : UINT64_MAX;
	uint32_t view = said->view;
	bool had = view < s->iter->n_views && s->views[view].missed.n;
	struct msg *out;

	if (hold_lacks(d, s, view, NULL))
		return; /* a reader that is away may have some of it; the worker says it again */
	out = disp_send(d, p, MSG_MISSED_OK, m->req);
	out->missed = (struct msg_missed){ .key = said->key, .view = view };
	if (view < s->iter->n_views && window_bytes(s->iter) && !s->finished) {
		for (size_t i = 0; i < said->ranges.n; i++)
			window_miss(s, view, said->ranges.v[i].start, said->ranges.v[i].end < most ? said->ranges.v[i].end : most);
		s->views[view].dirty = true;
		disp_dirty(d, &s->dirty, DIRTY_LEDGER);
		if (!had) /* that there is something; how much it is, the reader learns when it acknowledges or ends */
			stream_changed(d, s);
		disp_split_prune_points(d, s, view);
	}
	out->missed.ranges = said->ranges;
	said->ranges = (struct ranges){ 0 };
	if (view < s->iter->n_views)
		group_check(d, s, view); /* may free s */
}
