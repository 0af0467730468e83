/* SPDX-License-Identifier: MIT
 *
 * The reader's program in the simulation: its output and its checkpoint file.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "world.h"

struct delivery {
	struct sim_chunk *chunk;
	uint32_t first, count, done;
	uint32_t stream;
	uint64_t offset;
	struct delivery *next;
};
struct sim_reader {
	struct reader *r;
	struct consumer *c;
	struct delivery *first, **last;
	char *group;
	char *shard, *consumer;  /* its list of shards; its place in the rounds */
	uint64_t untold;         /* written, the machine does not know yet */
	size_t told;             /* elements of c->out the machine knows of */
	bool writing, saving, closed, over;
	uint64_t put;            /* written by this reader */
	uint64_t told_here;      /* and told to its machine */
	bool stopping;           /* it writes no more before it knows where all are to end */
	bool fenced;
	struct buf position;
	size_t position_told;
};

static void sim_read_act(struct node *n);

static void
consumer_put(struct consumer *c, const struct got *g)
{
	if (c->n == c->cap)
		c->out = mem_grow(c->out, &c->cap, c->n + 1, sizeof *c->out);
	c->out[c->n++] = *g;
}

static void sim_read_save(struct node *n);
static void sim_read_end(struct node *n);

/* The end of a pass lies behind the last position. */
static void
sim_read_all(struct node *n)
{
	struct sim_reader *s = n->r;
	struct reader_stats st;

	reader_stats(s->r, &st);
	if (!n->w->lag || !st.at_end || s->untold || s->first)
		return;
	s->c->all = s->c->n;
	reader_release(s->r, n->w->now);
}

static void
sim_read_saved(struct world *w, void *arg, uint64_t life)
{
	struct node *n = arg;
	struct sim_reader *s = n->r;

	if (!n->alive || n->life != life)
		return;
	if (s->position.len) { /* else the older one is the last that there is */
		buf_clear(&s->c->position);
		s->c->position = s->position;
		s->position = (struct buf){ 0 };
		s->c->has_position = s->c->has_own = true;
		s->c->saved = s->position_told;
	}
	world_say(w, "%s has saved %zu", n->name, s->c->saved);
	s->saving = false;
	reader_saved(s->r, w->now);
	sim_read_all(n);
	if (s->told > s->position_told)
		sim_read_save(n);
	sim_read_end(n);
	sim_read_act(n);
}

static void
sim_read_save(struct node *n)
{
	struct sim_reader *s = n->r;

	if (s->saving)
		return;
	s->saving = true;
	buf_reset(&s->position);
	s->position_told = s->told;
	if (n->w->lag)
		s->position_told -= s->told_here - reader_position_at(s->r, s->told_here, &s->position);
	else
		reader_position(s->r, &s->position);
	world_at(n->w, n->w->now + some_time(n->w, 20 * MS), sim_read_saved, n, n->life);
}

/* Rounds: whether it may begin another one. */
static bool
sim_read_may(struct world *w, struct sim_reader *s)
{
	uint64_t rounds = reader_rounds(s->r, s->put);

	if (s->fenced && rounds > w->fence)
		world_fail(w, "place %u has begun %llu rounds, and all are to end after %llu", s->c->place,
			   (unsigned long long)rounds, (unsigned long long)w->fence);
	if (s->fenced)
		return !w->own_end || rounds < w->fence;
	if (!s->stopping && w->stops_early && one_in(w, w->stops_early * 20)) {
		world_say(w, "place %u asks for an end after %llu rounds", s->c->place, (unsigned long long)rounds);
		s->stopping = true;
		reader_stop_at(s->r, w->now, rounds, w->fence_of);
	}
	return !s->stopping || !w->own_end;
}

/* With all rounds that were agreed on it leaves. */
static void
sim_read_end(struct node *n)
{
	struct sim_reader *s = n->r;

	if (!n->w->own_end || !s->fenced || s->closed || s->untold || reader_rounds(s->r, s->put) < n->w->fence ||
	    (n->w->checkpoint && s->c->saved < s->c->n))
		return;
	s->closed = true;
	reader_close(s->r, n->w->now, n->w->checkpoint);
}

/* Written up to now: told in steps, so that rounds are marked. */
static void
sim_read_tell(struct sim_reader *s, struct world *w)
{
	struct reader_stats st;

	reader_stats(s->r, &st);
	while (s->untold) {
		uint64_t left = reader_mark_in(&st, w->every, s->told_here);
		uint64_t k = left < s->untold ? left : s->untold;

		s->untold -= k;
		s->told += k;
		s->told_here += k;
		reader_written(s->r, w->now, k);
		if (k == left)
			reader_mark(s->r, s->told, s->told);
	}
}

