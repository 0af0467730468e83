/* SPDX-License-Identifier: MIT
 *
 * The chunks of a stream at a worker: which are kept, who gets them.
 */
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

/* Budget */

/* Whether it needs a share: asked after each change, so that the share is
 * known without looking at all streams. */
void
worker_chunk_activity(struct worker *w, struct worker_stream *s)
{
	bool active = s->producing == PRODUCING || s->bytes;

	if (active == s->active)
		return;
	s->active = active;
	w->n_active += active ? 1 : (size_t)-1;
}

static size_t
worker_chunk_share(const struct worker *w)
{
	return w->o.memory / (w->n_active ? w->n_active : 1);
}

/* A stream stalls at its share, or when all together have reached the budget,
 * and goes on when some of it is free. One that has nothing may always make a
 * chunk: ordered readers wait for it. So may one with a reader that has nothing,
 * or those that stand still and hold it all would stop the others. Of several views only
 * the slowest may: one that keeps anything is behind one that keeps nothing. With a window
 * those behind have lost what can be given up by then, and any may. */
static bool
worker_chunk_starves(const struct worker_stream *s)
{
	for (uint32_t i = 0; i < s->n_views && !s->ordered; i++)
		if (s->views[i].starved && (s->window || s->views[i].live == s->live))
			return true;
	return false;
}

/* Whether it has made enough for now, since readers have had little of it yet: a chunk before the first asks, and
 * then about twice what was sent. To fill the memory at once would take the processors from readers
 * that begin, and be in vain for those that want a few elements. A view may be without a reader for long; and
 * where a reader waits, what it lacks may lie behind much that others have not been sent. */
static bool
worker_chunk_early(const struct worker *w, const struct worker_stream *s)
{
	return s->bytes > (w->o.memory / WORKER_EARLY + 2 * s->sent_bytes) * s->n_views && !worker_window_hungry(s);
}

static void
worker_chunk_weigh(struct worker *w, struct worker_stream *s)
{
	size_t share, most = w->o.memory, chunks = (size_t)WORKER_CHUNKS_MAX * s->n_views;
	bool stall = s->stalled;

	worker_chunk_activity(w, s);
	if (w->late_bytes)
		worker_late_trim(w, s);
	share = s->window ? worker_window_share(w, s) : worker_chunk_share(w);
	if (s->producing != PRODUCING)
		return;
	if (s->window)
		worker_window_make_room(w, s);
	if (s->bytes >= share || w->bytes >= most || s->kept >= chunks)
		stall = true;
	else if (s->window && worker_window_hungry(s))
		stall = false;
	else if (s->bytes < share - share / 4 && w->bytes < most - most / 8 && s->kept < chunks / 4 * 3)
		stall = false;
	stall |= worker_chunk_early(w, s);
	if (!s->bytes || worker_chunk_starves(s))
		stall = false;
	w->full |= stall;
	if (stall == s->stalled)
		return;
	worker_clock(w, s);
	s->stalled = stall;
	if (s->begun)
		worker_do(w, stall ? WORKER_STALL : WORKER_RESUME)->key = s->key;
	worker_turn_check(w, s);
	worker_step_check(w, s);
}

/* Streams that have nothing and do not stall, or are all made, need not be weighed when the others change; there may
 * be a hundred thousand of them. */
static void
worker_chunk_light(struct worker *w, struct worker_stream *s)
{
	struct worker_stream *last = w->heavy[--w->n_heavy];

	w->heavy[s->heavy_at - 1] = last;
	last->heavy_at = s->heavy_at;
	s->heavy_at = 0;
}

void
worker_chunk_add(struct worker *w, struct worker_stream *s, size_t bytes)
{
	s->bytes += bytes;
	w->bytes += bytes;
	if (s->heavy_at)
		return;
	w->heavy = mem_grow(w->heavy, &w->cap_heavy, w->n_heavy + 1, sizeof(struct worker_stream *));
	w->heavy[w->n_heavy++] = s;
	s->heavy_at = w->n_heavy;
}

