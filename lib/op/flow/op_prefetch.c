/* SPDX-License-Identifier: MIT
 * prefetch: runs the operators before it on a thread of its own, ahead of demand.
 *
 *	thread: op_pull -> share -> [run][run][run]   a ring of runs
 *	caller:                     ^ lent until the next call
 *
 * A run is handed over as soon as it is made, however short. Elements are not
 * copied: the runs in the ring hold references to the blocks they lie in. The
 * thread begins at the first pull. It has a `stop` of its own, so that closing
 * does not wait for an endless input.
 *
 * Where splits must not be mixed (split_exact) there is no thread: reading ahead
 * would take from the next split before all of this one has been given.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/trace.h"
#include "op/op.h"
#include "op/pull.h"
#include "base/pool.h"
#include "value/run_share.h"
#include "op/state.h"

enum {
	PREFETCH_RUNS = 64,
	PREFETCH_AUTO = 16 * RUN_USUAL,
	PREFETCH_BYTES = 16 * 1024 * 1024,
	PREFETCH_SPINS = 256, /* most turns that a caller waits without sleeping */
	/* after a sleep shorter than this it waits without sleeping */
	PREFETCH_SHORT_NS = 100 * 1000,
	/* how long it sleeps until there are several runs, so that not each wakes it */
	PREFETCH_NAP_NS = 200 * 1000,
	PREFETCH_TICK_NS = 20 * 1000 * 1000 /* how often a waiting caller checks for a stop */
};

struct prefetch {
	int64_t n;
	struct op_ctx ctx;     /* context of the inputs: the chain's, with a stop of its own */
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;  /* guards everything below */
	pthread_cond_t wake;   /* wakes the thread: there is room, or the pause is over */
	pthread_cond_t news;   /* wakes the caller: a run, a status, or the thread is at rest */
	bool straight;         /* no thread: runs are passed on directly */
	bool started, pause, busy;
	bool full;             /* the thread waits until the ring is half empty */
	bool waiting;          /* the caller is asleep */
	bool naps;             /* and need not be woken for one run */
	atomic_uint made;      /* counts what the thread has produced; read without the lock */
	unsigned spins;        /* turns worth waiting without sleep, by past experience */
	unsigned missed;       /* how often in a row that was in vain */
	struct run *ring;
	struct run_part **parts; /* tables of parts, for the ring's runs */
	size_t *held;          /* bytes held by each run of the ring */
	uint32_t head, count;  /* the ring's first run, and how many wait */
	bool lent;             /* the caller has the run before head */
	uint64_t elements;
	size_t bytes;
	enum status status;    /* status of the input; ST_OK: there is more */
	struct err err;
};

static const struct param prefetch_params[] = {
	{ "n", PARAM_INT, offsetof(struct prefetch, n), "auto", .flags = PARAM_ALLOW_AUTO,
	  .min = 1, .max = (int64_t)1 << 40,
	  .help = "how many elements to produce in advance" },
	{ 0 }
};

static int64_t
prefetch_cardinality(const struct op_node *n, const int64_t *in)
{
	(void)n;
	return in[0];
}

static enum status
prefetch_open(struct op_inst *self, struct err *e)
{
	struct prefetch *p = self->state;
	(void)e;
	if (p->n == PARAM_AUTO)
		p->n = PREFETCH_AUTO;
	pthread_mutex_init(&p->lock, NULL);
	thread_cond_init(&p->wake);
	thread_cond_init(&p->news);
	atomic_init(&p->stop, false);
	p->ring = mem_array(PREFETCH_RUNS, sizeof *p->ring);
	p->parts = mem_array(PREFETCH_RUNS, sizeof *p->parts);
	p->held = mem_array(PREFETCH_RUNS, sizeof *p->held);
	p->straight = self->ctx->next_split && self->ctx->split_exact;
	if (p->straight)
		return ST_OK;
	op_makes_ahead(self->ctx);
	p->ctx = *self->ctx;
	p->ctx.stop = &p->stop;
	op_set_ctx(self->in[0], &p->ctx);
	return ST_OK;
}

/* Whether the ring is full, or is so to a part. */
static bool
prefetch_has(const struct prefetch *p, unsigned part)
{
	return p->count + p->lent >= PREFETCH_RUNS / part || p->elements > ((uint64_t)p->n - 1) / part ||
	       p->bytes >= PREFETCH_BYTES / part;
}

/* Whether the thread must wait. Once full, the ring counts as full until it is half empty,
 * because threads that wake each other for every run do little else. */
static bool
prefetch_full(struct prefetch *p)
{
	p->full = prefetch_has(p, p->full ? 2 : 1);
	return p->full;
}

