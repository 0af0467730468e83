/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_source.h"

#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/wake.h"
#include "op/pull.h"
#include "value/run_share.h"

enum { SOURCE_RUNS = 16, SOURCE_BYTES = 8 * 1024 * 1024, SOURCE_CLOSE_MS = 1000 };

/* Runs that the thread has made; `head` is lent while `lent` is set. */
struct feed_source {
	struct feed_source_conf c;
	struct reader_host *reader;
	bool job_known;
	/* for a plan */
	struct op_ctx ctx;
	struct op_inst *chain;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct run runs[SOURCE_RUNS];
	struct run_part *parts[SOURCE_RUNS]; /* those of the runs */
	size_t held[SOURCE_RUNS], bytes;     /* bytes that each run holds, and all of them */
	uint32_t head, n;
	bool started, leave, lent, ended;
	bool full;               /* the thread waits until half of them are taken */
	bool hungry, woken;      /* nothing was there to be taken; `wake` is set */
	enum status code;        /* result of the pass, once ended */
	struct err err;
	int wake;
	atomic_bool stop;
	_Atomic uint64_t failed;  /* elements that a policy skipped or kept */
};

/* The thread: a pass of the chain. */

/* Whoever waits is woken, under the lock, so that nobody can clear what is set only later. */
static void
source_wake(struct feed_source *s)
{
	if (s->hungry) {
		wake_set(s->wake);
		s->woken = true;
	}
	s->hungry = false;
}

/* Full runs count as full until half of them are taken: threads that wake each other for each do little else. One may
 * be large, and there is one to be made while another is lent. */
static bool
source_full(struct feed_source *s)
{
	unsigned part = s->full ? 2 : 1;

	s->full = s->n >= SOURCE_RUNS / part || (s->n > 1 && s->bytes >= SOURCE_BYTES / part);
	return s->full;
}

static bool
source_give(struct feed_source *s, const struct run *r)
{
	pthread_mutex_lock(&s->lock);
	while (source_full(s) && !s->leave)
		pthread_cond_wait(&s->room, &s->lock);
	bool leave = s->leave;
	uint32_t at = (s->head + s->n) % SOURCE_RUNS;
	pthread_mutex_unlock(&s->lock);
	if (leave)
		return false;
	s->held[at] = run_share(&s->runs[at], &s->parts[at], r);
	pthread_mutex_lock(&s->lock);
	s->n++;
	s->bytes += s->held[at];
	source_wake(s);
	pthread_mutex_unlock(&s->lock);
	return true;
}

static void
source_note(void *arg, const struct op_node *n, const struct err *e)
{
	struct feed_source *s = arg;

	s->c.note(s->c.arg, n, e);
}

static void
source_failure(void *arg, const struct op_failure *f)
{
	struct feed_source *s = arg;

	if (s->c.failure)
		s->c.failure(s->c.arg, f);
	if (!f->fatal && ++s->failed > s->c.max_errors)
		atomic_store(&s->stop, true);
}

static enum status
source_too_many(struct feed_source *s, struct err *e)
{
	err_set(e, ST_DATA, "%llu element%s failed: more than the %llu that --max-errors allows",
		(unsigned long long)s->failed, str_s(s->failed), (unsigned long long)s->c.max_errors);
	err_help(e, "--errors FILE lists them");
	return ST_DATA;
}

static void *
source_thread(void *arg)
{
	struct feed_source *s = arg;
	enum status st = ST_OK;
	struct run *r;
	struct err e = { 0 };

	if (!s->chain)
		st = op_open(s->c.plan->top, &s->ctx, &s->chain, &e);
	if (st == ST_OK && s->c.skip && !op_seek(s->chain, s->c.skip))
		op_discard(s->chain, s->c.skip);
	s->c.skip = 0;
	while (st == ST_OK) {
		st = op_pull(s->chain, &r, &e);
		if (st == ST_OK && !source_give(s, r))
			st = ST_AGAIN;
	}
	if (s->failed > s->c.max_errors)
		st = source_too_many(s, &e);
	pthread_mutex_lock(&s->lock);
	s->ended = true;
	s->code = st;
	s->err = e;
	source_wake(s);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static enum status
source_start(struct feed_source *s, struct err *e)
{
	s->ended = false;
	enum status st = thread_start(&s->thread, source_thread, s, "the pipeline", e);
	s->started = st == ST_OK;
	return st;
}

static void
source_join(struct feed_source *s)
{
	if (!s->started)
		return;
	pthread_mutex_lock(&s->lock);
	s->leave = true;
	pthread_mutex_unlock(&s->lock);
	pthread_cond_signal(&s->room);
	pthread_join(s->thread, NULL);
	s->started = s->leave = false;
}

static enum status
source_open_plan(struct feed_source *s, struct err *e)
{
	s->ctx = (struct op_ctx){ .json = s->c.plan->options.json,
		.element_max = (uint32_t)s->c.plan->options.element_max, .stop = &s->stop,
		.service = s->c.service, .note = s->c.note ? source_note : NULL,
		.failure = source_failure, .arg = s, .seed = s->c.seed, .epoch = s->c.epoch - 1 };
	return source_start(s, e);
}

static enum status
source_open_reader(struct feed_source *s, struct err *e)
{
	struct reader_host_conf c = s->c.reader;

	c.job.epoch = s->c.epoch;
	c.position = s->c.position;
	s->job_known = false;
	return reader_host_open(&c, &s->reader, e);
}

enum status
feed_source_open(const struct feed_source_conf *c, struct feed_source **out, struct err *e)
{
	struct feed_source *s = mem_zalloc(sizeof *s);

	s->c = *c;
	s->wake = wake_open();
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->room, NULL);
	for (int i = 0; i < SOURCE_RUNS; i++)
		run_init(&s->runs[i]);
	enum status st = c->plan ? source_open_plan(s, e) : source_open_reader(s, e);
	if (st != ST_OK)
		feed_source_free(&s);
	*out = s;
	return st;
}