void
worker_chunk_leave(struct worker *w, struct worker_stream *s)
{
	w->n_active -= s->active;
	if (s->heavy_at)
		worker_chunk_light(w, s);
}

void
worker_chunk_budget(struct worker *w)
{
	for (size_t i = 0; w->late_bytes && i < w->streams.n; i++)
		worker_chunk_weigh(w, w->streams.items[i].value);
	for (size_t i = w->n_heavy; i--;) {
		struct worker_stream *s = w->heavy[i];

		worker_chunk_weigh(w, s);
		if ((!s->bytes && !s->stalled) || s->producing != PRODUCING)
			worker_chunk_light(w, s);
	}
}

/* Sending */

static struct worker_chunk *
worker_chunk_next(const struct worker_stream *s, struct worker_view *v, const struct worker_link *l)
{
	/* An ordered view is for one reader at a time: what its predecessor
	 * has not acknowledged comes first, once that is known to be gone. */
	for (const struct worker_link *o = s->ordered ? v->links : NULL; o; o = o->next)
		if (o != l && o->kept)
			return NULL;
	if (l->again) {
		for (size_t i = v->first; i < v->n_chunks; i++)
			if (v->chunks[i].state == CHUNK_AGAIN && v->chunks[i].link == l)
				return &v->chunks[i];
	}
	if (v->next < v->first)
		v->next = v->first;
	while (v->next < v->n_chunks && v->chunks[v->next].state != CHUNK_QUEUED)
		v->next++;
	return v->next < v->n_chunks ? &v->chunks[v->next] : NULL;
}

static void
worker_chunk_send(struct worker *w, struct worker_stream *s, const struct worker_view *v, struct worker_link *l,
		  struct worker_chunk *c)
{
	struct worker_action *a = worker_do(w, WORKER_CHUNK);

	if (c->state == CHUNK_AGAIN)
		l->again--;
	else {
		l->kept++;
		l->kept_bytes += c->bytes;
		s->sent_bytes += c->bytes;
		if (c->piece)
			c->piece->taken++;
	}
	c->state = CHUNK_SENT;
	c->link = l;
	l->sent++;
	if (!l->told)
		worker_takes_add(w, s, v, l);
	a->key = s->key;
	a->peer = l->peer;
	a->handle = c->handle;
	a->msg.type = MSG_CHUNK;
	a->msg.chunk = (struct msg_chunk){ .key = s->key, .seat = l->seat, .session = l->session, .offset = c->offset,
		.count = c->count, .tail = c->tail, .skip = c->skip, .split = c->split, .raw_len = c->bytes };
}

/* Whether a chunk may be sent to a reader. Of several readers, all but one may have half of
 * the stream's share unacknowledged, so that readers that stand still do not stop the others.
 * Chunks to be sent again count already; one chunk is always allowed. */
static bool
worker_chunk_may(const struct worker *w, const struct worker_stream *s, const struct worker_view *v,
		 const struct worker_link *l)
{
	if (s->window)
		return worker_window_may(w, s, l);
	return v->n_links < 2 || l->again || !l->kept ||
		l->kept_bytes < worker_chunk_share(w) / 2 / (v->n_links - 1);
}

void
worker_chunk_tell_want(struct worker *w, const struct worker_stream *s, const struct worker_view *v)
{
	struct worker_action *a = worker_do(w, WORKER_WANT);

	a->key = s->key;
	a->view = s->views[0].part.of > 1 ? (uint32_t)(v - s->views) : WORKER_ALL_VIEWS;
	for (uint32_t i = 0; i < s->n_views; i++)
		a->takers += a->view == WORKER_ALL_VIEWS && !s->views[i].ended;
}

/* Chunks to readers with credit, in turn; and when a reader waits for more
 * than there is, the thread is asked for what it has begun. */
