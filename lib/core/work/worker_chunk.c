/* SPDX-License-Identifier: MIT
 *
 * The chunks of a stream at a worker: which are kept, who gets them.
 */
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

void
worker_chunk_free(struct worker *w, struct worker_stream *s, struct worker_chunk *c)
{
	worker_do(w, WORKER_FREE)->handle = c->handle;
	c->handle = NULL;
	s->bytes -= c->bytes;
	w->bytes -= c->bytes;
	if (c->state == CHUNK_AGAIN)
		c->link->again--;
	if (c->link) {
		c->link->kept--;
		c->link->kept_bytes -= c->bytes;
	}
	c->link = NULL;
	c->state = CHUNK_DONE;
}

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
 * or those that stand still and hold it all would stop the others. */
static void
worker_chunk_weigh(struct worker *w, struct worker_stream *s)
{
	size_t kept = s->n_chunks - s->first, share, most = w->o.memory;
	bool stall = s->stalled;

	worker_chunk_activity(w, s);
	share = worker_chunk_share(w);
	if (s->producing != PRODUCING)
		return;
	if (s->bytes >= share || w->bytes >= most || kept >= WORKER_CHUNKS_MAX)
		stall = true;
	else if (s->bytes < share - share / 4 && w->bytes < most - most / 8 && kept < WORKER_CHUNKS_MAX / 4 * 3)
		stall = false;
	if (!s->bytes || s->starved)
		stall = false;
	w->full |= stall;
	if (stall == s->stalled)
		return;
	worker_clock(w, s);
	s->stalled = stall;
	if (s->begun)
		worker_do(w, stall ? WORKER_STALL : WORKER_RESUME)->key = s->key;
	worker_turn_check(w, s);
}

void
worker_chunk_budget(struct worker *w)
{
	for (size_t i = 0; i < w->streams.n; i++)
		worker_chunk_weigh(w, w->streams.items[i].value);
}

/* Sending */

static struct worker_chunk *
worker_chunk_next(struct worker_stream *s, const struct worker_link *l)
{
	/* An ordered stream is for one reader at a time: what its predecessor
	 * has not acknowledged comes first, once that is known to be gone. */
	for (const struct worker_link *o = s->ordered ? s->links : NULL; o; o = o->next)
		if (o != l && o->kept)
			return NULL;
	if (l->again) {
		for (size_t i = s->first; i < s->n_chunks; i++)
			if (s->chunks[i].state == CHUNK_AGAIN && s->chunks[i].link == l)
				return &s->chunks[i];
	}
	if (s->next < s->first)
		s->next = s->first;
	while (s->next < s->n_chunks && s->chunks[s->next].state != CHUNK_QUEUED)
		s->next++;
	return s->next < s->n_chunks ? &s->chunks[s->next] : NULL;
}

static void
worker_chunk_send(struct worker *w, struct worker_stream *s, struct worker_link *l,
		  struct worker_chunk *c)
{
	struct worker_action *a = worker_do(w, WORKER_CHUNK);

	if (c->state == CHUNK_AGAIN)
		l->again--;
	else {
		l->kept++;
		l->kept_bytes += c->bytes;
	}
	c->state = CHUNK_SENT;
	c->link = l;
	l->sent++;
	a->key = s->key;
	a->peer = l->peer;
	a->handle = c->handle;
	a->msg.type = MSG_CHUNK;
	a->msg.chunk = (struct msg_chunk){ .key = s->key, .seat = l->seat, .session = l->session, .offset = c->offset,
		.count = c->count, .skip = c->skip, .split = c->split, .raw_len = c->bytes };
}

/* Whether a chunk may be sent to a reader. Of several readers, all but one may have half of
 * the stream's share unacknowledged, so that readers that stand still do not stop the others.
 * Chunks to be sent again count already; one chunk is always allowed. */
static bool
worker_chunk_may(const struct worker *w, const struct worker_stream *s, const struct worker_link *l)
{
	return s->n_links < 2 || l->again || !l->kept ||
		l->kept_bytes < worker_chunk_share(w) / 2 / (s->n_links - 1);
}

/* Chunks to readers with credit, in turn; and when a reader waits for more
 * than there is, the thread is asked for what it has begun. */
