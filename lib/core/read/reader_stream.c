/* SPDX-License-Identifier: MIT
 *
 * Streams at a reader: the workers that they come from, and what the dispatcher says
 * of them.
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

/* When the last local stream is over, far workers may send as they can. */
static void
reader_stream_local(struct reader *r, struct reader_stream *s, bool local)
{
	if (s->local == local)
		return;
	s->local = local;
	r->n_local += local ? 1 : (size_t)-1;
	if (r->n_local < 2)
		reader_credit_all(r);
}

static void
reader_stream_detach(struct reader *r, struct reader_stream *s)
{
	struct reader_worker *w = s->worker;

	if (!w)
		return;
	*s->link_at_worker = s->next_at_worker;
	if (s->next_at_worker)
		s->next_at_worker->link_at_worker = s->link_at_worker;
	reader_stream_local(r, s, false);
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
		reader_reach_down(r, w);
		hash_put(&r->workers, &id, sizeof id, w);
		a->worker = id;
		a->endpoint = mem_strdup(w->endpoint);
	}
	w->n_streams++; /* first: the worker may be the one it leaves */
	reader_stream_detach(r, s);
	r->n_attached++;
	s->worker = w;
	s->next_at_worker = w->streams;
	s->link_at_worker = &w->streams;
	if (w->streams)
		w->streams->link_at_worker = &s->next_at_worker;
	w->streams = s;
	s->total = s->arrived = 0;
	reader_credit_later(r, s);
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
	s->told = true;
	if (n->state >= STREAM_ENDED || !ended) /* a length once known stays */
		s->state = n->state;
	s->length = n->state >= STREAM_ENDED ? n->length : s->length;
	s->fail_split = n->split;
	if (n->made) {
		s->made = true;
		s->own = n->own;
	}
	r->failing |= s->state == STREAM_FAILED;
	if ((s->state == STREAM_ENDED || s->state == STREAM_FINISHED) && !ended)
		r->stats.streams_ended++;
	reader_stream_floor(s, n->state == STREAM_FINISHED ? n->length : n->floor);
	s->ticket = n->ticket;
	if (n->missed > s->missed) {
		r->stats.missed += n->missed - s->missed;
		s->missed = n->missed;
	}
	if (n->worker && n->state != STREAM_FINISHED)
		reader_stream_attach(r, s, n->worker, n->endpoint);
	else
		reader_stream_detach(r, s);
	reader_stream_local(r, s, s->worker && n->local);
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

void
reader_credit_later(struct reader *r, struct reader_stream *s)
{
	if (s->credit_listed)
		return;
	s->credit_listed = true;
	s->next_credit = r->credits;
	r->credits = s;
}

/* The part to go on with in this stream; NULL: it has not come. */
struct reader_part *
reader_stream_front(const struct reader_stream *s)
{
	return s->parts && s->parts->offset == s->pos ? s->parts : NULL;
}
