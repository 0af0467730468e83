/* SPDX-License-Identifier: MIT
 *
 * What is delivered next, and what has been written.
 *
 *	any     as chunks come
 *	stable  `block` elements of each stream in turn, those that are over
 *	        left out: depends only on the streams
 *	source  split after split: split g is split g div n of stream g mod n;
 *	        with sharding off copy after copy; with sharding data an element of each
 *	        stream in turn
 *
 * Streams of shards that are not read are over from the start.
 */
#include "base/mem.h"
#include "core/read/reader_inner.h"

/* Hands a part to the program; it is then among those to be written. */
static void
reader_order_deliver(struct reader *r, struct reader_part *p)
{
	struct reader_action *a = reader_do(r, READER_DELIVER);

	if (!r->first)
		reader_clock(r);
	a->handle = p->chunk->handle;
	a->first = p->first;
	a->count = p->count;
	a->stream = p->stream->index;
	a->offset = p->offset;
	r->stats.delivered += p->count;
	if (!p->stream->unwritten++)
		p->stream->written = p->offset;
	p->next = NULL;
	*r->last = p;
	r->last = &p->next;
}

void
reader_order_add(struct reader *r, struct reader_part *p)
{
	struct reader_part **at = &p->stream->parts;

	if (r->o.job.order == ORDER_ANY) {
		reader_order_deliver(r, p);
		return;
	}
	while (*at && (*at)->offset < p->offset)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
}

bool
reader_order_in_turns(const struct reader *r)
{
	return r->o.job.order == ORDER_STABLE || (r->o.job.order == ORDER_SOURCE && r->o.job.sharding == SHARD_DATA);
}

static bool
reader_order_over(const struct reader *r, struct reader_stream *s)
{
	if (!job_shards_has(&r->only, s->index))
		return true;
	if (!s->over && s->state >= STREAM_ENDED && s->state != STREAM_FAILED && s->pos >= s->length)
		s->over = true;
	return s->over;
}

/* Whether the next element of the stream is the one that failed: nothing is to be
 * delivered beyond it. */
static bool
reader_order_fails(struct reader *r, struct reader_stream *s)
{
	if (s->state != STREAM_FAILED || s->pos < s->length)
		return false;
	r->reached = s;
	return true;
}

static void
reader_order_take(struct reader *r, struct reader_stream *s, uint32_t n, uint64_t left)
{
	struct reader_part *p = s->parts, *out = p;

	if (n < p->count) {
		out = mem_zalloc(sizeof *out);
		*out = *p;
		out->count = n;
		out->chunk->parts++;
		p->first += n;
		p->offset += n;
		p->count -= n;
	} else {
		s->parts = p->next;
	}
	out->turn = (uint32_t)left;
	out->split = r->split;
	s->pos += n;
	reader_order_deliver(r, out);
}

void
reader_order_next(struct reader *r)
{
	r->turn = (r->turn + 1) % r->shards;
	r->block_left = r->block;
}

/* Elements of its whole rounds that the one before us has written. */
static uint64_t
reader_order_begun(const struct reader_stream *s)
{
	return s->made && s->pos > s->own ? s->own : s->pos;
}

/* All that the one before us has written is a beginning of the sequence: the last of it is the
 * element that comes last in the rotation, of all that stand behind a floor. */
static void
reader_order_align(struct reader *r)
{
	struct reader_stream *last = NULL;

	if (r->aligned)
		return;
	for (uint32_t i = 0; i < r->shards; i++)
		if (!reader_stream_get(r, i)->told)
			return;
	r->aligned = true;
	reader_fence_begin(r);
	for (uint32_t i = 0; i < r->shards; i++) {
		struct reader_stream *s = r->streams[i];

		if (reader_order_begun(s) && (!last || (reader_order_begun(s) - 1) / r->block >=
						       (reader_order_begun(last) - 1) / r->block))
			last = s;
	}
	if (!last)
		return;
	r->stats.midway = true;
	r->turn = last->index;
	r->block_left = r->block - ((reader_order_begun(last) - 1) % r->block + 1);
	r->pos_turn = r->turn;
	r->pos_left = r->block_left;
	if (!r->block_left)
		reader_order_next(r);
}