static struct run *
prefetch_slot(struct prefetch *p, uint32_t k)
{
	return &p->ring[(p->head + k) % PREFETCH_RUNS];
}

static void
prefetch_enqueue(struct prefetch *p, const struct run *r, size_t held)
{
	p->held[r - p->ring] = held;
	p->count++;
	trace_gauge(TRACE_AHEAD, 1);
	p->elements += r->n;
	p->bytes += held;
}

/* Pulls one run into the ring; the lock is released while it works. */
static enum status
prefetch_make(struct op_inst *self)
{
	struct prefetch *p = self->state;
	struct run *r, *slot = prefetch_slot(p, p->count);
	enum status st;
	size_t held = 0;

	p->busy = true;
	pthread_mutex_unlock(&p->lock);
	st = op_pull(self->in[0], &r, &p->err);
	if (st == ST_OK)
		held = run_share(slot, &p->parts[slot - p->ring], r);
	pthread_mutex_lock(&p->lock);
	p->busy = false;
	if (st == ST_OK)
		prefetch_enqueue(p, slot, held);
	p->status = st;
	atomic_fetch_add_explicit(&p->made, 1, memory_order_release);
	if (p->pause || (p->waiting && (!p->naps || st != ST_OK || prefetch_has(p, 2))))
		pthread_cond_signal(&p->news);
	return st;
}