void
feed_source_free(struct feed_source **sp)
{
	struct feed_source *s = *sp;

	*sp = NULL;
	if (!s)
		return;
	atomic_store(&s->stop, true);
	source_join(s);
	op_close(&s->chain);
	if (s->reader) {
		reader_host_close(s->reader, false, SOURCE_CLOSE_MS);
		reader_host_free(&s->reader);
	}
	for (int i = 0; i < SOURCE_RUNS; i++) {
		run_clear(&s->runs[i]);
		mem_free(s->parts[i]);
	}
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->room);
	close(s->wake);
	mem_free(s);
}

bool
feed_source_skips(const struct feed_source *s)
{
	return !s->reader;
}

int
feed_source_fd(const struct feed_source *s)
{
	return s->reader ? reader_host_fd(s->reader) : s->wake;
}

/* Another run has read the pass to its end: nothing of it is left, and nothing is known of what it had. A pass that
 * fills no step is over without anybody. */
static enum status
source_was_over(struct feed_source *s, struct err *e)
{
	const struct msg_done *done = reader_host_result(s->reader);

	if (!s->c.reader.job.name || (done && done->elements <= done->dropped))
		return ST_END;
	err_set(e, ST_DATA, "pass %u of job `%s` was read to its end by an earlier run", s->c.epoch, s->c.reader.job.name);
	err_help(e, "choose another name for the job, or another pass with --epoch");
	return ST_DATA;
}

static enum status
source_take_reader(struct feed_source *s, struct feed_rows *out, struct err *e)
{
	struct reader_host_piece piece;
	enum status st = reader_host_take(s->reader, &piece, e);

	s->job_known = s->job_known || st == ST_OK || st == ST_END;
	if (st != ST_OK && st != ST_AGAIN && s->c.passed)
		s->c.passed(s->c.arg, reader_host_result(s->reader));
	if (st == ST_END && reader_host_was_over(s->reader))
		st = source_was_over(s, e);
	if (st != ST_OK)
		return st;
	*out = (struct feed_rows){ .p = piece.p, .end = piece.p + piece.len, .n = piece.count, .stream = piece.stream,
		.offset = piece.offset, .worker = piece.worker };
	return ST_OK;
}

enum status
feed_source_take(struct feed_source *s, struct feed_rows *out, struct err *e)
{
	enum status st = ST_AGAIN;

	if (s->reader)
		return source_take_reader(s, out, e);
	pthread_mutex_lock(&s->lock);
	if (s->lent) {
		s->lent = false;
		s->bytes -= s->held[s->head];
		s->head = (s->head + 1) % SOURCE_RUNS;
		s->n--;
		if (s->full && !source_full(s))
			pthread_cond_signal(&s->room);
	}
	if (s->n) {
		const struct run *r = &s->runs[s->head];

		*out = (struct feed_rows){ .e = r->e, .n = r->n, .run = r };
		s->lent = true;
		st = ST_OK;
	} else if (s->ended) {
		st = s->code;
		*e = s->err;
	} else {
		if (s->woken)
			wake_clear(s->wake);
		s->woken = false;
		s->hungry = true;
	}
	pthread_mutex_unlock(&s->lock);
	return st;
}

enum status
feed_source_pass(struct feed_source *s, struct err *e)
{
	s->c.epoch++;
	s->c.position = NULL;
	if (!s->reader) {
		source_join(s);
		enum status st = op_rewind(s->chain, e);
		return st == ST_OK ? source_start(s, e) : st;
	}
	reader_host_free(&s->reader);
	return source_open_reader(s, e);
}

void
feed_source_used(struct feed_source *s, uint64_t elements)
{
	if (s->reader)
		reader_host_written(s->reader, elements);
}

bool
feed_source_position(struct feed_source *s, struct buf *out)
{
	if (s->reader)
		reader_host_position(s->reader, out);
	return out->len > 0;
}

const struct reader_host_job *
feed_source_job(const struct feed_source *s)
{
	return s->reader && s->job_known ? reader_host_job(s->reader) : NULL;
}

const char *
feed_source_waits(struct feed_source *s)
{
	const char *consumer = s->c.reader.job.consumer;
	struct reader_stats stats;

	if (!s->reader)
		return NULL;
	if (consumer && *consumer && !reader_host_opened(s->reader))
		return "not all hosts have come";
	reader_host_stats(s->reader, &stats);
	return stats.waiting_for_worker ? "no worker has a stream" : NULL;
}

int
feed_source_stop_fd(const struct feed_source *s)
{
	return s->reader && s->c.reader.stops ? reader_host_stop_fd(s->reader) : -1;
}

struct reader_host *
feed_source_reader(struct feed_source *s)
{
	return s->reader;
}

bool
feed_source_midway(struct feed_source *s)
{
	struct reader_stats stats = { 0 };

	if (s->reader)
		reader_host_stats(s->reader, &stats);
	return stats.midway;
}