static void
sim_read_write(struct world *w, void *arg, uint64_t life)
{
	struct node *n = arg;
	struct sim_reader *s = n->r;
	uint64_t quota = 1 + chance(w, 20);

	if (!n->alive || n->life != life || s->closed)
		return;
	if (w->now < n->paused_until) {
		world_at(w, n->paused_until, sim_read_write, n, life);
		return;
	}
	if (world_stands(w, s->c)) {
		world_at(w, w->now + 20 * MS, sim_read_write, n, life);
		return;
	}
	for (struct delivery *d = s->first; d && quota && sim_read_may(w, s); quota--, s->put++) {
		struct got g = { d->stream, d->offset + d->done, d->chunk->e[d->first + d->done] };

		consumer_put(s->c, &g);
		w->delivered = w->now;
		s->untold++;
		if (++d->done == d->count) {
			s->first = d->next;
			if (!s->first)
				s->last = &s->first;
			chunk_unref(d->chunk);
			mem_free(d);
			d = s->first;
		}
	}
	if (!s->first || !one_in(w, 4)) {
		if (s->untold)
			sim_read_tell(s, w);
		else
			reader_written(s->r, w->now, 0);
		if (w->checkpoint && (one_in(w, 5) || !s->first))
			sim_read_save(n);
	}
	if (w->stop_after && s->c->index == 0 && s->told >= w->stop_after && !s->untold) {
		s->closed = true;
		reader_close(s->r, w->now, false);
	}
	sim_read_end(n);
	s->writing = s->untold || (s->first && (!s->stopping || s->fenced || !w->own_end) && !s->closed);
	if (s->writing)
		world_at(w, w->now + 1 + (int64_t)((double)some_time(w, 3 * MS) * w->slow), sim_read_write, n, life);
	sim_read_act(n);
}

static void
sim_read_deliver(struct node *n, struct reader_action *a)
{
	struct sim_reader *s = n->r;
	struct delivery *d = mem_zalloc(sizeof *d);

	*d = (struct delivery){ .chunk = a->handle, .first = a->first, .count = a->count,
		.stream = a->stream, .offset = a->offset };
	d->chunk->refs++;
	if (d->first + d->count > d->chunk->n ||
	    (d->chunk->offset != SIM_REST && d->chunk->offset + d->first != d->offset))
		world_fail(n->w, "a delivery that is not what the chunk holds");
	*s->last = d;
	s->last = &d->next;
	if (!s->writing) {
		s->writing = true;
		world_at(n->w, n->w->now + some_time(n->w, MS), sim_read_write, n, n->life);
	}
}

static void
sim_read_fence(struct node *n, uint64_t rounds)
{
	struct sim_reader *s = n->r;
	struct world *w = n->w;

	world_say(w, "place %u is to end after %llu rounds", s->c->place, (unsigned long long)rounds);
	if ((w->fenced && w->fence != rounds) || (w->fence_of && rounds % w->fence_of))
		world_fail(w, "an end after %llu rounds, and one after %llu", (unsigned long long)w->fence,
			   (unsigned long long)rounds);
	w->fenced = s->fenced = true;
	w->fence = rounds;
	if (!s->writing) {
		s->writing = true;
		world_at(w, w->now + some_time(w, MS), sim_read_write, n, n->life);
	}
}