/* Whether all whole rounds of the stream are delivered. */
static bool
reader_order_own_over(struct reader *r, const struct reader_stream *s)
{
	return r->rounds && s->made && s->pos >= s->own;
}

/* Elements that do not fill a round of their stream make rounds together with the rest of other
 * streams, when all whole rounds are over. */
static void
reader_order_tails(struct reader *r)
{
	uint64_t n;

	for (uint32_t i = 0; i < r->shards; i++) {
		struct reader_stream *s = reader_stream_get(r, i);

		while (!reader_order_over(r, s)) {
			struct reader_part *p = reader_stream_front(s);

			if (reader_order_fails(r, s))
				return;
			if (!p) {
				reader_credit_later(r, s);
				return;
			}
			n = reader_fence_room(r);
			if (!n)
				return;
			reader_order_take(r, s, n < p->count ? (uint32_t)n : p->count, 0);
		}
	}
	r->stats.at_end = true;
}

static void
reader_order_turns(struct reader *r)
{
	uint32_t over = 0; /* in a row */

	while (over < r->shards) {
		struct reader_stream *s = reader_stream_get(r, (uint32_t)r->turn);
		struct reader_part *p;
		uint64_t n;

		if (reader_order_own_over(r, s) || reader_order_over(r, s)) {
			over++;
			reader_order_next(r);
			continue;
		}
		over = 0;
		if (reader_order_fails(r, s))
			return;
		p = reader_stream_front(s);
		if (!p || (p->tail && !(s->made && p->offset < s->own))) {
			reader_credit_later(r, s); /* the stream whose turn it is must not starve */
			return;
		}
		n = p->count < r->block_left ? p->count : r->block_left;
		if (n > reader_fence_room(r))
			n = reader_fence_room(r);
		if (!n)
			return;
		r->block_left -= n;
		reader_order_take(r, s, (uint32_t)n, r->block_left);
		if (!r->block_left)
			reader_order_next(r);
	}
	if (r->rounds)
		reader_order_tails(r);
}

static void
reader_order_copies(struct reader *r)
{
	while (r->turn < r->shards) {
		struct reader_stream *s = reader_stream_get(r, (uint32_t)r->turn);
		struct reader_part *p = reader_stream_front(s);

		if (reader_order_over(r, s))
			r->turn++;
		else if (reader_order_fails(r, s))
			break;
		else if (p)
			reader_order_take(r, s, p->count, 0);
		else
			break;
	}
	if (r->turn < r->shards)
		reader_credit_later(r, reader_stream_get(r, (uint32_t)r->turn));
}

struct order_later { uint32_t n; uint64_t least; };

/* Streams that go on with a later split: once all in a row do, those before the least are left out
 * at once. False: there are none that far. */
static bool
reader_order_later(struct reader *r, struct order_later *l, uint64_t split)
{
	r->split++;
	l->least = split < l->least ? split : l->least;
	if (++l->n < r->shards)
		return true;
	if (l->least >= UINT64_MAX / r->shards)
		return false;
	if (l->least * r->shards > r->split)
		r->split = l->least * r->shards;
	*l = (struct order_later){ 0, UINT64_MAX };
	return true;
}

