/* SPDX-License-Identifier: MIT */
#include "host/work/split_threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/trace.h"
#include "core/cut.h"
#include "host/work/split_trace.h"
#include "op/chain.h"
#include "op/facts.h"
#include "op/kit/far_wait.h"
#include "op/pull.h"
#include "value/run_share.h"

enum {
	SPLIT_THREADS_CUTS = 64,
	SPLIT_THREADS_TICK_NS = 20 * 1000 * 1000,
	SPLIT_THREADS_NAP_NS = 200 * 1000 /* how long the reader sleeps until there are several runs */
};

/* A run in a piece's queue, or among the free ones. */
struct split_threads_run {
	struct split_threads_run *next;
	struct run run;
	struct run_part *parts;
	size_t bytes;
};

/* The runs of one split. */
struct split_threads_piece {
	struct split_threads_run *first, **last;
	size_t bytes;
	bool full;          /* the thread waits until half of them are taken */
	bool done;
	enum status status; /* how it ended; ST_OK: well */
	struct err err;
};

struct split_threads_hand {
	struct split_threads *all;
	pthread_t thread;
	struct op_ctx ctx;
	const struct op_ctx *above;
	struct op_inst *chain;
	struct split_threads_piece *piece; /* being made */
	int64_t waited;           /* for room, inside of a pull; when timed */
	struct split_trace traced;
	uint64_t made;            /* elements */
};

struct split_threads {
	struct op_node *part;     /* the last node of what the threads run */
	struct op_node *front;    /* stands for it in the plan */
	struct op_desc desc;      /* descriptor of the front */
	struct op_node *above;    /* the node whose input it is; NULL: it is the plan's top */
	uint32_t jobs, started;
	struct split_threads_hand *hands;
	atomic_bool quit;
	pthread_mutex_t lock;     /* all below */
	pthread_cond_t room, news;
	struct cut cut;
	struct split_threads_piece *ring;
	uint64_t head, next;      /* pieces: given now, handed out next */
	bool naps;                /* the reader need not be woken for one run: that would be most of the work */
	bool dealt;               /* no more splits */
	uint32_t working;         /* threads that may still open a piece */
	struct split_threads_run *spare, *lent;
	struct run_stats stats;       /* statistics of threads that have ended */
};

static struct split_threads_piece *
split_threads_piece(struct split_threads *c, uint64_t n)
{
	return &c->ring[n % (c->jobs * SPLIT_THREADS_AHEAD)];
}

static void
split_threads_run_free(struct split_threads_run *r)
{
	run_clear(&r->run);
	mem_free(r->parts);
	mem_free(r);
}

/* A free run; the lock is held. */
static struct split_threads_run *
split_threads_spare(struct split_threads *c)
{
	struct split_threads_run *r = c->spare;

	if (!r) {
		r = mem_zalloc(sizeof *r);
		run_init(&r->run);
		return r;
	}
	c->spare = r->next;
	return r;
}

/* The hand's piece is complete; the lock is held. */
static void
split_threads_finish(struct split_threads_hand *h, enum status st, const struct err *e)
{
	if (!h->piece)
		return;
	h->piece->done = true;
	h->piece->status = st;
	if (st)
		h->piece->err = *e;
	h->piece = NULL;
	pthread_cond_signal(&h->all->news);
}

/* Waits until what was made is taken; the lock is held. */
static void
split_threads_room(struct split_threads *c)
{
	int64_t began = trace_begin();

	pthread_cond_wait(&c->room, &c->lock);
	trace_span(began, TRACE_HELD, NULL, 0, 0, 0);
}

/* The chain has come to the end of its split: what was made is that split's
 * piece, for a chain of operators without memory holds nothing back. */
