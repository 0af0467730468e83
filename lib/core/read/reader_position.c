/* SPDX-License-Identifier: MIT
 *
 * Positions: what a later run of the consumer needs to go on.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/read/reader_inner.h"
#include "value/round.h"
#include "wire/table.h"

struct reader_pos {
	uint32_t version;
	struct job_opts job; /* options of the pass: with a seed, and with an order its number of streams */
	bool job_seed;       /* the seed is the job's, from which those of its passes follow; else that of the pass */
	char *dataset;
	uint64_t iteration, seat, turn, left, split;
	struct ranges_list streams;
	uint32_t rounds;     /* places of a round, when all that is counted are rounds; else 0 */
	struct marks marks;  /* rounds that another number of consumers can go on from, */
	uint64_t begin;      /* and the one that this pass began with */
	struct numbers base;
};
static const struct field pos_number[] = { U64(msg_number, n, NULL), { 0 } };
static const struct field pos_mark[] = {
	U64(msg_mark, rounds, NULL), LIST(msg_mark, base, WIRE_STREAMS_MAX, pos_number, struct msg_number, NULL),
	U64(msg_mark, bytes, NULL), U64(msg_mark, elements, NULL), { 0 }
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
	U32(reader_pos, rounds, ROUND_PLACES_MAX, NULL),
	LIST(reader_pos, marks, WIRE_MARKS_MAX, pos_mark, struct msg_mark, NULL), U64(reader_pos, begin, NULL),
	LIST(reader_pos, base, WIRE_STREAMS_MAX, pos_number, struct msg_number, NULL),
	BOOL(reader_pos, job_seed, NULL), { 0 }
};

/* Elements that are written: all that was received, without what is still to
 * be written. By stream; zeros where there is none. Gives. */
struct intervals *
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

