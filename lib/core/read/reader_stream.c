/* SPDX-License-Identifier: MIT
 *
 * Streams at a reader: where they come from, credit, which chunks count.
 */
#include <string.h>

#include "base/mem.h"
#include "core/read/reader_inner.h"

struct reader_stream *
reader_stream_get(struct reader *r, uint32_t index)
{
	if (index >= r->n_streams) {
		if (index >= r->cap_streams)
			r->streams = mem_grow(r->streams, &r->cap_streams, index + 1, sizeof(struct reader_stream *));
		memset(r->streams + r->n_streams, 0, (index + 1 - r->n_streams) * sizeof(struct reader_stream *));
		r->n_streams = index + 1;
	}
	if (!r->streams[index]) {
		r->streams[index] = mem_zalloc(sizeof **r->streams);
		r->streams[index]->index = index;
	}
	return r->streams[index];
}

bool
reader_all_made(const struct reader *r)
{
	return r->all_known && r->stats.streams_ended >= r->n_known;
}

bool
reader_near_end(const struct reader *r)
{
	return r->failing || reader_all_made(r);
}

/* Workers */

void
reader_stream_detach(struct reader *r, struct reader_stream *s)
{
	struct reader_worker *w = s->worker;
	struct reader_stream **at;

	if (!w)
		return;
	for (at = &w->streams; *at != s;)
		at = &(*at)->next_at_worker;
	*at = s->next_at_worker;
	s->worker = NULL;
	s->total = s->arrived = 0;
	r->n_attached--;
	if (--w->n_streams)
		return;
	reader_do(r, READER_DISCONNECT)->worker = w->id;
	hash_del(&r->workers, &w->id, sizeof w->id);
	mem_free(w->endpoint);
	mem_free(w);
}

static void
reader_stream_attach(struct reader *r, struct reader_stream *s, uint64_t id, const char *endpoint)
{
	struct reader_worker *w = hash_get(&r->workers, &id, sizeof id);

	if (s->worker && s->worker->id == id)
		return;
	if (!w) {
		struct reader_action *a = reader_do(r, READER_CONNECT);

		w = mem_zalloc(sizeof *w);
		w->id = id;
		w->endpoint = mem_strdup(endpoint ? endpoint : "");
		w->session = ++r->sessions;
		w->heard = r->now;
		w->patience = READER_MUTE_NS;
		hash_put(&r->workers, &id, sizeof id, w);
		a->worker = id;
		a->endpoint = mem_strdup(w->endpoint);
	}
	w->n_streams++; /* first: the worker may be the one it leaves */
	reader_stream_detach(r, s);
	r->n_attached++;
	s->worker = w;
	s->next_at_worker = w->streams;
	w->streams = s;
	s->total = s->arrived = 0;
	reader_credit_later(r, s);
}

/* What was under way is lost: a new session, so that the worker sends again what is
 * not acknowledged. */
static void
reader_worker_session(struct reader *r, struct reader_worker *w)
{
	w->session = ++r->sessions;
	for (struct reader_stream *s = w->streams; s; s = s->next_at_worker) {
		s->total = s->arrived = 0;
		reader_credit_later(r, s);
	}
}

void
reader_worker_gone(struct reader *r, int64_t now_ns, uint64_t worker)
{
	struct reader_worker *w = hash_get(&r->workers, &worker, sizeof worker);

	r->now = now_ns;
	if (!w || r->over)
		return;
	reader_worker_session(r, w);
	reader_credit(r);
}

/* A connection may be dead at its other end without a word, and then what was sent
 * over it is missed by nobody there. A worker that is slow looks the same; then
 * nothing is under way, and calling it anew costs a message. */
static bool
reader_worker_mute(const struct reader *r, const struct reader_worker *w)
{
	if (r->now - w->heard < w->patience || r->closing)
		return false;
	for (const struct reader_stream *s = w->streams; s; s = s->next_at_worker)
		if (s->total > s->arrived && (!s->held || (r->o.order != ORDER_ANY && !reader_order_front(s))))
			return true;
	return false;
}

static void
reader_worker_call(struct reader *r, struct reader_worker *w)
{
	struct reader_action *a;

	reader_do(r, READER_DISCONNECT)->worker = w->id;
	a = reader_do(r, READER_CONNECT);
	a->worker = w->id;
	a->endpoint = mem_strdup(w->endpoint);
	w->heard = r->now;
	w->patience = w->patience < READER_MUTE_MOST_NS / 2 ? w->patience * 2 : READER_MUTE_MOST_NS;
	reader_worker_session(r, w);
}

/* News of the dispatcher */

/* All before it is acknowledged, if not by us then by who was here before: an ordered
 * reader must not wait for those. */
void
reader_stream_floor(struct reader_stream *s, uint64_t floor)
{
	intervals_add(&s->received, 0, floor);
	if (floor > s->pos)
		s->pos = floor;
}