void
worker_chunk_pump(struct worker *w, struct worker_stream *s, struct worker_view *v)
{
	struct worker_link *l, **end;
	bool sent = true, hungry = false;

	while (sent) {
		sent = hungry = v->starved = false;
		for (l = v->links; l; l = l->next) {
			struct worker_chunk *c;

			if (l->sent >= l->total || !worker_chunk_may(w, s, v, l))
				continue;
			c = worker_chunk_next(s, v, l);
			if (!c) {
				hungry = true;
				v->starved |= !l->kept && !s->ordered;
				continue;
			}
			worker_chunk_send(w, s, v, l, c);
			sent = true;
		}
	}
	if (v->links && v->links->next) { /* next time another one is first */
		l = v->links;
		v->links = l->next;
		l->next = NULL;
		for (end = &v->links; *end;)
			end = &(*end)->next;
		*end = l;
	}
	worker_takes_send(w);
	v->hungry = hungry;
	worker_chunk_weigh(w, s);
	if (hungry && s->window && !s->told)
		worker_chunk_hand_done(w, s);
	if (hungry && !v->wanted && s->producing == PRODUCING) {
		v->wanted = true;
		if (s->begun)
			worker_chunk_tell_want(w, s, v);
	}
}

/* Whether the elements are for this view, when all views get the same. */
static bool
worker_chunk_is_for(const struct worker_view *v, const struct worker_chunk *c)
{
	return !v->ended && c->offset + c->count > v->begin && (!v->skip.n || !intervals_has(&v->skip, c->offset));
}

static void
worker_chunk_put_all(struct worker *w, struct worker_stream *s, struct worker_chunk *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_views; i++)
		n += worker_chunk_is_for(&s->views[i], c);
	if (!n) {
		worker_do(w, WORKER_FREE)->handle = c->handle;
		return;
	}
	if (n > 1) {
		c->piece = mem_zalloc(sizeof *c->piece);
		c->piece->views = n;
	}
	worker_chunk_add(w, s, c->bytes);
	for (uint32_t i = 0; i < s->n_views; i++)
		if (worker_chunk_is_for(&s->views[i], c)) {
			c->skip = s->views[i].begin > c->offset ? (uint32_t)(s->views[i].begin - c->offset) : 0;
			worker_view_put(s, &s->views[i], c);
			s->views[i].wanted = s->views[i].hungry = false;
		}
	for (uint32_t i = 0; i < s->n_views; i++)
		worker_chunk_pump(w, s, &s->views[i]);
}

void
worker_produced(struct worker *w, int64_t now_ns, struct stream_key key, uint32_t view, void *handle,
		uint64_t offset, uint32_t count, size_t bytes, uint64_t split)
{
	struct worker_stream *s = worker_stream_find(w, key);
	struct worker_view *v = s && view == WORKER_ALL_VIEWS ? s->views : worker_view_of(s, view);
	struct worker_chunk c = { .handle = handle, .offset = offset, .split = split,
		.bytes = bytes ? bytes : 1, .count = count, .state = CHUNK_QUEUED };
	uint64_t to;

	w->now = now_ns;
	if (!v || !count) {
		worker_do(w, WORKER_FREE)->handle = handle;
		return;
	}
	to = s->base + round_at(&v->part, offset + count - 1) + 1;
	if (to > s->made_to)
		s->made_to = to;
	worker_turn_moved(s);
	s->put_n += count;
	s->put_bytes += c.bytes;
	if (view == WORKER_ALL_VIEWS && s->n_views > 1) {
		worker_chunk_put_all(w, s, &c);
		return;
	}
	worker_chunk_add(w, s, c.bytes);
	worker_view_put(s, v, &c);
	v->wanted = false;
	worker_chunk_pump(w, s, v);
}

/* A new session: the connection broke, and what was on its way may be lost.
 * The reader drops what it has already. */
static void
worker_chunk_session(struct worker_view *v, struct worker_link *l, uint32_t session)
{
	l->session = session;
	l->sent = l->total = 0;
	for (size_t i = v->first; i < v->n_chunks; i++)
		if (v->chunks[i].link == l && v->chunks[i].state == CHUNK_SENT) {
			v->chunks[i].state = CHUNK_AGAIN;
			l->again++;
		}
}

/* Whether the seat may have chunks of the view, and this is the ticket that says so. The
 * ticket of one that is connected is made only once. */
