/* SPDX-License-Identifier: MIT
 *
 * Groups that come when a stream is being made. Its worker is asked to add a view (VIEW)
 * and says where that begins; elements before it are missed. Only if the worker cannot, or has just
 * been given the stream, is it made again for the new group.
 */
#include "core/disp/disp_inner.h"

void
group_skip(struct view *v, uint64_t to)
{
	for (uint64_t at = 0; (at = intervals_gap(&v->acked, at)) < to;) {
		uint64_t end = intervals_next(&v->acked, at);

		end = end < to ? end : to;
		views_miss(v, at, end);
		at = end;
	}
}

static void
join_dirty(struct disp *d, struct stream *s, struct view *v)
{
	v->dirty = true;
	disp_dirty(d, &s->dirty, DIRTY_LEDGER);
}

/* The view must have a beginning and no more: a worker that adds it leaves out nothing else. */
static bool
join_may(const struct stream *s, const struct view *v)
{
	return v->is_new && s->place == STREAM_ASSIGNED && s->running && !s->failure.code && !s->finished &&
		(!v->acked.n || (v->acked.n == 1 && !v->acked.v[0].start));
}

bool
group_join(struct disp *d, struct stream *s)
{
	bool again = false;

	for (uint32_t i = 0; i < s->iter->n_views; i++) {
		struct view *v = &s->views[i];

		if (!v->moves)
			continue;
		v->moves = false;
		v->joins = join_may(s, v);
		v->is_new = false;
		again |= !v->joins;
		join_dirty(d, s, v);
		if (v->joins)
			ask_put(d, ASK_VIEW, s->worker, stream_key_of(s), i);
	}
	return again;
}

void
group_joins_again(struct disp *d, struct stream *s)
{
	for (uint32_t i = 0; i < s->iter->n_views && s->place == STREAM_ASSIGNED; i++)
		if (s->views[i].joins)
			ask_put(d, ASK_VIEW, s->worker, stream_key_of(s), i);
}

bool
group_fill_view(const struct stream *s, uint64_t view, struct msg_view_add *m)
{
	const struct view *v = view < s->iter->n_views ? &s->views[view] : NULL;

	if (!v || !v->joins)
		return false;
	*m = (struct msg_view_add){ .key = stream_key_of(s), .view = (uint32_t)view, .first = intervals_gap(&v->acked, 0),
		.later = v->fresh };
	return true;
}

void
group_joins_no_more(struct disp *d, struct stream *s)
{
	for (size_t i = 0; i < s->iter->n_views; i++)
		if (s->views[i].joins) {
			s->views[i].joins = false;
			join_dirty(d, s, &s->views[i]);
		}
}

void
group_joined(struct disp *d, struct peer *p, struct stream *s, const struct msg_view_ok *m)
{
	struct view *v = m->view < s->iter->n_views ? &s->views[m->view] : NULL;
	uint64_t begin = s->ended && m->begin > s->length ? s->length : m->begin;

	ask_drop(d, ASK_VIEW, p, m->key, m->view);
	if (!v || !v->joins || s->finished)
		return;
	v->joins = false;
	join_dirty(d, s, v);
	if (!m->can) {
		stream_fence(d, s);
		return;
	}
	group_skip(v, v->fresh ? begin : 0);
	v->fresh = false;
	stream_changed(d, s);
	group_check(d, s, m->view); /* may free s */
}