static void
reader_stream_changed(struct reader *r, const struct msg_stream *n)
{
	struct reader_stream *s = reader_stream_get(r, n->stream);
	bool ended = s->state == STREAM_ENDED || s->state == STREAM_FINISHED;

	if (n->gen < s->gen)
		return;
	if (n->gen > s->gen)
		reader_stream_detach(r, s);
	s->gen = n->gen;
	if (n->state >= STREAM_ENDED || !ended) /* a length once known stays */
		s->state = n->state;
	s->length = n->state >= STREAM_ENDED ? n->length : s->length;
	s->fail_split = n->split;
	r->failing |= s->state == STREAM_FAILED;
	if ((s->state == STREAM_ENDED || s->state == STREAM_FINISHED) && !ended)
		r->stats.streams_ended++;
	reader_stream_floor(s, n->state == STREAM_FINISHED ? n->length : n->floor);
	if (n->worker && n->state != STREAM_FINISHED)
		reader_stream_attach(r, s, n->worker, n->endpoint);
	else
		reader_stream_detach(r, s);
}

void
reader_streams_changed(struct reader *r, struct msg *m)
{
	if (!r->opened || r->closing || m->streams.iteration != r->iteration)
		return;
	for (size_t i = 0; i < m->streams.list.n; i++)
		if (m->streams.list.v[i].stream < WIRE_STREAMS_MAX)
			reader_stream_changed(r, &m->streams.list.v[i]);
	/* A gap shows in our BEAT, and what is missing is sent again. */
	if (!m->streams.since || (m->streams.since <= r->version && m->streams.version > r->version))
		r->version = m->streams.version;
	r->n_known = m->streams.total;
	r->all_known = m->streams.all_known;
}

void
reader_hold(struct reader *r, const struct stream_key *key)
{
	struct reader_stream *s;
	struct intervals held = { 0 };
	struct msg *m;

	if (!r->opened || key->iteration != r->iteration || key->stream >= WIRE_STREAMS_MAX)
		return;
	s = reader_stream_get(r, key->stream);
	if (key->gen < s->gen)
		return;
	if (key->gen > s->gen) {
		reader_stream_detach(r, s);
		s->gen = key->gen;
	}
	intervals_copy(&held, &s->open);
	intervals_add_all(&held, &s->fresh);
	intervals_add_all(&held, &s->sending);
	m = reader_tell(r, MSG_HELD);
	m->held = (struct msg_held){ .key = *key, .seat = r->seat, .ranges = intervals_lend(&held) };
	m->held.key.gen = key->gen;
	/* the ranges' memory goes along */
}

/* Credit */

void
reader_credit_later(struct reader *r, struct reader_stream *s)
{
	if (s->credit_listed)
		return;
	s->credit_listed = true;
	s->next_credit = r->credits;
	r->credits = s;
}

static uint32_t
reader_window(const struct reader *r)
{
	size_t win = r->o.budget / (r->chunk_bytes ? r->chunk_bytes : 1) / (r->n_attached ? r->n_attached : 1);

	return win < 1 ? 1 : win > r->o.window ? r->o.window : (uint32_t)win;
}

static void
reader_credit_send(struct reader *r, struct reader_stream *s)
{
	struct reader_action *a = reader_do(r, READER_SEND);

	a->worker = s->worker->id;
	a->msg.type = MSG_CREDIT;
	a->msg.credit = (struct msg_credit){ .key = { r->iteration, s->index, s->gen }, .seat = r->seat,
		.session = s->worker->session, .total = s->total };
	s->credit_at = r->now;
}

static void
reader_credit_stream(struct reader *r, struct reader_stream *s, uint32_t win)
{
	uint32_t free = s->held < win ? win - s->held : 0;
	uint64_t total;

	if (!s->worker || r->closing)
		return;
	if (r->stats.held_bytes >= r->o.budget) {
		r->starved = true;
		free = 0;
	}
	if (r->fresh_ranges > READER_FRESH_MAX) {
		r->starved = true;
		free = 0;
	}
	/* An ordered reader may hold later chunks of a stream and need an earlier
	 * one, that was under way when a connection broke: when nothing is left
	 * to be written, it must be let in. */
	if (r->o.order != ORDER_ANY && !free && !r->first && !reader_order_front(s))
		free = 1;
	total = s->arrived + free;
	if (total <= s->total || (total - s->total < (win + 3) / 4 && s->total > s->arrived))
		return;
	s->total = total;
	reader_credit_send(r, s);
}