static enum status
split_threads_split(void *arg, struct split *out, struct err *e)
{
	struct split_threads_hand *h = arg;
	struct split_threads *c = h->all;
	enum status st = ST_OK;

	(void)e;
	pthread_mutex_lock(&c->lock);
	split_threads_finish(h, ST_OK, NULL);
	int64_t began = h->ctx.timed ? clock_mono_ns() : 0;
	while (!atomic_load(&c->quit) && !c->dealt &&
	       c->next - c->head >= c->jobs * SPLIT_THREADS_AHEAD)
		split_threads_room(c);
	if (began)
		h->waited += clock_mono_ns() - began;
	if (atomic_load(&c->quit))
		st = ST_AGAIN;
	else if (c->dealt || !cut_next(&c->cut, c->jobs * SPLIT_THREADS_CUTS, out))
		st = ST_END;
	if (st == ST_END)
		c->dealt = true;
	if (!st) {
		h->piece = split_threads_piece(c, c->next++);
		*h->piece = (struct split_threads_piece){ .last = &h->piece->first };
	}
	pthread_mutex_unlock(&c->lock);
	split_trace_next(&h->traced, (uint64_t)(h - c->hands), st ? NULL : out, h->made);
	return st;
}

static void
split_threads_failure(void *arg, const struct op_failure *f)
{
	struct split_threads_hand *h = arg;
	const struct op_ctx *ctx = h->above;

	if (ctx->failure)
		ctx->failure(ctx->arg, f);
}

static enum status
split_threads_make(struct split_threads_hand *h, struct split_threads_run **spare, struct err *e)
{
	struct split_threads *c = h->all;
	struct run *r;
	enum status st = op_pull(h->chain, &r, e);

	if (st)
		return st;
	if (!*spare) {
		pthread_mutex_lock(&c->lock);
		*spare = split_threads_spare(c);
		pthread_mutex_unlock(&c->lock);
	}
	h->made += r->n;
	(*spare)->bytes = run_share(&(*spare)->run, &(*spare)->parts, r);
	pthread_mutex_lock(&c->lock);
	struct split_threads_piece *p = h->piece;
	*p->last = *spare;
	p->last = &(*spare)->next;
	(*spare)->next = NULL;
	p->bytes += (*spare)->bytes;
	*spare = NULL;
	if (p == split_threads_piece(c, c->head) && (!c->naps || p->bytes > SPLIT_THREADS_BYTES / 2))
		pthread_cond_signal(&c->news);
	/* Threads that wake each other for each run do little else. */
	p->full = p->bytes > SPLIT_THREADS_BYTES;
	while (p->full && !atomic_load(&c->quit))
		split_threads_room(c);
	pthread_mutex_unlock(&c->lock);
	return ST_OK;
}

/* The threads' first operators are the same one: the root waits for room. */
static void
split_threads_count(struct split_threads_hand *h)
{
	struct run_stats own = { 0 };
	const struct op_inst *root = h->chain;

	while (root && root->n_in)
		root = root->in[0];
	run_stats_add(&own, h->chain, NULL);
	if (root)
		run_stats_less(&own, root->node, h->waited);
	pthread_mutex_lock(&h->all->lock);
	run_stats_join(&h->all->stats, &own);
	pthread_mutex_unlock(&h->all->lock);
	run_stats_clear(&own);
}