static void
worker_chunk_pump(struct worker *w, struct worker_stream *s)
{
	struct worker_link *l, **end;
	bool sent = true, hungry = false;

	while (sent) {
		sent = hungry = s->starved = false;
		for (l = s->links; l; l = l->next) {
			struct worker_chunk *c;

			if (l->sent >= l->total || !worker_chunk_may(w, s, l))
				continue;
			c = worker_chunk_next(s, l);
			if (!c) {
				hungry = true;
				s->starved |= !l->kept && !s->ordered;
				continue;
			}
			worker_chunk_send(w, s, l, c);
			sent = true;
		}
	}
	if (s->links && s->links->next) { /* next time another one is first */
		l = s->links;
		s->links = l->next;
		l->next = NULL;
		for (end = &s->links; *end;)
			end = &(*end)->next;
		*end = l;
	}
	worker_chunk_weigh(w, s);
	if (hungry && !s->wanted && s->producing == PRODUCING) {
		s->wanted = true;
		if (s->begun)
			worker_do(w, WORKER_WANT)->key = s->key;
	}
}

void
worker_produced(struct worker *w, int64_t now_ns, struct stream_key key, void *handle,
		uint64_t offset, uint32_t count, size_t bytes, uint64_t split)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s || !count) {
		worker_do(w, WORKER_FREE)->handle = handle;
		return;
	}
	if (s->n_chunks == s->cap_chunks && s->first > s->cap_chunks / 2) {
		memmove(s->chunks, s->chunks + s->first, (s->n_chunks - s->first) * sizeof *s->chunks);
		s->next = s->next > s->first ? s->next - s->first : 0;
		s->n_chunks -= s->first;
		s->first = 0;
	}
	if (s->n_chunks == s->cap_chunks)
		s->chunks = mem_grow(s->chunks, &s->cap_chunks, s->n_chunks + 1, sizeof *s->chunks);
	s->chunks[s->n_chunks++] = (struct worker_chunk){ .handle = handle, .offset = offset, .split = split,
		.bytes = bytes ? bytes : 1, .count = count, .state = CHUNK_QUEUED };
	s->made_to = offset + count;
	s->bytes += bytes ? bytes : 1;
	w->bytes += bytes ? bytes : 1;
	s->wanted = false;
	worker_chunk_pump(w, s);
}

static struct worker_link *
worker_chunk_link(struct worker_stream *s, uint64_t seat)
{
	struct worker_link *l = s->links;

	while (l && l->seat != seat)
		l = l->next;
	return l;
}

static bool
worker_chunk_is_gone(const struct worker_stream *s, uint64_t seat)
{
	for (size_t i = 0; i < s->n_gone; i++)
		if (s->gone[i] == seat)
			return true;
	return false;
}

/* A new session: the connection broke, and what was on its way may be lost.
 * The reader drops what it has already. */
static void
worker_chunk_session(struct worker_stream *s, struct worker_link *l, uint32_t session)
{
	l->session = session;
	l->sent = l->total = 0;
	for (size_t i = s->first; i < s->n_chunks; i++)
		if (s->chunks[i].link == l && s->chunks[i].state == CHUNK_SENT) {
			s->chunks[i].state = CHUNK_AGAIN;
			l->again++;
		}
}

/* Whether the seat may have chunks of the stream, and this is the ticket that says so. The
 * ticket of one that is connected is made only once. */
static bool
worker_chunk_admits(const struct worker_stream *s, uint64_t seat, const struct worker_link *l, struct secret ticket)
{
	if (worker_chunk_is_gone(s, seat))
		return false;
	return secret_none(s->secret) ||
		secret_same(ticket, l ? l->ticket : secret_derive(s->secret, &seat, 1));
}

static void
worker_chunk_credit(struct worker *w, uint64_t peer, const struct msg_credit *c)
{
	struct worker_stream *s = worker_stream_find(w, c->key);
	struct worker_link *l = s ? worker_chunk_link(s, c->seat) : NULL;

	if (!s || !worker_chunk_admits(s, c->seat, l, c->ticket)) {
		struct worker_action *a = worker_do(w, WORKER_SEND);

		a->peer = peer;
		a->msg.type = MSG_VOID;
		a->msg.void_ = (struct msg_void){ c->key, c->seat };
		return;
	}
	if (!l) {
		l = mem_zalloc(sizeof *l);
		*l = (struct worker_link){ .seat = c->seat, .session = c->session, .ticket = c->ticket,
			.next = s->links };
		s->links = l;
		s->n_links++;
	}
	if (c->session < l->session)
		return; /* the credit is for a connection that was given up */
	l->peer = peer;
	if (c->session > l->session)
		worker_chunk_session(s, l, c->session);
	if (c->total > l->total)
		l->total = c->total;
	worker_chunk_pump(w, s);
}

/* Acknowledgements */

