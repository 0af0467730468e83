/* SPDX-License-Identifier: MIT
 *
 * One stream: who makes it, from where, for whom; its ledger.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_news.h"
#include "core/disp/disp_stores.h"
#include "core/disp/disp_past.h"
#include "core/disp/disp_void.h"
#include "core/disp/disp_wanted.h"
#include "core/disp/disp_yield.h"

struct stream *
stream_new(struct disp *d, struct iteration *it)
{
	struct stream *s = mem_zalloc(sizeof *s);

	s->dirty.kind = DIRTY_STREAM;
	s->iter = it;
	s->index = (uint32_t)it->n_streams;
	s->gen = 1;
	s->closed = !it->by_split;
	s->base = base_of(it, s->index);
	views_init(s);
	if (it->n_streams == it->cap_streams)
		it->streams = mem_grow(it->streams, &it->cap_streams, it->n_streams + 1, sizeof(struct stream *));
	it->streams[it->n_streams++] = s;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	return s;
}

/* Places to restart from and splits: of no use once it is finished. */
static void
stream_shrink(struct stream *s)
{
	for (unsigned i = 0; i < s->n_points; i++)
		mem_free(s->points[i].state.p);
	for (size_t i = 0; i < s->n_held; i++)
		intervals_clear(&s->held[i].got);
	mem_free(s->splits);
	mem_free(s->held);
	mem_free(s->gone);
	mem_free(s->owing);
	s->owing = NULL;
	s->splits = NULL;
	s->held = NULL;
	s->gone = NULL;
	s->n_points = 0;
	s->n_splits = s->saved_splits = s->first_split = 0;
	s->cap_splits = 0;
	s->n_held = s->cap_held = s->n_gone = s->cap_gone = 0;
	s->n_owing = s->cap_owing = 0;
}

void
stream_free(struct disp *d, struct stream *s)
{
	stream_no_failure(s);
	stream_detach(d, s);
	ring_drop(&s->orphan);
	ring_drop(&s->by_version);
	ring_drop(&s->dirty.node);
	stream_shrink(s);
	views_clear(s);
	mem_free(s);
}

void
stream_changed(struct disp *d, struct stream *s)
{
	struct iteration *it = s->iter;

	s->version = ++it->version;
	ring_push(&it->versions, &s->by_version);
	news_soon(d, it);
}

/* Workers */

void
stream_revoke(struct disp *d, struct peer *w, struct stream_key key)
{
	ask_put(d, ASK_REVOKE, w, key, 0);
}

/* Its worker has it no more, and is told so. */
void
stream_detach(struct disp *d, struct stream *s)
{
	struct peer *w = s->worker;

	stores_leave(s);
	if (!w)
		return;
	yield_over(d, s);
	ask_drop(d, ASK_ASSIGN, w, stream_key_of(s), 0);
	stream_revoke(d, w, stream_key_of(s));
	ring_drop(&s->by_worker);
	w->n_streams--;
	s->worker = NULL;
	s->running = false;
	if (w->draining && !w->n_streams && !w->lost)
		disp_send(d, w, MSG_BYE_OK, w->bye_req);
}

/* From here on nothing made under the generation so far counts, but for what
 * readers have and say so. */
void
stream_fence(struct disp *d, struct stream *s)
{
	if (s->finished)
		return;
	if (s->worker) { /* at least so much was made and may be made again */
		uint64_t end = views_end(s);

		if (end > s->high)
			s->high = end;
		if (s->high > s->from)
			s->made += s->high - s->from;
	}
	stream_detach(d, s);
	stream_no_failure(s); /* the next worker finds out anew */
	ring_drop(&s->orphan);
	while (s->n_held)
		hold_drop(s, 0);
	s->n_gone = 0;
	group_joins_no_more(d, s); /* the next one is told of all views */
	s->gen++;
	s->running = false;
	void_again(s);
	s->place = STREAM_HOLDING;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	stream_changed(d, s);
	stream_hold(d, s);
}

/* Made, and in the hands of readers to the last element: no worker is needed,
 * as long as those readers live. */
static bool
stream_parked(const struct stream *s)
{
	bool parked = s->ended;

	for (size_t i = 0; i < s->iter->n_views && parked; i++) {
		struct intervals taken = { 0 };

		if (!group_live(s->iter, i))
			continue;
		views_taken(s, i, &taken);
		parked = intervals_covers(&taken, 0, views_length(s, i));
		intervals_clear(&taken);
	}
	return parked;
}