static void *
split_threads_work(void *arg)
{
	struct split_threads_hand *h = arg;
	struct split_threads *c = h->all;
	struct split_threads_run *spare = NULL;
	struct err e = { 0 };
	enum status st = op_open(c->part, &h->ctx, &h->chain, &e);

	while (!st)
		st = split_threads_make(h, &spare, &e);
	if (h->ctx.timed && h->chain)
		split_threads_count(h);
	op_close(&h->chain);
	split_trace_next(&h->traced, (uint64_t)(h - c->hands), NULL, h->made);
	pthread_mutex_lock(&c->lock);
	if (spare) {
		spare->next = c->spare;
		c->spare = spare;
	}
	/* A chain that could not be opened has no piece to say so in. */
	if (!h->piece && st >= ST_NO) {
		h->piece = split_threads_piece(c, c->next++);
		*h->piece = (struct split_threads_piece){ .last = &h->piece->first };
		c->dealt = true;
	}
	split_threads_finish(h, st >= ST_NO ? st : ST_OK, &e);
	c->working--;
	pthread_cond_signal(&c->news);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

struct split_threads_source {
	struct split_threads *all;
};

/* Back to where it was before it was opened: a repeat opens it once for each pass. */
static void
split_threads_clear(struct split_threads *c)
{
	for (uint64_t i = c->head; i < c->next; i++)
		for (struct split_threads_run *r = split_threads_piece(c, i)->first, *next; r;
		     r = next) {
			next = r->next;
			split_threads_run_free(r);
		}
	c->head = c->next = 0;
	if (c->lent)
		split_threads_run_free(c->lent);
	c->lent = NULL;
	cut_clear(&c->cut);
	mem_free(c->hands);
	c->hands = NULL;
	c->dealt = false;
	atomic_store(&c->quit, false);
}

static enum status
split_threads_open(struct op_inst *self, struct err *e)
{
	struct split_threads *c = ((struct split_threads_source *)self->state)->all;
	struct split_list units = { 0 };

	split_threads_clear(c);
	struct fetch_wait w = far_wait(self->ctx);
	const struct fetch_wait *before = fetch_wait_thread(&w);
	enum status st = op_list_splits(c->part, &units, e);

	fetch_wait_thread(before);
	if (st) {
		split_list_clear(&units);
		return st;
	}
	cut_uncut(&units); /* order is all that is wanted here */
	cut_open(&c->cut, &units, 1, true);
	c->hands = mem_array(c->jobs, sizeof *c->hands);
	c->working = c->jobs;
	for (uint32_t i = 0; i < c->jobs && !st; i++) {
		struct split_threads_hand *h = &c->hands[i];
		h->all = c;
		h->ctx = *self->ctx;
		h->ctx.stop = &c->quit;
		h->ctx.threads = 0;
		h->ctx.epoch = self->epoch;
		h->ctx.next_split = split_threads_split;
		h->ctx.split_exact = true; /* a split's elements go to its piece */
		h->ctx.failure = split_threads_failure;
		h->above = self->ctx;
		h->ctx.arg = h;
		st = thread_start(&h->thread, split_threads_work, h, "-j", e);
		c->started += st == ST_OK;
	}
	return st;
}

/* Waits for news, or a moment for several runs; false when the program is to stop. */
static bool
split_threads_wait(struct op_inst *self, struct split_threads *c, bool nap)
{
	int64_t began = trace_begin();

	c->naps = nap;
	thread_cond_wait(&c->news, &c->lock, clock_mono_ns() + (nap ? SPLIT_THREADS_NAP_NS : SPLIT_THREADS_TICK_NS));
	c->naps = false;
	trace_span(began, TRACE_NOTHING, NULL, 0, 0, 0);
	return !self->ctx->stop || !atomic_load_explicit(self->ctx->stop, memory_order_relaxed);
}

/* Takes the next run of the piece at the head, if there is one. */
static struct split_threads_run *
split_threads_take(struct split_threads *c)
{
	struct split_threads_piece *p = split_threads_piece(c, c->head);
	struct split_threads_run *r = c->head < c->next ? p->first : NULL;

	if (!r)
		return NULL;
	p->first = r->next;
	if (!p->first)
		p->last = &p->first;
	p->bytes -= r->bytes;
	if (p->full && p->bytes <= SPLIT_THREADS_BYTES / 2) {
		p->full = false;
		pthread_cond_broadcast(&c->room);
	}
	return r;
}

static enum status
split_threads_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct split_threads *c = ((struct split_threads_source *)self->state)->all;
	enum status st = ST_OK;
	bool nap = true;

	(void)out;
	if (c->lent)
		run_reset(&c->lent->run);
	pthread_mutex_lock(&c->lock);
	if (c->lent) {
		c->lent->next = c->spare;
		c->spare = c->lent;
		c->lent = NULL;
	}
	while (!st && !(c->lent = split_threads_take(c))) {
		struct split_threads_piece *p = split_threads_piece(c, c->head);
		if (c->head == c->next && (c->dealt || !c->working)) {
			st = ST_END;
		} else if (c->head < c->next && p->done) {
			st = p->status;
			if (st) {
				*e = p->err;
				break;
			}
			c->head++;
			pthread_cond_broadcast(&c->room);
		} else {
			st = split_threads_wait(self, c, nap) ? ST_OK : ST_AGAIN;
			nap = false;
		}
	}
	pthread_mutex_unlock(&c->lock);
	if (c->lent)
		self->give = &c->lent->run;
	return st;
}