static void
worker_chunk_trim(struct worker_stream *s)
{
	while (s->first < s->n_chunks && s->chunks[s->first].state == CHUNK_DONE)
		s->first++;
	if (s->first == s->n_chunks)
		s->first = s->n_chunks = s->next = 0;
}

/* The first chunk that ends after `at`. */
static size_t
worker_chunk_search(const struct worker_stream *s, uint64_t at)
{
	size_t lo = s->first, hi = s->n_chunks;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->chunks[mid].offset + s->chunks[mid].count <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* [start, end) of a chunk needs no keeping, as far as nothing before it does. */
static void
worker_chunk_settle(struct worker *w, struct worker_stream *s, struct worker_chunk *c, uint64_t start, uint64_t end)
{
	uint64_t done;

	if (start > c->offset + c->skip || end <= c->offset + c->skip)
		return;
	done = end - c->offset;
	c->skip = done > c->count ? c->count : (uint32_t)done;
	if (c->skip == c->count)
		worker_chunk_free(w, s, c);
}

void
worker_chunk_hand_done(struct worker *w, struct worker_stream *s)
{
	struct msg *m;

	if (s->producing != PRODUCED_HANDED || s->n_chunks != s->first)
		return;
	s->told = true;
	s->told_at = w->now;
	m = worker_tell(w, MSG_HANDOVER);
	m->handover = (struct msg_handover){ .key = s->key, .offset = s->hand_offset,
		.split = s->hand_split, .failed = s->failed, .made = s->made };
	m->handover.state.n = s->hand_state.n;
	m->handover.state.p = s->hand_state.n ? mem_dup(s->hand_state.p, s->hand_state.n) : NULL;
}

/* After chunks became free. */
static void
worker_chunk_freed(struct worker *w, struct worker_stream *s)
{
	worker_chunk_trim(s);
	worker_chunk_pump(w, s);
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
	struct worker_link *l = s ? worker_chunk_link(s, a->seat) : NULL;

	if (!l || !worker_chunk_admits(s, a->seat, l, a->ticket))
		return;
	for (size_t i = 0; i < a->ranges.n; i++) {
		const struct range *r = &a->ranges.v[i];

		for (size_t k = worker_chunk_search(s, r->start); k < s->n_chunks && s->chunks[k].offset < r->end; k++) {
			struct worker_chunk *c = &s->chunks[k];
			uint64_t from = c->offset + c->skip;

			if (c->link != l)
				continue;
			worker_chunk_settle(w, s, c, r->start, r->end);
			intervals_add(&s->acked, from, c->offset + c->skip);
		}
	}
	worker_chunk_freed(w, s);
}

void
worker_chunk_reader_gone(struct worker *w, struct msg *m)
{
	const struct msg_reader_gone *g = &m->reader_gone;
	struct worker_stream *s = worker_stream_find(w, g->key);
	struct worker_link *l, **at;
	struct msg *out;

	if (!s)
		return;
	if (!worker_chunk_is_gone(s, g->seat)) {
		if (s->n_gone == s->cap_gone)
			s->gone = mem_grow(s->gone, &s->cap_gone, s->n_gone + 1, sizeof *s->gone);
		s->gone[s->n_gone++] = g->seat;
	}
	out = worker_tell(w, MSG_GONE_OK);
	out->gone_ok = (struct msg_gone_ok){ g->key, g->seat, intervals_give(&s->acked) };
	l = worker_chunk_link(s, g->seat);
	if (!l)
		return;
	for (size_t i = s->first; i < s->n_chunks; i++) {
		struct worker_chunk *c = &s->chunks[i];

		if (c->link != l)
			continue;
		for (size_t k = 0; k < g->acked.n && c->state != CHUNK_DONE; k++)
			worker_chunk_settle(w, s, c, g->acked.v[k].start, g->acked.v[k].end);
		if (c->state == CHUNK_DONE)
			continue;
		if (c->state == CHUNK_AGAIN)
			l->again--;
		l->kept--;
		l->kept_bytes -= c->bytes;
		c->state = CHUNK_QUEUED;
		c->link = NULL;
		if (i < s->next)
			s->next = i;
	}
	for (at = &s->links; *at != l;)
		at = &(*at)->next;
	*at = l->next;
	s->n_links--;
	mem_free(l);
	worker_chunk_freed(w, s);
}

bool
worker_admits(struct worker *w, const struct msg_credit *c)
{
	struct worker_stream *s = worker_stream_find(w, c->key);

	return !s || worker_chunk_admits(s, c->seat, worker_chunk_link(s, c->seat), c->ticket);
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