static void
reader_order_source(struct reader *r)
{
	struct order_later later = { 0, UINT64_MAX };
	uint32_t over = 0;

	while (over < r->shards) {
		struct reader_stream *s = reader_stream_get(r, (uint32_t)(r->split % r->shards));
		struct reader_part *p;

		if (reader_order_over(r, s)) {
			over++;
			if (!reader_order_later(r, &later, UINT64_MAX / r->shards))
				return;
			continue;
		}
		over = 0;
		if (s->fail_split > r->split / r->shards && s->state == STREAM_FAILED && s->pos >= s->length) {
			if (!reader_order_later(r, &later, s->fail_split))
				return;
			continue;
		}
		if (reader_order_fails(r, s))
			return;
		p = reader_stream_front(s);
		if (!p) {
			reader_credit_later(r, s);
			return;
		}
		if (p->split <= r->split / r->shards) {
			reader_order_take(r, s, p->count, 0);
			later = (struct order_later){ 0, UINT64_MAX };
		} else if (!reader_order_later(r, &later, p->split)) {
			return;
		}
	}
}

void
reader_order_run(struct reader *r)
{
	if (!r->opened || !r->shards || r->closing)
		return;
	reader_order_align(r);
	if (!r->aligned)
		return;
	r->reached = NULL;
	if (reader_order_in_turns(r))
		reader_order_turns(r);
	else if (r->o.job.order == ORDER_SOURCE && r->o.job.sharding == SHARD_OFF)
		reader_order_copies(r);
	else if (r->o.job.order == ORDER_SOURCE)
		reader_order_source(r);
}

void
reader_reached(struct reader *r, bool again)
{
	struct reader_stream *s = r->reached;
	struct stream_key key = { r->iteration, s ? s->index : 0, s ? s->gen : 0 };

	if (!s || r->first || r->over || r->closing || !r->contact.connected)
		return;
	if (!again && r->told.stream == key.stream && r->told.gen == key.gen)
		return;
	r->told = key;
	reader_tell(r, MSG_REACHED)->reached = (struct msg_reached){ key, r->seat };
}

void
reader_order_clear(struct reader *r)
{
	struct reader_part *p;

	while ((p = r->first)) {
		r->first = p->next;
		p->stream->unwritten--;
		reader_chunk_done(r, p->chunk);
		mem_free(p);
	}
	r->last = &r->first;
	for (size_t i = 0; i < r->n_streams; i++)
		while (r->streams[i] && (p = r->streams[i]->parts)) {
			r->streams[i]->parts = p->next;
			reader_chunk_done(r, p->chunk);
			mem_free(p);
		}
}

/* Written */

static void
reader_order_written(struct reader *r, struct reader_part *p, uint32_t n)
{
	struct reader_stream *s = p->stream;
	uint64_t start = p->offset + r->first_written;

	if (!r->lag_begun) {
		r->lag_begun = true;
		r->lag_at = (struct reader_turn){ r->pos_turn, r->pos_left, r->pos_split };
	}
	r->stats.written += n;
	s->written = start + n;
	r->pos_turn = s->index;
	r->pos_left = p->turn + (p->count - r->first_written - n);
	r->pos_split = p->split;
	if (r->o.lag)
		reader_lag_add(r, &(struct reader_run){ s, start, n, r->pos_left, r->pos_split });
	else if (r->o.job.checkpoint)
		intervals_add(&s->unsaved, start, start + n);
	else
		reader_released(r, s, start, start + n);
}

void
reader_written(struct reader *r, int64_t now_ns, uint64_t elements)
{
	r->now = now_ns;
	while (elements && r->first) {
		struct reader_part *p = r->first;
		uint32_t left = p->count - r->first_written;
		uint32_t n = elements < left ? (uint32_t)elements : left;

		reader_order_written(r, p, n);
		elements -= n;
		r->first_written += n;
		if (r->first_written < p->count)
			break;
		r->first_written = 0;
		if (!p->next)
			reader_clock(r);
		p->stream->unwritten--;
		r->first = p->next;
		if (!r->first)
			r->last = &r->first;
		reader_chunk_done(r, p->chunk);
		mem_free(p);
	}
	if (r->over)
		return;
	if (!r->first)
		reader_order_run(r);
	reader_acks_to_workers(r);
	reader_reached(r, false);
	reader_ack_soon(r);
	reader_fence_end(r);
	reader_credit(r);
}