static bool
worker_chunk_admits(const struct worker_stream *s, const struct worker_view *v, uint64_t seat,
		    const struct worker_link *l, struct secret ticket)
{
	uint64_t whose[] = { seat, (uint64_t)(v - s->views) };

	if (worker_view_is_gone(v, seat))
		return false;
	return secret_none(s->secret) ||
		secret_same(ticket, l ? l->ticket : secret_derive(s->secret, whose, 2));
}

static void
worker_chunk_credit(struct worker *w, uint64_t peer, const struct msg_credit *c)
{
	struct worker_stream *s = worker_stream_find(w, c->key);
	struct worker_view *v = worker_view_of(s, c->view);
	struct worker_link *l = v ? worker_view_link(v, c->seat) : NULL;

	if (!v || !worker_chunk_admits(s, v, c->seat, l, c->ticket)) {
		struct worker_action *a = worker_do(w, WORKER_SEND);

		a->peer = peer;
		a->msg.type = MSG_VOID;
		a->msg.void_ = (struct msg_void){ c->key, c->seat };
		return;
	}
	if (!l) {
		l = mem_zalloc(sizeof *l);
		*l = (struct worker_link){ .seat = c->seat, .session = c->session, .ticket = c->ticket,
			.next = v->links };
		v->links = l;
		v->n_links++;
	}
	if (c->session < l->session)
		return; /* the credit is for a connection that was given up */
	l->peer = peer;
	if (c->session > l->session)
		worker_chunk_session(v, l, c->session);
	if (c->total > l->total)
		l->total = c->total;
	worker_chunk_pump(w, s, v);
}

/* Acknowledgements */

/* [start, end) of a chunk needs no keeping, as far as nothing before it does. */
static void
worker_chunk_settle(struct worker *w, struct worker_stream *s, struct worker_view *v, struct worker_chunk *c,
		    uint64_t start, uint64_t end)
{
	uint64_t done;

	if (start > c->offset + c->skip || end <= c->offset + c->skip)
		return;
	done = end - c->offset;
	c->skip = done > c->count ? c->count : (uint32_t)done;
	if (c->skip == c->count)
		worker_view_drop(w, s, v, c);
}

void
worker_chunk_hand_done(struct worker *w, struct worker_stream *s)
{
	struct msg *m;

	/* A reader that waits for what comes next does not wait for those behind: it is made again for them. */
	if (s->producing != PRODUCED_HANDED || (s->bytes && !(s->window && worker_window_hungry(s))))
		return;
	s->told = true;
	s->told_at = w->now;
	m = worker_tell(w, MSG_HANDOVER);
	m->handover = (struct msg_handover){ .key = s->key, .reached = s->reached, .offset = s->hand_offset,
		.split = s->hand_split, .failed = s->failed, .made = s->made };
	m->handover.state.n = s->hand_state.n;
	m->handover.state.p = s->hand_state.n ? mem_dup(s->hand_state.p, s->hand_state.n) : NULL;
}

/* After chunks became free. */
static void
worker_chunk_freed(struct worker *w, struct worker_stream *s, struct worker_view *v)
{
	worker_view_trim(s, v);
	worker_chunk_pump(w, s, v);
	if (w->full && w->bytes < w->o.memory - w->o.memory / 8) {
		w->full = false;
		worker_chunk_budget(w);
	}
	worker_chunk_hand_done(w, s);
}

static void
worker_chunk_ack(struct worker *w, const struct msg_chunk_ack *a)
{
	struct worker_stream *s = worker_stream_find(w, a->key);
	struct worker_view *v = worker_view_of(s, a->view);
	struct worker_link *l = v ? worker_view_link(v, a->seat) : NULL;

	if (!l || !worker_chunk_admits(s, v, a->seat, l, a->ticket))
		return;
	for (size_t i = 0; i < a->ranges.n; i++) {
		const struct range *r = &a->ranges.v[i];

		for (size_t k = worker_view_search(v, r->start); k < v->n_chunks && v->chunks[k].offset < r->end; k++) {
			struct worker_chunk *c = &v->chunks[k];
			uint64_t from = c->offset + c->skip;

			if (c->link != l)
				continue;
			worker_chunk_settle(w, s, v, c, r->start, r->end);
			intervals_add(&v->acked, from, c->offset + c->skip);
		}
	}
	worker_chunk_freed(w, s, v);
}