void
reader_credit(struct reader *r)
{
	struct reader_stream *s;
	uint32_t win;

	if (r->starved && r->stats.held_bytes < r->o.budget &&
	    r->fresh_ranges <= READER_FRESH_MAX) {
		r->starved = false;
		for (size_t i = 0; i < r->workers.n; i++)
			for (s = ((struct reader_worker *)r->workers.items[i].value)->streams; s; s = s->next_at_worker)
				reader_credit_later(r, s);
	}
	if (!r->credits || !r->placed)
		return;
	win = reader_window(r);
	while ((s = r->credits)) {
		r->credits = s->next_credit;
		s->credit_listed = false;
		reader_credit_stream(r, s, win);
	}
}

/* Credit that got lost would stop a stream for ever. */
void
reader_credit_again(struct reader *r)
{
	for (size_t i = 0; i < r->workers.n; i++) {
		struct reader_worker *w = r->workers.items[i].value;

		if (reader_worker_mute(r, w))
			reader_worker_call(r, w);
		for (struct reader_stream *s = w->streams; s; s = s->next_at_worker)
			if (s->total > s->arrived && r->now - s->credit_at >= READER_CREDIT_NS && !r->closing)
				reader_credit_send(r, s);
	}
}

/* Chunks */

void
reader_chunk_done(struct reader *r, struct reader_chunk_ *c)
{
	if (--c->parts)
		return;
	reader_do(r, READER_FREE)->handle = c->handle;
	r->stats.held_bytes -= c->bytes;
	c->stream->held--;
	reader_credit_later(r, c->stream);
	mem_free(c);
}

/* It has all of it: what is no longer needed the worker is told (again). */
static void
reader_chunk_known(struct reader *r, struct reader_stream *s, uint64_t start, uint64_t end)
{
	struct intervals known = { 0 };

	intervals_add(&known, start, end);
	intervals_sub_all(&known, &s->open);
	for (size_t i = 0; i < known.n; i++)
		reader_ack_worker(r, s, known.v[i].start, known.v[i].end);
	intervals_clear(&known);
}

static void
reader_chunk_accept(struct reader *r, struct reader_stream *s, const struct msg_chunk *c, struct reader_chunk_ *own)
{
	uint64_t at = c->offset + c->skip, end = c->offset + c->count;

	while ((at = intervals_gap(&s->received, at)) < end) {
		uint64_t stop = intervals_next(&s->received, at);
		struct reader_part *p = mem_zalloc(sizeof *p);

		if (stop > end)
			stop = end;
		*p = (struct reader_part){ .chunk = own, .stream = s, .offset = at, .split = c->split,
			.gen = s->gen, .first = (uint32_t)(at - c->offset), .count = (uint32_t)(stop - at) };
		own->parts++;
		intervals_add(&s->received, at, stop);
		intervals_add(&s->open, at, stop);
		reader_order_add(r, p);
		at = stop;
	}
}

void
reader_chunk(struct reader *r, int64_t now_ns, uint64_t worker, const struct msg_chunk *c,
	     void *handle, size_t bytes)
{
	struct reader_stream *s = c->key.stream < r->n_streams ? r->streams[c->key.stream] : NULL;
	uint64_t at = c->offset + c->skip, end = c->offset + c->count;
	struct reader_chunk_ *own;

	r->now = now_ns;
	if (!s || r->over || r->closing || c->key.iteration != r->iteration || c->key.gen != s->gen ||
	    c->seat != r->seat || !s->worker || s->worker->id != worker || c->skip >= c->count ||
	    c->offset > (uint64_t)INT64_MAX - c->count) {
		r->stats.dropped += c->count;
		reader_do(r, READER_FREE)->handle = handle;
		return;
	}
	/* Credit of an earlier session may still have been on its way when the
	 * connection came back: what is sent on it does not count in this one. */
	s->arrived += c->session == s->worker->session;
	s->worker->heard = now_ns;
	s->worker->patience = READER_MUTE_NS;
	r->chunk_bytes = (r->chunk_bytes * 7 + bytes) / 8;
	own = mem_zalloc(sizeof *own);
	*own = (struct reader_chunk_){ .handle = handle, .bytes = bytes, .parts = 1, .stream = s };
	r->stats.held_bytes += bytes;
	s->held++;
	r->stats.dropped += intervals_overlap(&s->received, at, end);
	if (intervals_overlap(&s->received, at, end)) {
		struct intervals before = { 0 };

		intervals_copy(&before, &s->received);
		intervals_sub_all(&before, &s->open);
		for (size_t i = 0; i < before.n; i++)
			if (before.v[i].start < end && before.v[i].end > at)
				reader_chunk_known(r, s, before.v[i].start > at ? before.v[i].start : at,
						   before.v[i].end < end ? before.v[i].end : end);
		intervals_clear(&before);
	}
	reader_chunk_accept(r, s, c, own);
	reader_chunk_done(r, own);
	reader_order_run(r);
	reader_acks_to_workers(r);
	reader_credit_later(r, s);
	reader_credit(r);
}
