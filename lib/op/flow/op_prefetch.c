/* SPDX-License-Identifier: MIT
 * prefetch: runs what stands before it on a thread of its own, ahead of those
 * who ask.
 *
 *	thread: op_pull -> share -> [run][run][run]   a ring of runs
 *	caller:                     ^ lent, the next call lets go of it
 *
 * A run is handed over as soon as it is there, however short. Its elements are
 * not copied: the ring's runs hold references to the blocks they lie in. The
 * thread begins at the first pull; it has a `stop` of its own, so that closing
 * does not wait for an input without end.
 *
 * Where splits must be told apart (split_exact) it has no thread: being ahead would
 * mean to read from the next split before the one at hand has been given.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
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
	PREFETCH_SHORT_NS = 100 * 1000, /* after a sleep as short as this it waits awake */
	PREFETCH_TICK_NS = 20 * 1000 * 1000 /* how often a waiting caller looks at stop */
};

struct prefetch {
	int64_t n;
	struct op_ctx ctx;     /* of what stands before: the same with another stop */
	atomic_bool stop;
	pthread_t thread;
	pthread_mutex_t lock;  /* all below */
	pthread_cond_t wake;   /* thread: room, or no longer paused */
	pthread_cond_t news;   /* caller: a run, a status, or the thread is at rest */
	bool straight;         /* no thread: what comes is passed on */
	bool started, pause, busy;
	bool full;             /* the thread waits until half of it is gone */
	bool waiting;          /* the caller sleeps */
	atomic_uint made;      /* counts what the thread has told; read without the lock */
	unsigned spins;        /* what waiting awake is worth, as it turned out before */
	struct run *ring;
	struct run_part **parts; /* copies, for the ring's runs */
	size_t *held;          /* bytes that each of them holds */
	uint32_t head, count;  /* runs that wait */
	bool lent;             /* the run before head is with the caller */
	uint64_t elements;
	size_t bytes;
	enum status status;    /* what the thread came to; ST_OK: goes on */
	struct err err;
};

static const struct param prefetch_params[] = {
	{ "n", PARAM_INT, offsetof(struct prefetch, n), "auto", .flags = PARAM_ALLOW_AUTO,
	  .min = 1, .max = (int64_t)1 << 40,
	  .help = "how many elements to be ahead by" },
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
	p->ctx = *self->ctx;
	p->ctx.stop = &p->stop;
	op_set_ctx(self->in[0], &p->ctx);
	return ST_OK;
}

/* Once full, it is full until half is gone: threads that wake each other for
 * every run do little else. */
static bool
prefetch_full(struct prefetch *p)
{
	unsigned part = p->full ? 2 : 1;

	p->full = p->count + p->lent >= PREFETCH_RUNS / part
		  || p->elements > ((uint64_t)p->n - 1) / part
		  || p->bytes >= PREFETCH_BYTES / part;
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
	p->elements += r->n;
	p->bytes += held;
}

/* One run from upstream into the ring; the lock is held but for the work. */
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
	if (p->waiting || p->pause)
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

		if (over || p->pause || prefetch_full(p))
			pthread_cond_wait(&p->wake, &p->lock);
		else
			prefetch_make(self);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static enum status
prefetch_start(struct op_inst *self, struct err *e)
{
	struct prefetch *p = self->state;
	enum status st;

	p->started = true; /* now: from here on its neighbours are the thread's too */
	st = thread_start(&p->thread, prefetch_thread, self, "prefetch", e);
	if (st != ST_OK)
		p->started = false;
	return st;
}

/* Waits a little without sleeping, for a thread that gives a run every few
 * microseconds would be held up by waking us. Whether that paid tells how long
 * to try the next time. */
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
	pthread_mutex_lock(&p->lock);
	return came;
}

/* Waits for news; false when the program wants to stop. */
static bool
prefetch_wait(struct op_inst *self)
{
	struct prefetch *p = self->state;
	int64_t now;

	if (prefetch_spin(p) || p->count || p->status != ST_OK)
		return true;
	now = clock_mono_ns();
	p->waiting = true;
	pool_wait_begin();
	thread_cond_wait(&p->news, &p->lock, now + PREFETCH_TICK_NS);
	pool_wait_end();
	p->waiting = false;
	if (clock_mono_ns() - now < PREFETCH_SHORT_NS)
		p->spins = PREFETCH_SPINS;
	return !op_stopped(self->ctx);
}

/* The run given last goes back to the ring. */
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

/* Nothing waits and the thread has come to something. */
static enum status
prefetch_over(struct prefetch *p, struct err *e)
{
	enum status st = p->status;

	if (st == ST_AGAIN)
		prefetch_resume(p); /* it may go on */
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
	while (!p->count && p->status == ST_OK && st == ST_OK)
		if (!prefetch_wait(self))
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

/* The thread is brought to rest, and rests until the next pull: so the states
 * of what stands before can be saved too. What waits in the ring is part of
 * the state. */
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
	.brief = "makes elements ahead of those who ask, on another thread",
	.doc = "What stands before it then runs at the same time as what stands behind it. "
	       "Elements are given as soon as they are there; the number bounds how far "
	       "ahead it may be.",
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