static void
split_threads_close(struct op_inst *self)
{
	struct split_threads *c = ((struct split_threads_source *)self->state)->all;

	pthread_mutex_lock(&c->lock);
	atomic_store(&c->quit, true);
	pthread_cond_broadcast(&c->room);
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < c->started; i++)
		pthread_join(c->hands[i].thread, NULL);
	c->started = 0;
}

static const struct op_desc split_threads_desc = {
	.name = "threads",
	.kind = OP_SOURCE,
	.state_size = sizeof(struct split_threads_source),
	.open = split_threads_open,
	.next = split_threads_next,
	.close = split_threads_close,
};

/* Whether a part of the elements gives what it gives among all of them. */
static bool
split_threads_may(const struct op_node *n)
{
	return op_scope_of(n) == OP_ELEMENT && !n->desc->times && n->desc->feed &&
		!(n->desc->flags & (OP_REORDERS | OP_RANDOM | OP_LOCAL | OP_REMOTE)) &&
		!(op_traits(n) & (EXPR_COUNTS | EXPR_VARIES));
}

/* The last node of the part, and in *above the one behind it. */
static struct op_node *
split_threads_part(struct op_node *top, struct op_node **above)
{
	struct op_node *part = NULL, *behind = NULL;
	bool root = false;

	*above = NULL;
	for (struct op_node *n = top; n; n = !root && n->n_in ? n->in[0] : NULL) {
		root = n->desc->kind != OP_TRANSFORM || n->permutes;
		if (!root && !split_threads_may(n)) {
			part = NULL;
		} else if (!part) {
			part = n;
			*above = behind;
		}
		if (root && !op_can_split(n))
			return NULL;
		behind = n;
	}
	return part;
}

/* All texts of the part, in the order in which operators that know their cached
 * input again take them: it is the same with and without threads. */
static void
split_threads_text(const struct op_node *n, struct buf *out)
{
	for (; n; n = n->n_in ? n->in[0] : NULL) {
		buf_str(out, op_text(n));
		for (size_t k = 1; k < n->n_in; k++)
			split_threads_text(n->in[k], out);
	}
}

const struct op_node *
split_threads_front(const struct split_threads *c)
{
	return c ? c->front : NULL;
}

void
split_threads_stats(const struct split_threads *c, struct run_stats *to)
{
	if (c)
		run_stats_join(to, &c->stats);
}

struct split_threads *
split_threads_join(struct plan *p, int64_t jobs)
{
	struct op_node *above, *part = split_threads_part(p->top, &above);

	if (!part || jobs < 2)
		return NULL;
	struct split_threads *c = mem_zalloc(sizeof *c);
	c->part = part;
	c->above = above;
	c->jobs = (uint32_t)jobs;
	c->ring = mem_array(c->jobs * SPLIT_THREADS_AHEAD, sizeof *c->ring);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->room, NULL);
	thread_cond_init(&c->news);
	c->front = mem_zalloc(sizeof *c->front);
	c->desc = split_threads_desc;
	c->desc.flags |= facts_reshuffles(part) ? OP_RESHUFFLES : 0;
	c->front->desc = &c->desc;
	c->front->type = part->type;
	c->front->place = part->place;
	struct buf text = { 0 };
	split_threads_text(part, &text);
	c->front->text = buf_take(&text);
	c->front->params =
		mem_dup(&(struct split_threads_source){ c }, sizeof(struct split_threads_source));
	if (above)
		above->in[0] = c->front;
	else
		p->top = c->front;
	return c;
}

void
split_threads_leave(struct split_threads **cp, struct plan *p)
{
	struct split_threads *c = *cp;

	*cp = NULL;
	if (!c)
		return;
	if (c->above)
		c->above->in[0] = c->part;
	else
		p->top = c->part;
	op_node_free(&c->front);
	split_threads_clear(c);
	for (struct split_threads_run *r = c->spare, *next; r; r = next) {
		next = r->next;
		split_threads_run_free(r);
	}
	run_stats_clear(&c->stats);
	mem_free(c->ring);
	pthread_cond_destroy(&c->room);
	pthread_cond_destroy(&c->news);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}
