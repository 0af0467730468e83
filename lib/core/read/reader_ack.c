/* SPDX-License-Identifier: MIT
 *
 * Acknowledgements to workers and dispatcher.
 */
#include <string.h>

#include "base/mem.h"
#include "core/read/reader_inner.h"
#include "value/round.h"
#include "wire/table.h"

/* To workers */

void
reader_ack_worker(struct reader *r, struct reader_stream *s, uint64_t start, uint64_t end)
{
	if (!s->worker)
		return; /* whoever made it has forgotten it */
	intervals_add(&s->ack_worker, start, end);
	if (s->ack_listed)
		return;
	s->ack_listed = true;
	s->next_ack = r->acks;
	r->acks = s;
}

void
reader_acks_to_workers(struct reader *r)
{
	struct reader_stream *s;

	while ((s = r->acks)) {
		r->acks = s->next_ack;
		s->ack_listed = false;
		if (s->worker && s->ack_worker.n) {
			struct reader_action *a = reader_do(r, READER_SEND);

			a->worker = s->worker->id;
			a->msg.type = MSG_CHUNK_ACK;
			a->msg.chunk_ack = (struct msg_chunk_ack){ { r->iteration, s->index, s->gen }, r->seat,
				intervals_give(&s->ack_worker), s->ticket, r->view };
		}
		s->ack_worker.n = 0;
	}
}

/* To the dispatcher */

static void
reader_ack_later(struct reader *r)
{
	if (r->ack_due == INT64_MAX && r->has_fresh && !r->ack_out)
		r->ack_due = r->now + (r->ack_pace > READER_ACK_NS ? r->ack_pace : READER_ACK_NS);
}

/* Elements that may be acknowledged: written, and saved where that is asked. */
void
reader_released(struct reader *r, struct reader_stream *s, uint64_t start, uint64_t end)
{
	size_t before = s->fresh.n;

	intervals_sub(&s->open, start, end);
	intervals_add(&s->fresh, start, end);
	if (!s->fresh_listed) {
		r->fresh = mem_grow(r->fresh, &r->cap_fresh, r->n_fresh + 1, sizeof(struct reader_stream *));
		r->fresh[r->n_fresh++] = s;
		s->fresh_listed = true;
	}
	r->fresh_ranges += s->fresh.n - before;
	r->has_fresh = true;
	/* Chunks of void generations nobody keeps any more; acknowledging their
	 * offsets to the worker of now is harmless: it keeps none of them. */
	if (!r->recorded)
		reader_ack_worker(r, s, start, end);
	reader_ack_later(r);
}

/* Moves what is fresh to what is being sent. */
static void
reader_ack_collect(struct reader *r)
{
	r->has_fresh = false;
	r->fresh_ranges = r->fresh_bytes = 0;
	for (size_t i = 0; i < r->n_fresh; i++) {
		struct reader_stream *s = r->fresh[i];
		struct intervals take = { 0 };

		if (!s->fresh.n)
			continue;
		if (s->fresh.n <= READER_ACK_RANGES) {
			take = s->fresh;
			s->fresh = (struct intervals){ 0 };
		} else {
			for (size_t k = 0; k < READER_ACK_RANGES; k++)
				intervals_add(&take, s->fresh.v[k].start, s->fresh.v[k].end);
			intervals_sub_all(&s->fresh, &take);
			r->has_fresh = true;
			r->fresh_ranges += s->fresh.n;
		}
		intervals_clear(&s->sending);
		s->sending = take;
	}
}

static void
reader_ack_fill(const struct reader *r, bool sending, struct ranges_list *out)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_fresh; i++)
		n += (sending ? r->fresh[i]->sending.n : r->fresh[i]->fresh.n) > 0;
	out->v = n ? mem_array(n, sizeof *out->v) : NULL;
	for (size_t i = 0; i < r->n_fresh; i++) {
		struct reader_stream *s = r->fresh[i];
		const struct intervals *set = sending ? &s->sending : &s->fresh;

		if (set->n)
			out->v[out->n++] = (struct msg_stream_ranges){ s->index, intervals_give(set) };
	}
}