/* Places of a round as positions count them: consumers that share a job all have the only one. */
static uint32_t
reader_position_round(const struct reader *r, const struct round_part *part)
{
	return r->o.job.share ? 1 : part->of;
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
	p->rounds = reader_position_round(r, &part);
	p->left /= part.n;
	p->iteration = p->seat = 0;
	p->job.name = p->job.consumer = NULL;
	p->job.seed = r->o.job.seed;
	p->job_seed = !r->pass_seed;
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

bool
reader_position_put(const struct reader *r, const struct reader_turn *at, struct intervals *had, struct buf *out)
{
	struct reader_pos p = { .version = 2, .job = r->o.job, .dataset = r->dataset, .iteration = r->iteration,
		.seat = r->seat, .turn = at->turn, .left = at->left, .split = at->split };

	p.job.name = r->job;
	p.job_seed = r->o.job.seeded && !r->pass_seed;
	p.job.seed = p.job_seed ? r->o.job.seed : r->seed;
	p.job.epoch = r->epoch;
	if (job_is_fixed(&p.job) && (job_has_shards(p.job.sharding) || !p.job.shards))
		p.job.shards = r->shards; /* else what was asked for, though it could not be cut into so many */
	if (reader_marks(r)) {
		p.job.seed = r->o.job.seed; /* with it consumers begin the job again */
		p.job_seed = !r->pass_seed;
		p.marks = r->marks;
		p.begin = r->begin;
		p.base = r->base;
	}
	if (r->o.in_rounds && !reader_position_in_rounds(r, &p, had))
		return false;
	p.streams.v = mem_array(r->n_streams, sizeof *p.streams.v);
	for (size_t i = 0; i < r->n_streams; i++)
		if (r->streams[i] && had[i].n)
			p.streams.v[p.streams.n++] = (struct msg_stream_ranges){ r->streams[i]->index, intervals_lend(&had[i]) };
	fields_encode(pos_fields, &p, out);
	mem_free(p.streams.v);
	return true;
}

void
reader_position(struct reader *r, struct buf *out)
{
	struct reader_turn at = { r->pos_turn, r->pos_left, r->pos_split };
	struct intervals *had = reader_position_sets(r);

	reader_position_taken(r);
	reader_position_put(r, &at, had, out);
	for (size_t i = 0; i < r->n_streams; i++)
		intervals_clear(&had[i]);
	mem_free(had);
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

/* Checks that options that are not defaults agree with those of the position; given: it is another consumer's. */
static enum status
reader_position_fits(const struct job_opts *o, const struct job_opts *p, bool given, struct err *e)
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
		err_set(e, ST_USAGE, "the position belongs to a job with %llu shard%s, not with %llu",
			(unsigned long long)p->shards, str_s(p->shards), (unsigned long long)o->shards);
	else if (o->shard && *o->shard && strcmp(o->shard, p->shard ? p->shard : ""))
		err_set(e, ST_USAGE, "the position is one in %s%s, not in shard %s", p->shard && *p->shard ? "shard " : "all shards",
			p->shard ? p->shard : "", o->shard);
	else if (!given && o->consumer && *o->consumer && strcmp(o->consumer, p->consumer ? p->consumer : ""))
		err_set(e, ST_DATA, "the position belongs to consumer %s, not to consumer %s",
			p->consumer && *p->consumer ? p->consumer : "0/1", o->consumer);
	else if (o->epoch > 1 && o->epoch != p->epoch)
		err_set(e, ST_USAGE, "the position belongs to pass %llu, not to pass %llu",
			(unsigned long long)p->epoch, (unsigned long long)o->epoch);
	else
		return ST_OK;
	err_help(e, e->kind == ST_DATA ?
		 "use the same --consumer; with --checkpoint-rounds, from the start on, another number of them can go on" :
		 "use the options that it was begun with, or remove the position to start over");
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
	if (reader_position_round(r, &part) != p->rounds) {
		err_set(e, ST_DATA, "the position is one in rounds of %u places, not of %u", p->rounds,
			reader_position_round(r, &part));
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

/* A position from a file; false: e says why not. */
static enum status
reader_position_decode(const struct reader *r, const uint8_t *position, size_t n, struct reader_pos *p, struct err *e)
{
	if (fields_decode("position", pos_fields, position, n, p, e))
		return e->kind = ST_DATA;
	if (p->version != 2)
		err_set(e, ST_PROTO, "the position is of version %u, this program reads 2", p->version);
	else if (r->o.dataset && p->dataset && !reader_is_dataset(r->o.dataset, p->dataset))
		err_set(e, ST_DATA, "the position belongs to dataset `%s`, not to `%s`", p->dataset, r->o.dataset);
	else
		return ST_OK;
	fields_clear(pos_fields, p);
	return e->kind;
}

/* Whether it is of another number of consumers, and has rounds from which we can go on. */
static bool
reader_position_is_given(const struct reader *r, const struct reader_pos *p)
{
	struct round_part own, its;
	struct err e;

	return r->o.job.checkpoint_rounds && p->marks.n && !round_parse(r->o.job.consumer, &own, &e) &&
		!round_parse(p->job.consumer, &its, &e) && own.of != its.of;
}

/* The position says how the job is asked for. Takes the dataset. */
static void
reader_position_ask(struct reader *r, struct reader_pos *p)
{
	r->dataset = str_take(&p->dataset);
	r->o.job.sharding = p->job.sharding;
	r->o.job.order = p->job.order;
	r->o.job.epoch = p->job.epoch;
	r->o.job.seeded = r->o.job.seeded || job_is_fixed(&p->job);
	r->o.job.seed = p->job.seed;
	r->pass_seed = !p->job_seed;
}

static enum status
reader_position_own(struct reader *r, struct err *e)
{
	struct reader_pos p = { 0 };
	enum status st = reader_position_decode(r, r->o.position, r->o.position_len, &p, e);

	if (st != ST_OK)
		return st;
	r->given = reader_position_is_given(r, &p);
	if (reader_position_places(r, &p, e) || (!p.rounds && reader_position_fits(&r->o.job, &p.job, r->given, e))) {
		fields_clear(pos_fields, &p);
		return e->kind;
	}
	reader_position_ask(r, &p);
	r->marks = p.marks;
	p.marks = (struct marks){ 0 };
	if (r->given) {
		words_add(&r->took, p.job.consumer, strlen(p.job.consumer));
		r->o.position = NULL;
		fields_clear(pos_fields, &p);
		return ST_OK;
	}
	r->job = p.job.name;
	r->have = p.streams;
	r->have_iteration = p.iteration;
	r->have_seat = p.seat;
	r->have_begin = p.begin;
	r->have_base = p.base;
	if (p.job.shards && !r->o.job.checkpoint_rounds) /* else the base says it, and all ask alike */
		r->o.job.shards = p.job.shards;
	r->o.job.shard = r->shard = p.job.shard;
	if (!p.rounds)
		r->o.job.consumer = r->consumer = p.job.consumer;
	r->turn = r->pos_turn = p.turn;
	r->block_left = r->pos_left = p.left;
	r->split = r->pos_split = p.split;
	return ST_OK;
}

/* The position of a consumer that is not there any more. */
static enum status
reader_position_given(struct reader *r, const struct bytes *position, struct err *e)
{
	struct reader_pos p = { 0 };
	enum status st = reader_position_decode(r, position->p, position->n, &p, e);

	if (st != ST_OK)
		return st;
	if (!r->o.job.checkpoint_rounds || r->o.position) {
		err_set(e, ST_USAGE, "%s, so that positions of others are of no use", r->o.position ?
			"this consumer goes on from a position of its own" : "this reader does not go on from a common round");
		err_help(e, "with --consumer and --checkpoint-rounds, another number of consumers goes on from theirs");
	} else if (!p.marks.n) {
		err_set(e, ST_DATA, "the position has no round from which another number of consumers can go on");
		err_help(e, "it has with --checkpoint-rounds");
	} else if (!reader_position_fits(&r->o.job, &p.job, true, e)) {
		st = r->given ? reader_marks_meet(&r->marks, &p.marks, e) : ST_OK;
		if (!r->given) {
			reader_position_ask(r, &p);
			r->marks = p.marks;
			p.marks = (struct marks){ 0 };
			for (size_t i = 0; i < r->marks.n; i++) /* our output is another one */
				r->marks.v[i].bytes = r->marks.v[i].elements = 0;
		}
		r->given = true;
		words_add(&r->took, str_or_empty(p.job.consumer), strlen(str_or_empty(p.job.consumer)));
		fields_clear(pos_fields, &p);
		return st;
	}
	fields_clear(pos_fields, &p);
	return e->kind;
}

enum status
reader_position_parse(struct reader *r, struct err *e)
{
	enum status st = r->o.position ? reader_position_own(r, e) : ST_OK;

	for (size_t i = 0; i < r->o.n_given && st == ST_OK; i++)
		st = reader_position_given(r, &r->o.given[i], e);
	r->o.given = NULL;
	r->o.n_given = 0;
	return st;
}