void
stream_orphan(struct disp *d, struct stream *s)
{
	s->place = STREAM_ORPHAN;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	if (stream_parked(s))
		return;
	ring_push(&s->iter->orphans, &s->orphan);
	iter_place(d, s->iter);
}

void
stream_give(struct disp *d, struct stream *s, struct peer *w)
{
	window_begin(d, s);
	ring_drop(&s->orphan);
	s->place = STREAM_ASSIGNED;
	s->running = s->told_end = s->began = false;
	s->given = d->now;
	s->step = (struct stream_step){ 0 };
	if (s->gen > 1)
		events_stream_moved(d, s, w);
	s->asked = UINT64_MAX;
	s->worker = w;
	ring_push(&w->streams, &s->by_worker);
	w->n_streams++;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	ask_put(d, ASK_ASSIGN, w, stream_key_of(s), 0);
}

/* Ledger */

static void
stream_finish(struct disp *d, struct stream *s)
{
	struct iteration *it = s->iter;

	s->finished = true;
	it->n_finished++;
	it->elements += views_gives(s);
	it->acked += views_whole(it) ? s->length : views_count(s) - round_added(s);
	it->dropped += round_dropped(s);
	it->in_rounds += views_gives(s) - views_rest(s, s->length) + s->tail_n;
	group_finished(d, s);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	it->made += (s->made > s->length ? s->made : s->length) - (s->length - views_gives(s));
	it->again += s->made > s->length ? s->made - s->length : 0;
	if (s->place == STREAM_HOLDING)
		for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
			struct seat *r = LIST_OF(n, struct seat, node);

			if (r->peer)
				ask_drop(d, ASK_HOLD, r->peer, stream_key_of(s), r->number);
		}
	s->place = STREAM_ORPHAN;
	ring_drop(&s->orphan);
	stream_detach(d, s);
	stream_shrink(s);
	disp_delete(d, ROW_SPLIT, 2, it->id, s->index, 0);
	disp_delete(d, ROW_POINT, 2, it->id, s->index, 0);
	s->dirty.what &= ~(unsigned)(DIRTY_SPLITS | DIRTY_POINTS);
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	stream_changed(d, s);
	seat_finished(d, s);
	iter_check(d, it); /* may free s */
}

void
stream_finish_check(struct disp *d, struct stream *s)
{
	if (s->failure.code)
		stream_fail_check(d, s); /* may free s */
	else if (!s->finished && s->ended && views_finished(s))
		stream_finish(d, s);
}

static void
stream_rate(const struct disp *d, struct iteration *it, uint64_t n)
{
	int64_t ns = d->now - it->rate_at;

	if (ns >= DISP_RATE_NS) {
		it->rate = (uint64_t)((double)it->rate_n * 1e9 / (double)ns);
		it->rate_at = d->now;
		it->rate_n = 0;
	}
	it->rate_n += n;
}

/* Elements that a reader acknowledges for the second time. */
static void
stream_repeated(struct disp *d, struct iteration *it, uint32_t view, uint64_t n)
{
	if (!n)
		return;
	it->repeated += n;
	if (group_shares(it) && view < it->groups.n)
		it->groups.v[view].repeated += n;
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}

/* A group that missed more than there turned out to be is told to have that, and says so again. */
static uint64_t
stream_until(const struct stream *s, uint64_t end)
{
	return group_shares(s->iter) && s->ended && end > s->length ? s->length : end;
}

void
stream_acked(struct disp *d, struct stream *s, uint32_t view, const struct ranges *r, struct seat *by)
{
	struct iteration *it = s->iter;
	struct view *v = &s->views[view];
	bool more = false;

	if (s->finished || !r->n)
		return;
	for (size_t i = 0; i < r->n; i++) {
		uint64_t start = r->v[i].start, end = stream_until(s, r->v[i].end);
		uint64_t old = intervals_overlap(&v->acked, start, end);

		if (start >= end)
			continue;
		if (by) {
			stream_repeated(d, it, view, old - intervals_overlap(&v->presumed, start, end));
			intervals_sub(&v->presumed, start, end);
			by->acked += end - start - old;
			round_moved(d, it);
			stream_rate(d, it, end - start - old);
			wanted_totals_of(it)->elements += end - start - old;
		}
		more |= end - start > old;
		intervals_add(&v->acked, start, end);
	}
	v->dirty = true;
	disp_dirty(d, &s->dirty, DIRTY_LEDGER);
	if (by && more)
		hold_acked(d, s, by);
	if (!by)
		stream_changed(d, s); /* an ordered reader must not wait for these */
	disp_split_prune_points(d, s, view);
	group_check(d, s, view); /* may free s */
}