/* One ACK at a time: the next one when it is answered. */
void
reader_ack_send(struct reader *r, bool again)
{
	struct msg *m;

	r->ack_due = INT64_MAX;
	if (!r->opened || again != r->ack_out)
		return;
	if (!again) {
		if ((!r->has_fresh && r->placed) || r->closed_sent)
			return;
		reader_ack_collect(r);
		r->ack_out = true;
		r->seq++;
	}
	if (!r->contact.connected)
		return; /* said when it is back */
	m = reader_tell(r, MSG_ACK);
	m->req = r->seq;
	m->ack.iteration = r->iteration;
	m->ack.seat = r->seat;
	m->ack.seq = r->seq;
	reader_ack_fill(r, true, &m->ack.list);
}

/* For how many bytes an ACK is sent at once, where workers keep everything until it is recorded.
 * All consumers together leave most of a worker's usual memory free. */
static size_t
reader_ack_bytes(const struct reader *r)
{
	size_t part = r->places ? (size_t)READER_ROUND_ALL / r->places * r->stats.places : READER_ROUND_ALL;

	if (!r->first || part < READER_ROUND_BYTES)
		return READER_ROUND_BYTES;
	return part < READER_ROUND_OWN ? part : READER_ROUND_OWN;
}

/* The last elements of all are waited for; so is memory, where a worker has to keep everything
 * until it is recorded. */
void
reader_ack_soon(struct reader *r)
{
	if (r->has_fresh && ((reader_near_end(r) && !r->stats.held_bytes) ||
			     (r->recorded && r->fresh_bytes >= reader_ack_bytes(r))))
		reader_ack_send(r, false);
}

/* In rounds, and in groups with an order, a worker is told only of what the dispatcher has
 * recorded: the ledger of a consumer then is always a beginning of its sequence, and who takes
 * its place knows where to go on. */
static void
reader_ack_recorded(struct reader *r, struct reader_stream *s)
{
	for (size_t i = 0; i < s->sending.n && r->recorded; i++)
		reader_ack_worker(r, s, s->sending.v[i].start, s->sending.v[i].end);
}

/* The dispatcher has recorded what was sent. Streams with nothing more to be acknowledged leave the list. */
static void
reader_ack_over(struct reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_fresh; i++) {
		struct reader_stream *s = r->fresh[i];

		r->stats.acknowledged += intervals_count(&s->sending);
		reader_ack_recorded(r, s);
		intervals_clear(&s->sending);
		s->fresh_listed = s->fresh.n > 0;
		if (s->fresh_listed)
			r->fresh[n++] = s;
	}
	r->n_fresh = n;
}

void
reader_acked(struct reader *r, struct msg *m)
{
	if (!r->ack_out || m->acked.seq != r->seq || m->acked.iteration != r->iteration)
		return;
	r->ack_out = false;
	r->placed = true;
	r->ack_pace = m->acked.pace_ms * 1000000ll;
	if (r->recorded) /* workers keep everything until then */
		r->ack_pace = 0;
	else if (r->ack_pace > READER_ACK_MOST_NS)
		r->ack_pace = READER_ACK_MOST_NS;
	reader_ack_over(r);
	for (size_t i = 0; i < m->acked.floors.n; i++) {
		const struct msg_floor *f = &m->acked.floors.v[i];

		if (f->stream < r->n_streams && r->streams[f->stream])
			reader_stream_floor(r->streams[f->stream], f->floor);
	}
	reader_ack_later(r);
	reader_ack_soon(r);
}

/* The last word: what is not in an ACK yet goes with it. An ACK that is not
 * answered was or is said before it. */
void
reader_close_send(struct reader *r)
{
	struct msg *m;

	if (!r->opened)
		return;
	r->closed_sent = true;
	if (!r->contact.connected)
		return;
	m = reader_tell(r, MSG_CLOSE);
	m->req = r->seq + 1;
	m->close.iteration = r->iteration;
	m->close.seat = r->seat;
	m->close.seq = r->seq + 1;
	m->close.keep = r->keep;
	m->close.view = r->view;
	reader_ack_fill(r, false, &m->close.list);
}