static void *
prefetch_thread(void *arg)
{
	struct op_inst *self = arg;
	struct prefetch *p = self->state;

	pthread_mutex_lock(&p->lock);
	while (!atomic_load_explicit(&p->stop, memory_order_relaxed)) {
		bool over = p->status != ST_OK;

		if (!over && !p->pause && !prefetch_full(p)) {
			prefetch_make(self);
			continue;
		}
		int64_t began = trace_begin();
		trace_flush();
		pthread_cond_wait(&p->wake, &p->lock);
		trace_span(began, TRACE_HELD, NULL, 0, 0, 0);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static enum status
prefetch_start(struct op_inst *self, struct err *e)
{
	struct prefetch *p = self->state;
	enum status st;

	p->started = true; /* set first: the thread uses the members beside it */
	st = thread_start(&p->thread, prefetch_thread, self, "prefetch", e);
	if (st != ST_OK)
		p->started = false;
	return st;
}

/* Waits a little without sleeping: a thread that makes a run every few microseconds would be
 * slowed down by waking us. How often this succeeded decides how long to try next time. */
static bool
prefetch_spin(struct prefetch *p)
{
	unsigned before = atomic_load_explicit(&p->made, memory_order_relaxed);
	bool came = false;

	pthread_mutex_unlock(&p->lock);
	for (unsigned k = 0; k < p->spins && !came; k++) {
#if defined __x86_64__ || defined __i386__
		__builtin_ia32_pause();
#endif
		came = atomic_load_explicit(&p->made, memory_order_acquire) != before;
	}
	p->spins = came ? PREFETCH_SPINS : p->spins / 2;
	p->missed = came ? 0 : p->missed + 1;
	pthread_mutex_lock(&p->lock);
	return came;
}

/* Waits for news, or a moment for several runs; false when the program wants to stop. */
static bool
prefetch_wait(struct op_inst *self, bool nap)
{
	struct prefetch *p = self->state;
	int64_t now;

	if (prefetch_spin(p) || p->count || p->status != ST_OK)
		return true;
	now = clock_mono_ns();
	nap = nap && p->missed > 1;
	p->waiting = true;
	p->naps = nap;
	pool_wait_begin();
	int64_t began = trace_begin();
	thread_cond_wait(&p->news, &p->lock, now + (nap ? PREFETCH_NAP_NS : PREFETCH_TICK_NS));
	trace_span(began, TRACE_NOTHING, NULL, 0, 0, 0);
	pool_wait_end();
	p->waiting = false;
	if (clock_mono_ns() - now < PREFETCH_SHORT_NS)
		p->spins = PREFETCH_SPINS;
	return !op_stopped(self->ctx);
}

/* Returns the run that was lent last to the ring. */
static void
prefetch_release(struct prefetch *p)
{
	if (!p->lent)
		return;
	pthread_mutex_unlock(&p->lock);
	run_reset(&p->ring[(p->head + PREFETCH_RUNS - 1) % PREFETCH_RUNS]);
	pthread_mutex_lock(&p->lock);
	p->lent = false;
}

static enum status
prefetch_dequeue(struct op_inst *self)
{
	struct prefetch *p = self->state;

	self->give = &p->ring[p->head];
	p->head = (p->head + 1) % PREFETCH_RUNS;
	p->count--;
	trace_gauge(TRACE_AHEAD, -1);
	p->elements -= self->give->n;
	p->bytes -= p->held[self->give - p->ring];
	p->lent = true;
	if (p->full && !prefetch_full(p))
		pthread_cond_signal(&p->wake);
	return ST_OK;
}

static void
prefetch_resume(struct prefetch *p)
{
	p->status = ST_OK;
	pthread_cond_signal(&p->wake);
}

/* The status to give when the ring is empty and the input has ended, failed or stopped. */
static enum status
prefetch_over(struct prefetch *p, struct err *e)
{
	enum status st = p->status;

	if (st == ST_AGAIN)
		prefetch_resume(p); /* ST_AGAIN: the thread may go on */
	else if (st != ST_END)
		*e = p->err;
	return st;
}

static enum status
prefetch_next(struct op_inst *self, struct run *out, struct err *e)
{
	struct prefetch *p = self->state;
	enum status st;

	(void)out;
	if (p->straight)
		return op_pull(self->in[0], &self->give, e);
	st = p->started ? ST_OK : prefetch_start(self, e);
	if (st != ST_OK)
		return st;
	pthread_mutex_lock(&p->lock);
	prefetch_release(p);
	if (p->pause) {
		p->pause = false;
		pthread_cond_signal(&p->wake);
	}
	for (bool nap = true; !p->count && p->status == ST_OK && st == ST_OK; nap = false)
		if (!prefetch_wait(self, nap))
			st = ST_AGAIN;
	if (p->count)
		st = prefetch_dequeue(self);
	else if (st == ST_OK)
		st = prefetch_over(p, e);
	pthread_mutex_unlock(&p->lock);
	return st;
}

static void
prefetch_close(struct op_inst *self)
{
	struct prefetch *p = self->state;

	if (p->started) {
		pthread_mutex_lock(&p->lock);
		atomic_store_explicit(&p->stop, true, memory_order_relaxed);
		pthread_cond_signal(&p->wake);
		pthread_mutex_unlock(&p->lock);
		pthread_join(p->thread, NULL);
	}
	trace_gauge(TRACE_AHEAD, -(int64_t)p->count);
	for (uint32_t k = 0; k < PREFETCH_RUNS; k++) {
		run_clear(&p->ring[k]);
		mem_free(p->parts[k]);
	}
	mem_free(p->parts);
	mem_free(p->held);
	mem_free(p->ring);
	pthread_cond_destroy(&p->news);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
}

/* Brings the thread to rest until the next pull, so that the state of the inputs can be saved,
 * too. The runs in the ring are part of the saved state. */
static void
prefetch_save(struct op_inst *self, struct buf *out)
{
	struct prefetch *p = self->state;

	pthread_mutex_lock(&p->lock);
	p->pause = true;
	while (p->busy)
		pthread_cond_wait(&p->news, &p->lock);
	self->unsaved = p->status != ST_OK && p->status != ST_END && p->status != ST_AGAIN;
	state_put_u64(out, p->count);
	for (uint32_t k = 0; k < p->count; k++)
		state_put_run(out, prefetch_slot(p, k), 0);
	pthread_mutex_unlock(&p->lock);
}

static enum status
prefetch_restore(struct op_inst *self, const uint8_t *bytes, size_t n, struct err *e)
{
	struct prefetch *p = self->state;
	struct state_in in = state_begin(bytes, n);
	uint64_t count = state_get_u64(&in, PREFETCH_RUNS - 1);

	for (uint64_t k = 0; k < count && !in.bad; k++) {
		struct run *slot = prefetch_slot(p, p->count);

		run_reset(slot);
		if (state_get_run(&in, slot) && slot->n)
			prefetch_enqueue(p, slot, run_bytes(slot));
	}
	return state_finish(self, &in, e);
}

static bool
prefetch_partwise(const struct op_node *n, const char **remedy)
{
	(void)n, (void)remedy;
	return true;
}

const struct op_desc op_prefetch = {
	.name = "prefetch",
	.brief = "produces elements in advance, on another thread",
	.doc = "The operators before it then run at the same time as those after it. Elements are "
	       "passed on as soon as they are ready; N limits how many may wait.",
	.kind = OP_TRANSFORM,
	.scope = OP_STREAM,
	.flags = OP_PASSES | OP_BY_EXPR | OP_EACH,
	.params = prefetch_params,
	.state_size = sizeof(struct prefetch),
	.partwise = prefetch_partwise,
	.cardinality = prefetch_cardinality,
	.open = prefetch_open,
	.next = prefetch_next,
	.close = prefetch_close,
	.save = prefetch_save,
	.restore = prefetch_restore,
	.example = "range 3 | prefetch 2",
	.output = "0\n1\n2\n",
};