void
stream_tell_gone(struct disp *d, struct stream *s, uint64_t seat, uint32_t view)
{
	bool told = false;

	for (size_t i = 0; i < s->n_gone; i++)
		told |= s->gone[i].seat == seat;
	if (told) {
		ask_put(d, ASK_GONE, s->worker, stream_key_of(s), seat);
		return;
	}
	if (s->n_gone == s->cap_gone)
		s->gone = mem_grow(s->gone, &s->cap_gone, s->n_gone + 1, sizeof *s->gone);
	s->gone[s->n_gone++] = (struct stream_gone){ seat, view };
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	ask_put(d, ASK_GONE, s->worker, stream_key_of(s), seat);
}

static void
stream_gone_ok(struct disp *d, struct peer *p, struct stream *s, struct msg *m)
{
	struct view *v = m->gone_ok.view < s->iter->n_views ? &s->views[m->gone_ok.view] : NULL;

	if (v && !group_live(s->iter, m->gone_ok.view) && !m->gone_ok.ended)
		return; /* the group has ended since */
	ask_drop(d, ASK_GONE, p, m->gone_ok.key, m->gone_ok.seat);
	for (size_t i = 0; i < s->n_gone; i++)
		if (s->gone[i].seat == m->gone_ok.seat) {
			s->gone[i] = s->gone[--s->n_gone];
			disp_dirty(d, &s->dirty, DIRTY_ROW);
			break;
		}
	/* The worker has heard from all readers; those that live will say the
	 * same to us, and have not repeated anything. */
	for (size_t i = 0; v && i < m->gone_ok.acked.n && !s->finished; i++) {
		const struct range *r = &m->gone_ok.acked.v[i];

		uint64_t end = stream_until(s, r->end);

		for (uint64_t at = r->start; (at = intervals_gap(&v->acked, at)) < end;) {
			uint64_t stop = intervals_next(&v->acked, at);

			intervals_add(&v->presumed, at, stop < end ? stop : end);
			at = stop < end ? stop : end;
		}
	}
	if (v)
		stream_acked(d, s, m->gone_ok.view, &m->gone_ok.acked, NULL);
}

/* A reader is gone: what it had acknowledged counts, what it had beside that
 * has to come from somewhere else. */
void
stream_seat_gone(struct disp *d, struct stream *s, const struct seat *r, bool took)
{
	/* The group's missed elements can be counted now, where the stream begins anew. */
	bool missing = hold_owes(s, r->number) && window_leaves_out(s) && group_live(s->iter, r->view);

	if (s->finished)
		return;
	if (r->peer)
		ask_drop(d, ASK_HOLD, r->peer, stream_key_of(s), r->number);
	hold_owes_no_more(d, s, r->number);
	for (size_t i = 0; i < s->n_held; i++)
		if (s->held[i].seat == r->number) {
			intervals_sub_all(&s->held[i].got, &s->views[s->held[i].view].acked);
			missing |= s->held[i].got.n > 0 && group_live(s->iter, r->view);
			hold_drop(s, i);
			disp_dirty(d, &s->dirty, DIRTY_ROW);
			break;
		}
	switch (s->place) {
	case STREAM_HOLDING:
		stream_hold_check(d, s);
		break;
	case STREAM_ORPHAN:
		if (!s->orphan.next && !stream_parked(s))
			stream_orphan(d, s);
		break;
	case STREAM_ASSIGNED:
		if (missing)
			stream_fence(d, s);
		else if (took)
			stream_tell_gone(d, s, r->number, r->view);
		break;
	}
}

/* The end */

