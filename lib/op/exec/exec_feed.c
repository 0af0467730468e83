/* SPDX-License-Identifier: MIT */
#include "op/exec/exec_feed.h"
#include "op/pull.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "base/wake.h"
#include "value/run_share.h"

enum { FEED_RUNS = 8, FEED_BYTES = 4 * 1024 * 1024 };

struct feed_run *
exec_feed_spare(struct exec_feed *f)
{
	struct feed_run *r = f->spare;

	if (r) {
		f->spare = r->next;
	} else {
		r = mem_zalloc(sizeof *r);
		run_init(&r->run);
	}
	r->next = NULL;
	r->open = r->from = 0;
	return r;
}

static void
feed_queue(struct exec_feed *f, struct feed_run *r)
{
	*f->last = r;
	f->last = &r->next;
	f->count++;
	f->bytes += r->bytes;
}

static void
feed_tell(struct exec_feed *f)
{
	if (f->hungry)
		wake_set(f->fd);
	f->hungry = false;
}

/* Called by the thread in the middle of a pull: waits for leave to begin another split. */
static enum status
feed_split(void *arg, struct split *out, struct err *e)
{
	struct exec_feed *f = arg;

	pthread_mutex_lock(&f->lock);
	f->border = true;
	feed_tell(f);
	if (f->pause)
		pthread_cond_signal(&f->rest);
	while (f->border && !atomic_load_explicit(&f->stop, memory_order_relaxed))
		pthread_cond_wait(&f->room, &f->lock);
	bool stopped = f->border;
	f->border = false;
	pthread_mutex_unlock(&f->lock);
	const struct op_ctx *above = f->self->ctx;
	return stopped ? ST_AGAIN : above->next_split(above->arg, out, e);
}

static void
feed_failure(void *arg, const struct op_failure *failure)
{
	const struct op_ctx *above = ((struct exec_feed *)arg)->self->ctx;

	if (above->failure)
		above->failure(above->arg, failure);
}

static void
feed_note(void *arg, const struct op_node *n, const struct err *e)
{
	const struct op_ctx *above = ((struct exec_feed *)arg)->self->ctx;

	if (above->note)
		above->note(above->arg, n, e);
}

void
exec_feed_pass(struct exec_feed *f)
{
	pthread_mutex_lock(&f->lock);
	if (f->border && !f->count) {
		f->border = false;
		pthread_cond_broadcast(&f->room);
	}
	pthread_mutex_unlock(&f->lock);
}

bool
exec_feed_border(struct exec_feed *f)
{
	pthread_mutex_lock(&f->lock);
	bool border = f->border && !f->count;
	pthread_mutex_unlock(&f->lock);
	return border;
}

void
exec_feed_open(struct exec_feed *f, struct op_inst *self)
{
	f->in = self->in[0];
	f->fd = -1;
	f->last = &f->first;
	f->ctx = *self->ctx;
	f->ctx.stop = &f->stop;
	if (f->ctx.next_split && f->ctx.split_exact) {
		f->self = self;
		f->ctx.arg = f;
		f->ctx.next_split = feed_split;
		f->ctx.failure = feed_failure;
		f->ctx.note = feed_note;
	}
	atomic_init(&f->stop, false);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->room, NULL);
	pthread_cond_init(&f->rest, NULL);
	op_set_ctx(f->in, &f->ctx);
}

/* Pulls one run of the input; the lock is released while it works. */
static void
feed_make(struct exec_feed *f)
{
	struct feed_run *to = exec_feed_spare(f);
	struct run *r;
	enum status st;

	f->busy = true;
	pthread_mutex_unlock(&f->lock);
	st = op_pull(f->in, &r, &f->err);
	if (st == ST_OK)
		to->bytes = run_share(&to->run, &to->parts, r);
	pthread_mutex_lock(&f->lock);
	f->busy = false;
	if (st == ST_OK) {
		feed_queue(f, to);
	} else {
		to->next = f->spare;
		f->spare = to;
	}
	f->status = st;
	feed_tell(f);
	if (f->pause)
		pthread_cond_signal(&f->rest);
}

static void *
feed_thread(void *arg)
{
	struct exec_feed *f = arg;

	pthread_mutex_lock(&f->lock);
	while (!atomic_load_explicit(&f->stop, memory_order_relaxed)) {
		if (f->status != ST_OK || f->pause || f->count >= FEED_RUNS
		    || f->bytes >= FEED_BYTES)
			pthread_cond_wait(&f->room, &f->lock);
		else
			feed_make(f);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static enum status
feed_start(struct exec_feed *f, struct err *e)
{
	enum status st;

	f->fd = wake_open();
	if (f->fd < 0)
		return err_errno(e, "cannot make an eventfd");
	st = thread_start(&f->thread, feed_thread, f, "the input of exec", e);
	f->started = st == ST_OK;
	return st;
}

enum status
exec_feed_take(struct exec_feed *f, struct feed_run **r, bool *stopped, struct err *e)
{
	enum status st = f->started ? ST_OK : feed_start(f, e);

	*stopped = false;
	if (st != ST_OK)
		return st;
	pthread_mutex_lock(&f->lock);
	if (f->pause) {
		f->pause = false;
		pthread_cond_broadcast(&f->room);
	}
	*r = f->first;
	if (*r) {
		f->first = (*r)->next;
		if (!f->first)
			f->last = &f->first;
		f->count--;
		f->bytes -= (*r)->bytes;
		if (f->count == FEED_RUNS / 2 || f->count == 0)
			pthread_cond_broadcast(&f->room);
	} else if (f->status == ST_AGAIN) {
		*stopped = true;
		f->status = ST_OK;
		pthread_cond_broadcast(&f->room);
		st = ST_AGAIN;
	} else if (f->status != ST_OK) {
		st = f->status;
		if (st != ST_END)
			*e = f->err;
	} else {
		f->hungry = true;
		st = ST_AGAIN;
	}
	pthread_mutex_unlock(&f->lock);
	return st;
}

void
exec_feed_heard(struct exec_feed *f)
{
	wake_clear(f->fd);
}

void
exec_feed_give(struct exec_feed *f, struct feed_run *r)
{
	run_reset(&r->run);
	pthread_mutex_lock(&f->lock);
	r->next = f->spare;
	f->spare = r;
	pthread_mutex_unlock(&f->lock);
}

void
exec_feed_rest(struct exec_feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->pause = true;
	while (f->busy && !f->border)
		pthread_cond_wait(&f->rest, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

struct feed_run *
exec_feed_add(struct exec_feed *f)
{
	struct feed_run *r = exec_feed_spare(f);

	feed_queue(f, r);
	return r;
}

static void
feed_free(struct feed_run *r)
{
	for (struct feed_run *next; r; r = next) {
		next = r->next;
		run_clear(&r->run);
		mem_free(r->parts);
		mem_free(r);
	}
}

void
exec_feed_close(struct exec_feed *f)
{
	if (f->started) {
		pthread_mutex_lock(&f->lock);
		atomic_store_explicit(&f->stop, true, memory_order_relaxed);
		pthread_cond_broadcast(&f->room);
		pthread_mutex_unlock(&f->lock);
		pthread_join(f->thread, NULL);
	}
	if (f->fd >= 0)
		close(f->fd);
	feed_free(f->first);
	feed_free(f->spare);
	pthread_cond_destroy(&f->rest);
	pthread_cond_destroy(&f->room);
	pthread_mutex_destroy(&f->lock);
}