/* The chunks of a reader that is gone are there for others, as far as they are not acknowledged. */
static void
worker_chunk_back(struct worker *w, struct worker_stream *s, struct worker_view *v, struct worker_link *l,
		  const struct ranges *acked)
{
	struct worker_link **at;

	for (size_t i = v->first; i < v->n_chunks; i++) {
		struct worker_chunk *c = &v->chunks[i];

		if (c->link != l)
			continue;
		for (size_t k = 0; k < acked->n && c->state != CHUNK_DONE; k++)
			worker_chunk_settle(w, s, v, c, acked->v[k].start, acked->v[k].end);
		if (c->state == CHUNK_DONE)
			continue;
		if (c->state == CHUNK_AGAIN)
			l->again--;
		l->kept--;
		l->kept_bytes -= c->bytes;
		if (c->piece)
			c->piece->taken--;
		c->state = CHUNK_QUEUED;
		c->link = NULL;
		if (i < v->next)
			v->next = i;
	}
	for (at = &v->links; *at != l;)
		at = &(*at)->next;
	*at = l->next;
	v->n_links--;
	mem_free(l);
}

void
worker_chunk_reader_gone(struct worker *w, struct msg *m)
{
	const struct msg_reader_gone *g = &m->reader_gone;
	struct worker_stream *s = worker_stream_find(w, g->key);
	struct worker_view *v = worker_view_of(s, g->view);
	struct worker_link *l;
	struct msg *out;

	if (s && !v) /* it was to be added, and its group has ended before */
		worker_tell(w, MSG_GONE_OK)->gone_ok = (struct msg_gone_ok){ g->key, g->seat, { 0 }, g->view, true };
	if (!v)
		return;
	if (!worker_view_is_gone(v, g->seat)) {
		if (v->n_gone == v->cap_gone)
			v->gone = mem_grow(v->gone, &v->cap_gone, v->n_gone + 1, sizeof *v->gone);
		v->gone[v->n_gone++] = g->seat;
	}
	out = worker_tell(w, MSG_GONE_OK);
	out->gone_ok = (struct msg_gone_ok){ g->key, g->seat, intervals_give(&v->acked), g->view, g->ended };
	l = worker_view_link(v, g->seat);
	if (l)
		worker_chunk_back(w, s, v, l, &g->acked);
	if (g->ended)
		worker_view_end(w, s, v);
	if (l || g->ended)
		worker_chunk_freed(w, s, v);
}

void
worker_chunk_ends(struct worker *w, struct worker_stream *s)
{
	for (uint32_t k = 0; k < s->n_views; k++)
		if (s->views[k].ends) {
			worker_view_end(w, s, &s->views[k]);
			worker_chunk_freed(w, s, &s->views[k]);
		}
}

bool
worker_admits(struct worker *w, const struct msg_credit *c)
{
	struct worker_stream *s = worker_stream_find(w, c->key);

	struct worker_view *v = worker_view_of(s, c->view);

	return !s || (v && worker_chunk_admits(s, v, c->seat, worker_view_link(v, c->seat), c->ticket));
}

void
worker_data(struct worker *w, int64_t now_ns, uint64_t peer, struct msg *m)
{
	w->now = now_ns;
	if (m->type == MSG_CREDIT)
		worker_chunk_credit(w, peer, &m->credit);
	else if (m->type == MSG_CHUNK_ACK)
		worker_chunk_ack(w, &m->chunk_ack);
}

/* A broken connection needs nothing here: what was sent over it is kept until
 * acknowledged, and is sent again when the reader begins a new session. */
void
worker_peer_gone(struct worker *w, int64_t now_ns, uint64_t peer)
{
	(void)peer;
	w->now = now_ns;
}