static void
stream_end(struct disp *d, struct peer *p, struct stream *s, struct msg *m)
{
	struct msg_stream_end *e = &m->stream_end;
	struct iteration *it = s->iter;

	if (e->code) {
		if (fault_count(d, s, e->failed))
			stream_fails(d, s, e);
		return;
	}
	disp_send(d, p, MSG_END_OK, m->req)->end_ok.key = e->key;
	if (s->told_end)
		return; /* said again */
	if (!fault_count(d, s, e->failed))
		return;
	s->told_end = true;
	void_reached(d, it, e->reached);
	yield_over(d, s);
	s->made += e->made;
	s->high = e->length;
	it->suppressed += s->skipped < e->made ? s->skipped : e->made; /* a late group has missed turns that are not there */
	for (size_t i = 0; group_shares(it) && i < it->n_views; i++) {
		views_cut(&s->views[i], e->length);
		s->views[i].dirty = true;
		disp_dirty(d, &s->dirty, DIRTY_LEDGER);
	}
	if ((s->ended && s->length != e->length) ||
	    round_end_beyond(s, e->length) || round_base_beyond(s, e->length)) {
		stream_differs(d, s, e->length);
		return;
	}
	if (!s->closed) {
		it->short_ = !it->fixed;
		s->closed = true;
	}
	if (!s->ended)
		it->n_ended++;
	s->ended = true;
	s->length = e->length;
	void_check(d, it);
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	stream_changed(d, s);
	if (round_stream_ended(d, s))
		group_check(d, s, UINT32_MAX); /* may free s */
}

static void
stream_handover(struct disp *d, struct peer *p, struct stream *s, struct msg *m)
{
	struct msg_handover *h = &m->handover;

	disp_send(d, p, MSG_END_OK, m->req)->end_ok.key = h->key;
	void_reached(d, s->iter, h->reached);
	s->made += h->made;
	s->high = s->from = h->offset; /* counted: fencing adds nothing */
	if (!fault_count(d, s, h->failed))
		return;
	past_room(d, s, h->state.n, true);
	disp_split_add_point(d, s, h->offset, h->split, h->failed, &h->state);
	service_move(d, s, p->draining ? MOVE_DRAINED : MOVE_BALANCED);
}

/* Messages */

static void
stream_assigned(struct disp *d, struct peer *p, struct stream *s)
{
	ask_drop(d, ASK_ASSIGN, p, stream_key_of(s), 0);
	if (s->running)
		return;
	s->running = true;
	s->began |= !s->iter->by_split; /* one that waits for its turn asks for no split */
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	stream_changed(d, s);
}

void
stream_message(struct disp *d, struct peer *p, struct msg *m)
{
	/* All of these begin with the key. */
	struct stream_key key = m->assigned.key;
	struct stream *s = stream_find(d, key);

	if (m->type == MSG_REVOKED) {
		ask_drop(d, ASK_REVOKE, p, key, 0);
		return;
	}
	if (!s || s->worker != p || s->gen != key.gen) {
		/* Void, or over. An end is answered so that it is not said for ever. */
		if (m->type == MSG_STREAM_END || m->type == MSG_HANDOVER)
			disp_send(d, p, MSG_END_OK, m->req)->end_ok.key = key;
		stream_revoke(d, p, key);
		return;
	}
	switch (m->type) {
	case MSG_ASSIGNED: stream_assigned(d, p, s); break;
	case MSG_SPLIT_REQ: disp_split_request(d, p, s, m); break;
	case MSG_RESTART:
		s->window = m->restart.window;
		void_told(d, s, m->restart.split, m->restart.reached);
		if (fault_count(d, s, m->restart.failed))
			disp_split_add_point(d, s, m->restart.offset, m->restart.split, m->restart.failed,
					     &m->restart.state);
		break;
	case MSG_MISSED: window_missed(d, p, s, m); break;
	case MSG_VIEW_OK: group_joined(d, p, s, &m->view_ok); break;
	case MSG_FAULTS:
		fault_keep(p, s, m);
		fault_count(d, s, m->faults.failed); /* may free s */
		break;
	case MSG_STEP: blame_step(d, s, m); break;
	case MSG_STORES: stores_message(d, p, s, &m->stores); break;
	case MSG_STREAM_END: stream_end(d, p, s, m); break;
	case MSG_HANDOVER: stream_handover(d, p, s, m); break;
	case MSG_YIELDED: yield_answer(d, p, s, &m->yielded); break;
	case MSG_GONE_OK: stream_gone_ok(d, p, s, m); break;
	default: break;
	}
}
