/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_hold.h"

#include "base/mem.h"
#include "core/disp/disp_window.h"

void
hold_drop(struct stream *s, size_t i)
{
	intervals_clear(&s->held[i].got);
	s->held[i] = s->held[--s->n_held];
}

void
stream_hold(struct disp *d, struct stream *s)
{
	s->n_owing = 0;
	while (s->n_held) /* all are asked, also those that had answered before a restart */
		hold_drop(s, 0);
	for (struct list_node *n = s->iter->seats.next; n != &s->iter->seats; n = n->next) {
		struct seat *r = LIST_OF(n, struct seat, node);

		if (!job_shards_has(&r->only, s->index))
			continue;
		if (s->n_owing == s->cap_owing)
			s->owing = mem_grow(s->owing, &s->cap_owing, s->n_owing + 1, sizeof *s->owing);
		s->owing[s->n_owing++] = r->number;
		if (r->peer)
			ask_put(d, ASK_HOLD, r->peer, stream_key_of(s), r->number);
	}
	stream_hold_check(d, s);
}

/* Whether a reader is there that takes elements of the stream, of the seat's view or, without a seat, of any. */
static bool
hold_anybody(const struct stream *s, const struct seat *view_of)
{
	for (struct list_node *n = s->iter->seats.next; n != &s->iter->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		if (r->peer && (!view_of || r->view == view_of->view) && job_shards_has(&r->only, s->index))
			return true;
	}
	return false;
}

static bool
hold_waits(const struct disp *d, const struct stream *s)
{
	for (size_t i = 0; i < s->n_owing; i++) {
		const struct seat *r = seat_find(d, s->iter->id, s->owing[i]);

		if (r && (r->peer || hold_anybody(s, r)))
			return true;
	}
	return s->n_owing && !hold_anybody(s, NULL);
}

void
hold_owes_no_more(struct disp *d, struct stream *s, uint64_t seat)
{
	for (size_t i = 0; i < s->n_owing; i++)
		if (s->owing[i] == seat) {
			s->owing[i] = s->owing[--s->n_owing];
			if (s->place != STREAM_HOLDING)
				disp_dirty(d, &s->dirty, DIRTY_ROW);
			return;
		}
}

bool
hold_owes(const struct stream *s, uint64_t seat)
{
	for (size_t i = 0; i < s->n_owing; i++)
		if (s->owing[i] == seat)
			return true;
	return false;
}

bool
hold_lacks(const struct disp *d, const struct stream *s, uint32_t view, const struct seat *but)
{
	for (size_t i = 0; i < s->n_owing; i++) {
		const struct seat *r = seat_find(d, s->iter->id, s->owing[i]);

		if (r && r != but && r->view == view)
			return true;
	}
	return false;
}

/* Whether all of these elements are acknowledged. */
static bool
hold_knew(const struct stream *s, uint32_t view, const struct ranges *have)
{
	for (size_t i = 0; i < have->n; i++)
		if (!intervals_covers(&s->views[view].acked, have->v[i].start, have->v[i].end))
			return false;
	return true;
}

/* The stream has gone to a worker that was not told what this reader has. */
static void
hold_late(struct disp *d, struct stream *s, const struct seat *r, const struct ranges *got)
{
	if (!hold_knew(s, r->view, got) || window_leaves_out(s)) {
		stream_fence(d, s);
		return;
	}
	hold_owes_no_more(d, s, r->number);
	stream_changed(d, s); /* it may take from the worker now */
}

/* A reader's answer to HOLD. */
void
stream_held(struct disp *d, struct stream *s, const struct seat *r, const struct ranges *got)
{
	if (s->place != STREAM_HOLDING) {
		hold_late(d, s, r, got);
		return;
	}
	hold_owes_no_more(d, s, r->number);
	if (got->n) {
		if (s->n_held == s->cap_held)
			s->held = mem_grow(s->held, &s->cap_held, s->n_held + 1, sizeof *s->held);
		s->held[s->n_held] = (struct stream_held){ .seat = r->number, .view = r->view };
		intervals_add_ranges(&s->held[s->n_held++].got, got);
		disp_dirty(d, &s->dirty, DIRTY_ROW);
	}
	stream_hold_check(d, s);
}

void
stream_hold_check(struct disp *d, struct stream *s)
{
	if (s->place == STREAM_HOLDING && !hold_waits(d, s))
		stream_orphan(d, s);
}

void
hold_away(struct disp *d, struct seat *r)
{
	struct iteration *it = r->iter;

	for (size_t i = 0; i < it->n_streams; i++)
		stream_hold_check(d, it->streams[i]);
}

void
hold_comes(struct disp *d, struct seat *r)
{
	struct iteration *it = r->iter;

	for (size_t i = 0; i < it->n_streams; i++) {
		struct stream *s = it->streams[i];

		if (!s->n_owing || s->finished || !job_shards_has(&r->only, s->index))
			continue;
		if (s->place == STREAM_HOLDING)
			stream_hold_check(d, s); /* with somebody there, it need not wait for who is away */
		else if (hold_lacks(d, s, r->view, r))
			stream_fence(d, s);
		if (hold_owes(s, r->number))
			ask_put(d, ASK_HOLD, r->peer, stream_key_of(s), r->number);
	}
}

void
hold_acked(struct disp *d, struct stream *s, const struct seat *r)
{
	if (s->place != STREAM_HOLDING && hold_owes(s, r->number))
		stream_fence(d, s);
}

void
hold_resumed(struct disp *d, struct stream *s, uint32_t view, const struct ranges *have)
{
	const struct iteration *it = s->iter;
	uint32_t index = s->index;
	bool knew = hold_knew(s, view, have);

	stream_acked(d, s, view, have, NULL);
	s = iter_stream(it, index);
	if (!knew && s && !s->finished && s->place != STREAM_HOLDING && hold_lacks(d, s, view, NULL))
		stream_fence(d, s);
}

void
hold_loaded(struct disp *d, struct stream *s)
{
	for (size_t i = 0; i < s->n_owing; i++) {
		const struct seat *r = seat_find(d, s->iter->id, s->owing[i]);

		if (r && r->peer)
			ask_put(d, ASK_HOLD, r->peer, stream_key_of(s), r->number);
	}
}