static void
sim_read_one(struct node *n, struct reader_action *a)
{
	struct world *w = n->w;
	struct node *to = a->worker ? node_by_peer(w, a->worker) : NULL;
	struct conn *c = to ? conn_find(w, n, to) : NULL;
	struct reader_stats st;

	switch (a->kind) {
	case READER_TELL: conn_send(n->ctl, 0, &a->msg, NULL); break;
	case READER_SEND:
		if (!c)
			world_fail(w, "%s sends to a worker it has no connection to", n->name);
		else
			conn_send(c, 0, &a->msg, NULL);
		break;
	case READER_CONNECT:
		if (c)
			world_fail(w, "%s connects twice", n->name);
		else if (to && !world_fits(to, n))
			world_fail(w, "%s on %s takes from %s on %s", n->name, n->host, to->name, to->host);
		else if (to && !strcmp(to->name, a->endpoint))
			conn_new(n, to);
		else
			world_fail(w, "%s connects to %s, which is not the worker", n->name, a->endpoint);
		break;
	case READER_UNREACHED:
		world_say(w, "%s cannot reach %s", n->name, a->endpoint);
		reader_unreached(n->r->r, w->now, a->worker, "no way");
		break;
	case READER_DISCONNECT:
		if (c)
			conn_close(c);
		else
			world_fail(w, "%s disconnects what is not connected", n->name);
		break;
	case READER_DELIVER: sim_read_deliver(n, a); break;
	case READER_FREE: chunk_unref(a->handle); break;
	case READER_JOB:
		n->r->c->iteration = a->msg.job.iteration;
		if (a->msg.job.opts.shards) /* a pass that is over has none */
			w->found = (uint32_t)a->msg.job.opts.shards;
		reader_stats(n->r->r, &st);
		if (w->every)
			number_begins(w, n->r->c, &a->msg.job, &st);
		if (w->checkpoint && !w->lag && (!n->r->c->has_position || st.given))
			sim_read_save(n);
		break;
	case READER_HALT:
		if (!n->r->stopping)
			reader_stop_at(n->r->r, w->now, reader_rounds(n->r->r, n->r->put), w->fence_of);
		n->r->stopping = true;
		break;
	case READER_FENCE: sim_read_fence(n, a->offset); break;
	case READER_DONE:
		world_say(w, "%s is done: %u %s", n->name, a->code, a->code ? a->err->text : "");
		if (a->code == ST_USAGE) /* it would come again for ever */
			world_fail(w, "%s asks for what is refused: %s", n->name, a->err->text);
		/* In a job of its own nobody else can have its elements. */
		if (a->code == ST_TEMP && w->anonymous)
			world_lost_contact(n, a->err->text);
		if (a->code == ST_UNAVAIL && strstr(a->err->text, "can be reached"))
			world_unreached(n);
		n->r->over = true;
		if ((a->code == ST_DATA || (!a->code && !n->r->c->n)) && n->r->c->all) { /* it had all when it was killed */
			n->r->c->n = n->r->c->all;
			a->code = ST_OK;
		}
		n->r->c->code = a->code;
		n->r->c->missed = a->msg.done.missed;
		book_check_faults(w, a);
		break;
	default: break;
	}
	msg_clear(&a->msg);
}

static void
sim_read_over(struct node *n)
{
	struct consumer *c = n->r->c;

	if (!c->code) {
		if (n->r->first && !n->w->stop_after && !n->r->fenced)
			world_fail(n->w, "%s is done, and not all is written", n->name);
		c->finished = true;
		c->rounds = reader_rounds(n->r->r, n->r->put);
		if (c->epoch < n->w->epochs && !n->w->stop_after) { /* the next pass, as one that was refused */
			c->finished = c->has_position = false;
			c->epoch++;
			c->n = c->saved = 0;
			c->code = ST_TEMP;
		}
	}
	n->alive = false;
	n->life++;
	node_break_all(n);
	sim_read_stop(n);
}

static void
sim_read_act(struct node *n)
{
	struct reader_action a;
	struct reader_stats st;

	while (reader_action(n->r->r, &a))
		sim_read_one(n, &a);
	reader_stats(n->r->r, &st);
	if (st.held_bytes > n->w->held_max)
		n->w->held_max = st.held_bytes;
	/* A stream's window is at least one chunk, and grows by what is known
	 * of their size. */
	if (!n->w->twice && st.held_bytes > n->w->budget + (st.streams + 1) * 40 * ELEM_BYTES * (n->w->window + 1))
		world_fail(n->w, "%s holds %zu bytes of %zu", n->name, st.held_bytes, n->w->budget);
	if (n->r->over)
		sim_read_over(n);
	else
		node_tick_later(n, reader_next_deadline(n->r->r));
}

