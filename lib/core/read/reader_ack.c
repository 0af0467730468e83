/* SPDX-License-Identifier: MIT
 *
 * Acknowledgements to workers and dispatcher; positions.
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
	for (size_t i = 0; i < r->n_streams; i++) {
		struct reader_stream *s = r->streams[i];
		struct intervals take = { 0 };

		if (!s || !s->fresh.n)
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

	for (size_t i = 0; i < r->n_streams; i++)
		n += r->streams[i] && (sending ? r->streams[i]->sending.n : r->streams[i]->fresh.n);
	out->v = n ? mem_array(n, sizeof *out->v) : NULL;
	for (size_t i = 0; i < r->n_streams; i++) {
		struct reader_stream *s = r->streams[i];
		const struct intervals *set = s ? sending ? &s->sending : &s->fresh : NULL;

		if (set && set->n)
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

/* The last elements of all are waited for; so is memory, where a worker has to keep everything
 * until it is recorded. */
void
reader_ack_soon(struct reader *r)
{
	if (r->has_fresh && ((reader_near_end(r) && !r->stats.held_bytes) ||
			     (r->recorded && r->fresh_bytes >= READER_ROUND_BYTES)))
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
	for (size_t i = 0; i < r->n_streams; i++)
		if (r->streams[i]) {
			r->stats.acknowledged += intervals_count(&r->streams[i]->sending);
			reader_ack_recorded(r, r->streams[i]);
			intervals_clear(&r->streams[i]->sending);
		}
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

/* Positions */

struct reader_pos {
	uint32_t version;
	struct job_opts job; /* options of the pass: with its seed, and with an order its number of streams */
	char *dataset;
	uint64_t iteration, seat, turn, left, split;
	struct ranges_list streams;
	uint32_t rounds;     /* places of a round, when all that is counted are rounds; else 0 */
};
static const struct field pos_ranges[] = {
	U32(msg_stream_ranges, stream, WIRE_STREAMS_MAX, NULL),
	{ "ranges", FIELD_RANGES, offsetof(struct msg_stream_ranges, ranges), 1 << 24, NULL, NULL, 0, false }, { 0 }
};
static const struct field pos_fields[] = {
	U32(reader_pos, version, 0, NULL),
	PART(reader_pos, "sharding", U32, job.sharding, JOB_SHARDINGS - 1, NULL),
	PART(reader_pos, "order", U32, job.order, JOB_ORDERS - 1, NULL),
	PART(reader_pos, "shards", U64, job.shards, WIRE_STREAMS_MAX, NULL),
	PART(reader_pos, "shard", TEXT, job.shard, WIRE_TEXT_MAX, NULL),
	PART(reader_pos, "epoch", U64, job.epoch, UINT32_MAX, NULL), NAME(reader_pos, dataset, NULL),
	PART(reader_pos, "job", TEXT, job.name, WIRE_NAME_MAX, NULL),
	U64(reader_pos, iteration, NULL), U64(reader_pos, seat, NULL), PART(reader_pos, "seed", U64, job.seed, 0, NULL),
	U64(reader_pos, turn, NULL), U64(reader_pos, left, NULL), U64(reader_pos, split, NULL),
	PART(reader_pos, "consumer", TEXT, job.consumer, WIRE_NAME_MAX, NULL),
	LIST(reader_pos, streams, WIRE_STREAMS_MAX, pos_ranges, struct msg_stream_ranges, NULL),
	U32(reader_pos, rounds, ROUND_PLACES_MAX, NULL), { 0 }
};

/* Elements that are written: all that was received, without what is still to
 * be written. By stream; zeros where there is none. Gives. */
static struct intervals *
reader_position_sets(const struct reader *r)
{
	struct intervals *had = mem_array(r->n_streams, sizeof *had);
	uint32_t written = r->first_written;

	for (size_t i = 0; i < r->n_streams; i++)
		if (r->streams[i])
			intervals_copy(&had[i], &r->streams[i]->received);
	for (const struct reader_part *p = r->first; p; p = p->next, written = 0)
		intervals_sub(&had[p->stream->index], p->offset + written, p->offset + p->count);
	for (size_t i = 0; i < r->n_streams; i++)
		for (const struct reader_part *p = r->streams[i] ? r->streams[i]->parts : NULL; p; p = p->next)
			intervals_sub(&had[i], p->offset, p->offset + p->count);
	return had;
}

/* Counts rounds instead of elements. False: there is no such place. */
static bool
reader_position_in_rounds(const struct reader *r, struct reader_pos *p, struct intervals *had)
{
	struct round_part part;
	struct err e;

	if (round_parse(r->o.job.consumer, &part, &e) || p->left % part.n)
		return false;
	for (size_t i = 0; i < r->n_streams; i++) {
		const struct reader_stream *s = r->streams[i];
		uint64_t n = had[i].n ? had[i].v[had[i].n - 1].end : 0;

		if (!had[i].n)
			continue;
		if (had[i].n > 1 || had[i].v[0].start || n % part.n || (s->made && n > s->own))
			return false;
		had[i].v[0].end = n / part.n;
	}
	p->rounds = part.of;
	p->left /= part.n;
	p->iteration = p->seat = 0;
	p->job.name = p->job.consumer = NULL;
	p->job.seed = r->o.job.seed;
	return true;
}

/* All that is written is in the position that is taken now. */
static void
reader_position_taken(struct reader *r)
{
	for (size_t i = 0; i < r->n_streams; i++) {
		struct reader_stream *s = r->streams[i];

		if (s) {
			intervals_add_all(&s->saving, &s->unsaved);
			s->unsaved.n = 0;
		}
	}
}

void
reader_position(struct reader *r, struct buf *out)
{
	struct reader_pos p = { .version = 2, .job = r->o.job, .dataset = r->dataset, .iteration = r->iteration,
		.seat = r->seat, .turn = r->pos_turn, .left = r->pos_left, .split = r->pos_split };
	struct intervals *had = reader_position_sets(r);

	p.job.name = r->job;
	p.job.seed = r->seed;
	p.job.epoch = r->epoch;
	if (job_is_fixed(&p.job))
		p.job.shards = r->shards;
	bool there = !r->o.in_rounds || !r->rounds || reader_position_in_rounds(r, &p, had);
	p.streams.v = mem_array(r->n_streams, sizeof *p.streams.v);
	for (size_t i = 0; i < r->n_streams; i++) {
		struct reader_stream *s = r->streams[i];

		if (!s)
			continue;
		if (had[i].n)
			p.streams.v[p.streams.n++] = (struct msg_stream_ranges){ s->index, intervals_lend(&had[i]) };
	}
	reader_position_taken(r);
	if (there)
		fields_encode(pos_fields, &p, out);
	for (size_t i = 0; i < r->n_streams; i++)
		intervals_clear(&had[i]);
	mem_free(had);
	mem_free(p.streams.v);
}

void
reader_saved(struct reader *r, int64_t now_ns)
{
	r->now = now_ns;
	for (size_t i = 0; i < r->n_streams; i++) {
		struct reader_stream *s = r->streams[i];

		for (size_t k = 0; s && k < s->saving.n; k++)
			reader_released(r, s, s->saving.v[k].start, s->saving.v[k].end);
		if (s)
			s->saving.n = 0;
	}
	if (r->over)
		return;
	reader_acks_to_workers(r);
	if (!r->placed)
		reader_ack_send(r, false);
	reader_ack_soon(r);
	reader_fence_end(r);
	reader_credit(r);
}

/* Whether a reader's word for a dataset is that id, or the beginning of it. */
static bool
reader_is_dataset(const char *word, const char *id)
{
	size_t n = strlen(word);

	return !strcmp(word, id) || (n >= WIRE_PREFIX_MIN && !strncmp(word, id, n));
}

/* Checks that options that are not defaults agree with those of the position. */
static enum status
reader_position_fits(const struct job_opts *o, const struct job_opts *p, struct err *e)
{
	const char *job = p->name ? p->name : "";

	if (o->name && *o->name && strcmp(o->name, job))
		err_set(e, ST_USAGE, "the position belongs to %s%s%s, not to job `%s`",
			*job ? "job `" : "a reader without a job", job, *job ? "`" : "", o->name);
	else if (o->order != ORDER_ANY && o->order != p->order)
		err_set(e, ST_USAGE, "the position belongs to order %s, not to order %s",
			job_order_word(p->order), job_order_word(o->order));
	else if (o->sharding != SHARD_DYNAMIC && o->sharding != p->sharding)
		err_set(e, ST_USAGE, "the position belongs to sharding %s, not to %s",
			job_sharding_word(p->sharding), job_sharding_word(o->sharding));
	else if (o->shards && p->shards > 1 && o->shards != p->shards) /* 1: it could not be cut */
		err_set(e, ST_USAGE, "the position belongs to a job with %llu shards, not with %llu",
			(unsigned long long)p->shards, (unsigned long long)o->shards);
	else if (o->shard && *o->shard && strcmp(o->shard, p->shard ? p->shard : ""))
		err_set(e, ST_USAGE, "the position is one in %s%s, not in shard %s", p->shard && *p->shard ? "shard " : "all shards",
			p->shard ? p->shard : "", o->shard);
	else if (o->consumer && *o->consumer && strcmp(o->consumer, p->consumer ? p->consumer : ""))
		err_set(e, ST_DATA, "the position belongs to consumer %s, not to consumer %s",
			p->consumer && *p->consumer ? p->consumer : "0/1", o->consumer);
	else if (o->epoch > 1 && o->epoch != p->epoch)
		err_set(e, ST_USAGE, "the position belongs to pass %llu, not to pass %llu",
			(unsigned long long)p->epoch, (unsigned long long)o->epoch);
	else
		return ST_OK;
	err_help(e, "use the options that it was begun with, or remove the position to start over");
	return e->kind;
}

/* A position that counts rounds becomes that of our own places. */
static enum status
reader_position_places(struct reader *r, struct reader_pos *p, struct err *e)
{
	struct round_part part;

	if (!p->rounds)
		return ST_OK;
	if (round_parse(r->o.job.consumer, &part, e))
		return e->kind;
	if (part.of != p->rounds) {
		err_set(e, ST_DATA, "the position is one in rounds of %u places, not of %u", p->rounds, part.of);
		err_help(e, "go on with rounds of the same size, or without a position");
		return ST_DATA;
	}
	p->left *= part.n;
	for (size_t i = 0; i < p->streams.n; i++)
		for (size_t k = 0; k < p->streams.v[i].ranges.n; k++) {
			struct range *x = &p->streams.v[i].ranges.v[k];

			if (__builtin_mul_overflow(x->start, (uint64_t)part.n, &x->start) ||
			    __builtin_mul_overflow(x->end, (uint64_t)part.n, &x->end))
				return err_set(e, ST_DATA, "the position is damaged");
		}
	r->have_rounds = true;
	return ST_OK;
}

enum status
reader_position_parse(struct reader *r, struct err *e)
{
	struct reader_pos p = { 0 };

	if (fields_decode("position", pos_fields, r->o.position, r->o.position_len, &p, e))
		return e->kind = ST_DATA;
	if (p.version != 2) {
		fields_clear(pos_fields, &p);
		return err_set(e, ST_PROTO, "the position is of version %u, this program reads 2", p.version);
	}
	if (r->o.dataset && p.dataset && !reader_is_dataset(r->o.dataset, p.dataset)) {
		err_set(e, ST_DATA, "the position belongs to dataset `%s`, not to `%s`", p.dataset, r->o.dataset);
		fields_clear(pos_fields, &p);
		return e->kind;
	}
	if (reader_position_places(r, &p, e) || (!p.rounds && reader_position_fits(&r->o.job, &p.job, e))) {
		fields_clear(pos_fields, &p);
		return e->kind;
	}
	r->dataset = p.dataset;
	r->job = p.job.name;
	r->have = p.streams;
	r->have_iteration = p.iteration;
	r->have_seat = p.seat;
	r->o.job.sharding = p.job.sharding;
	r->o.job.order = p.job.order;
	r->o.job.shards = p.job.shards;
	r->o.job.shard = r->shard = p.job.shard;
	if (!p.rounds)
		r->o.job.consumer = r->consumer = p.job.consumer;
	r->o.job.epoch = p.job.epoch;
	r->o.job.seeded = r->o.job.seeded || job_is_fixed(&p.job);
	r->o.job.seed = p.job.seed;
	r->turn = r->pos_turn = p.turn;
	r->block_left = r->pos_left = p.left;
	r->split = r->pos_split = p.split;
	return ST_OK;
}
