/* SPDX-License-Identifier: MIT
 *
 * Chunks that come: which of their elements count, and what follows.
 */
#include "base/mem.h"
#include "core/read/reader_inner.h"

/* It has all of it: what is no longer needed the worker is told (again). */
static void
reader_chunk_known(struct reader *r, struct reader_stream *s, uint64_t start, uint64_t end)
{
	struct intervals known = { 0 };

	intervals_add(&known, start, end);
	intervals_sub_all(&known, &s->open);
	if (r->recorded) { /* not before that */
		intervals_sub_all(&known, &s->fresh);
		intervals_sub_all(&known, &s->sending);
	}
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
		*p = (struct reader_part){ .chunk = own, .stream = s, .offset = at, .split = c->split, .tail = c->tail,
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
	s->worker->up = true;
	s->worker->patience = READER_MUTE_NS;
	r->chunk_bytes = (r->chunk_bytes * 7 + bytes) / 8;
	r->chunks_come++;
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