void
sim_read_start(struct node *n, struct consumer *c)
{
	struct world *w = n->w;
	struct reader_opts o = { .peer = n->peer, .name = n->name, .host = n->host, .job.target = (int)w->target,
		.job.where = (char *)(uintptr_t)w->where, .job.name = (char *)(uintptr_t)(w->anonymous ? "" : "job"),
		.spec = w->set.spec, .type = "any", .job.sharding = w->sharding, .job.order = w->order,
		.job.shards = w->shards, .job.epoch = c->epoch, .job.seeded = true, .job.seed = 5, .job.min_workers = 1,
		.job.wait_ms = SIM_GC_NS / MS,
		.job.window = w->window, .budget = w->budget, .job.checkpoint = w->checkpoint && !w->lag,
		.lag = w->lag, .in_rounds = w->lag,
		.job.tail = w->tail, .job.tail_of = w->tail_of, .job.checkpoint_rounds = w->every,
		.given = c->given, .n_given = c->saved || c->has_own ? 0 : c->n_given, .stops = w->own_end };
	struct buf shard = { 0 };
	struct err e;

	for (uint32_t i = 0; w->only && i < w->shards; i++)
		if (world_takes(w, c, i))
			buf_printf(&shard, "%s%u", shard.len ? "," : "", i);
	o.job.shard = buf_take(&shard);
	if (w->round > 1)
		o.job.consumer = mem_printf("%u/%u", c->place, w->round);
	if (w->whole)
		o.job.share = SHARE_LOSSLESS;
	if (w->groups > 1) {
		o.job.share = w->share;
		o.job.share_window = (int64_t)w->share_window;
		o.job.group = mem_printf("g%u", c->place);
	}
	if (c->has_position) {
		o.position = c->position.data;
		o.position_len = c->position.len;
	}
	c->node = n;
	c->lives++;
	world_say(w, "%s is consumer %u of place %u: had %zu, %zu saved", n->name, c->index, c->place, c->n, c->saved);
	c->n = c->saved; /* the file is cut back to what the position says */
	if (!c->n)
		c->iteration = 0;
	n->alive = true;
	n->r = mem_zalloc(sizeof *n->r);
	n->r->c = c;
	n->r->told = c->n;
	n->r->last = &n->r->first;
	n->r->shard = o.job.shard;
	n->r->consumer = o.job.consumer;
	n->r->group = o.job.group;
	n->ctl = conn_new(n, w->disp);
	if (reader_new(&o, w->now, &n->r->r, &e)) {
		world_fail(w, "a position is refused: %s", e.text);
		return;
	}
	sim_read_act(n);
}

/* It has all that was agreed on: killed or not, nobody is to come in its place. */
static void
sim_read_had_all(const struct node *n)
{
	const struct sim_reader *s = n->r;

	if (!s->fenced || s->untold || reader_rounds(s->r, s->put) < n->w->fence ||
	    (n->w->checkpoint && s->c->saved < s->c->n))
		return;
	s->c->finished = true;
	s->c->rounds = n->w->fence;
}

void
sim_read_stop(struct node *n)
{
	struct sim_reader *s = n->r;
	struct reader_action a;
	struct delivery *d;

	while ((d = s->first)) {
		s->first = d->next;
		chunk_unref(d->chunk);
		mem_free(d);
	}
	sim_read_had_all(n);
	reader_stop(s->r);
	while (reader_action(s->r, &a)) {
		if (a.kind == READER_FREE)
			chunk_unref(a.handle);
		msg_clear(&a.msg);
	}
	reader_free(&s->r);
	buf_clear(&s->position);
	mem_free(s->shard);
	mem_free(s->consumer);
	mem_free(s->group);
	s->c->node = NULL;
	mem_free(s);
	n->r = NULL;
}

void
sim_read_ctl(struct node *n, struct msg *m)
{
	if (!n->alive)
		return;
	reader_message(n->r->r, n->w->now, m);
	sim_read_act(n);
}

void
sim_read_data(struct node *n, struct node *from, struct msg *m, struct sim_chunk *chunk)
{
	if (!n->alive)
		return;
	if (m->type == MSG_CHUNK) {
		chunk->refs++;
		reader_chunk(n->r->r, n->w->now, from->peer, &m->chunk, chunk, (size_t)m->chunk.count * ELEM_BYTES);
	} else {
		reader_data(n->r->r, n->w->now, from->peer, m);
	}
	sim_read_act(n);
}

void
sim_read_gone(struct node *n, struct node *from)
{
	if (!n->alive)
		return;
	if (from)
		reader_worker_gone(n->r->r, n->w->now, from->peer);
	else
		reader_dispatcher_gone(n->r->r, n->w->now);
	sim_read_act(n);
}

void
sim_read_up(struct node *n, struct node *worker)
{
	if (!n->alive)
		return;
	reader_worker_up(n->r->r, n->w->now, worker->peer);
	sim_read_act(n);
}

void
sim_read_tick(struct node *n)
{
	reader_tick(n->r->r, n->w->now);
	sim_read_act(n);
}
