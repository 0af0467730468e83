/* SPDX-License-Identifier: MIT */
#include "host/work/produce.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trace.h"
#include "core/work/worker.h"
#include "host/work/produce_inner.h"
#include "host/work/turns.h"
#include "op/op.h"
#include "op/pull.h"

static void
produce_tell(struct produce *m, struct produce_event ev)
{
	ev.produce = m;
	ev.key = m->assign.key;
	ev.reached = atomic_load(&m->reached);
	produce_queue_push(m->queue, &ev);
}

/* Reports failures: all of them before a restart point and at the end, else from time to time. */
static void
produce_faults(struct produce *m, bool all)
{
	struct produce_event ev = { .kind = PRODUCE_FAULTS };
	if (produce_fault_take(&m->fault, all, &ev.number, &ev.faults))
		produce_tell(m, ev);
}

static void
produce_failure(void *arg, const struct op_failure *f)
{
	struct produce *m = arg;
	produce_fault_add(&m->fault, f);
	produce_faults(m, false);
}

static void
produce_tapped(void *arg, const struct run *r)
{
	struct produce *m = arg;
	struct produce_event ev = { .kind = PRODUCE_TAPPED };
	if (produce_tap_take(&m->tap, r, &ev.tapped))
		produce_tell(m, ev);
}

void
produce_tap(struct produce *m, const struct msg_tap *ask)
{
	produce_tap_ask(&m->tap, ask);
}

/* Packs a chunk and hands it over; with the lock held, so that chunks stay in order. */
static void
produce_send(void *arg, uint32_t view, struct chunk *c)
{
	struct produce *m = arg;
	enum job_compression asked = m->assign.compression;
	int64_t began = trace_begin();
	uint64_t count = c->count;
	if (asked != PACK_AUTO)
		chunk_pack(c, asked, &m->pack_pause);
	else if (!arenas_used(m->conf->arenas))
		chunk_pack(c, m->conf->pack, &m->pack_pause);
	m->cut_ns = clock_mono_ns();
	m->want = false;
	m->ahead += c->len;
	trace_gauge(TRACE_QUEUED, (int64_t)c->len);
	trace_span(began, TRACE_CHUNK, NULL, count, c->len, m->assign.key.stream);
	produce_tell(m, (struct produce_event){ .kind = PRODUCE_CHUNK, .chunk = c, .view = view,
		.split = m->from_split });
}

void
produce_cut(struct produce *m)
{
	struct chunk *c = m->deal ? NULL : builder_cut(&m->builder);
	if (m->deal)
		deal_cut(m->deal);
	if (c)
		produce_send(m, WORKER_ALL_VIEWS, c);
}

static void
produce_own(struct produce *m, const struct elem *e)
{
	produce_cut(m);
	produce_send(m, WORKER_ALL_VIEWS, builder_own(&m->builder, e));
}

/* Elements [i, n) of the run, all of which are to be sent. */
static void
produce_take(struct produce *m, const struct run *r, uint32_t i, uint32_t n)
{
	if (m->builder.count == 0)
		m->builder.offset = m->offset;
	while (i < n) {
		uint32_t took = builder_add(&m->builder, r, i, n);
		i += took;
		m->offset += took;
		if (i == n)
			break;
		if (builder_owns(&m->builder, r->e[i].len)) {
			produce_own(m, &r->e[i++]);
			m->offset++;
		} else {
			produce_cut(m);
		}
	}
	if (m->builder.len == CHUNK_BYTES || m->builder.count == CHUNK_ELEMENTS)
		produce_cut(m);
}

/* A run of the chain, which may be empty: what somebody has already is left out, and a chunk ends there. */
static void
produce_append(struct produce *m, const struct run *r)
{
	uint32_t i = 0;
	uint64_t split = m->split ? m->split - 1 : 0;
	if (split != m->from_split && m->assign.order == ORDER_SOURCE)
		produce_cut(m);
	m->from_split = split;
	m->made += r->n;
	trace_gauge(TRACE_ELEMENTS, r->n);
	if (m->deal) {
		m->offset += r->n;
		deal_append(m->deal, r, clock_mono_ns());
		deal_want(m->deal, WORKER_ALL_VIEWS, clock_mono_ns(), PRODUCE_PAUSE_NS);
		return;
	}
	while (i < r->n) {
		bool skip;
		uint64_t left = r->n - i, n = produce_skip_run(&m->skip, m->offset, left, &skip);
		if (skip || produce_skip_border(&m->skip, m->offset))
			produce_cut(m);
		if (skip)
			m->offset += n;
		else
			produce_take(m, r, i, i + (uint32_t)n);
		i += (uint32_t)n;
	}
}

static enum status
produce_next_split(void *arg, struct split *out, struct err *e)
{
	struct produce *m = arg;
	enum status st = ST_OK;
	uint64_t k = 0;
	(void)e;
	pthread_mutex_lock(&m->lock);
	int64_t began = m->split_at == m->splits.n && !m->no_more_splits ? trace_begin() : 0;
	blocked_begin(&m->times.splits);
	while (m->split_at == m->splits.n && !m->no_more_splits && !atomic_load(&m->stop))
		pthread_cond_wait(&m->changed, &m->lock);
	blocked_end(&m->times.splits);
	if (atomic_load(&m->stop)) {
		st = ST_AGAIN;
	} else if (m->split_at < m->splits.n) {
		*out = m->splits.v[m->split_at];
		memset(&m->splits.v[m->split_at++], 0, sizeof *out);
		k = m->split++;
	} else {
		st = ST_END;
	}
	uint64_t made = m->made;
	pthread_mutex_unlock(&m->lock);
	trace_span(began, TRACE_NO_SPLIT, NULL, 0, 0, 0);
	split_trace_next(&m->traced, (uint64_t)(uintptr_t)m, st == ST_OK ? out : NULL, made);
	const struct op_inst *stored = atomic_load(&m->stored);
	if (st == ST_OK)
		produce_tell(m, (struct produce_event){ .kind = PRODUCE_SPLIT, .number = k, .ended = m->ended,
			.made = stored ? op_stat_get(&stored->stats.elements) : 0 });
	return st;
}

static uint64_t
produce_split_now(struct produce *m)
{
	pthread_mutex_lock(&m->lock);
	uint64_t k = m->split;
	pthread_mutex_unlock(&m->lock);
	return k;
}

/* A restart point, every so often or because the stream is handed over. */
static bool
produce_restart(struct produce *m, struct op_inst *chain, enum produce_kind kind)
{
	struct produce_event ev = { .kind = kind, .number = m->offset, .made = m->made };
	uint64_t after;
	int64_t began = trace_begin();
	/* a prefetch asks for splits on a thread of its own, also right now */
	do {
		buf_reset(&ev.state);
		ev.split = produce_split_now(m);
		ev.can = op_state_save(chain, &ev.state) && ev.state.len <= WIRE_STATE_MAX;
		after = produce_split_now(m);
	} while (ev.can && after != ev.split);
	/* Threads that run ahead are at rest since the state was saved. */
	produce_faults(m, true);
	trace_span(began, TRACE_RESTART, ev.can ? NULL : "impossible", m->offset, ev.state.len, 0);
	if (ev.can || kind == PRODUCE_HANDED)
		produce_tell(m, ev);
	else
		buf_clear(&ev.state);
	return ev.can;
}

enum produce_next { NEXT_GO, NEXT_REST, NEXT_OVER };

/* Between two runs. With NEXT_REST the stream may be on another thread by now. */
static enum produce_next
produce_between(struct produce *m)
{
	bool handover = false;
	pthread_mutex_lock(&m->lock);
	bool asks = produce_step_asks(&m->step);
	if (m->want || asks)
		produce_cut(m);
	if (asks) {
		produce_faults(m, true);
		produce_tell(m, (struct produce_event){ .kind = PRODUCE_STEP, .number = m->offset,
			.can = atomic_load(&m->step.ahead) });
	}
	bool waits = produce_step_waits(&m->step);
	const char *why = m->stalled ? "by readers" : waits ? "by care" : "by the network";
	int64_t began = m->stalled || waits || m->ahead > PRODUCE_AHEAD ? trace_begin() : 0;
	while ((m->stalled || m->ahead > PRODUCE_AHEAD || produce_step_waits(&m->step)) && !m->handover && !m->rest &&
	       !atomic_load(&m->stop))
		pthread_cond_wait(&m->changed, &m->lock);
	trace_span(began, TRACE_HELD, why, 0, 0, 0);
	if (m->handover) {
		handover = true;
		m->handover = false;
		produce_cut(m);
	} else if (m->rest && !atomic_load(&m->stop)) {
		m->rest = m->active = false;
		produce_cut(m);
		produce_tell(m, (struct produce_event){ .kind = PRODUCE_RESTED });
		pthread_mutex_unlock(&m->lock);
		return NEXT_REST;
	} else {
		produce_step_taken(&m->step);
	}
	pthread_mutex_unlock(&m->lock);
	if (handover)
		return produce_restart(m, m->chain, PRODUCE_HANDED) ? NEXT_OVER : produce_between(m);
	if (m->conf->restart_ns) {
		int64_t now = clock_mono_ns();
		if (now - m->restart_ns >= m->conf->restart_ns) {
			m->restart_ns = now;
			produce_restart(m, m->chain, PRODUCE_RESTART);
		}
	}
	return atomic_load(&m->stop) ? NEXT_OVER : NEXT_GO;
}

static void
produce_stores(void *arg, const struct op_node *n, const struct op_stores *what)
{
	if (what->waits)
		log_say(LOG_WARN, "operator %u: %s; it is tried again until there is room", n->place, what->waits->text);
	produce_tell(arg, (struct produce_event){ .kind = PRODUCE_STORES, .number = what->files, .split = what->elements,
		.made = what->bytes, .err = what->waits ? mem_dup(what->waits, sizeof *what->waits) : NULL });
}

static enum status
produce_open(struct produce *m, struct err *e)
{
	const struct msg_assign *a = &m->assign;
	m->opened = true;
	enum status st = plans_get_stream(a, &m->use, e);
	if (st != ST_OK)
		return st;
	const struct plan *p = plans_plan(m->use);
	/* The shares fit together only if all draw the same random numbers. */
	bool shared = a->sharding == SHARD_DATA || a->sharding == SHARD_HINT;
	m->ctx = (struct op_ctx){ .seed = a->seed, .pass = a->key.iteration, .gen = a->key.gen,
		.stream = a->key.stream, .streams = &m->streams, .draws_as = shared ? 0 : a->key.stream,
		.share = a->key.stream, .shares = a->sharding == SHARD_HINT ? a->streams : 0, .timed = true, .arg = m,
		.json = p->options.json, .element_max = (uint32_t)p->options.element_max, .stop = &m->stop,
		.next_split = a->by_split ? produce_next_split : NULL, .ahead = &m->step.ahead, .note = produce_note,
		.failure = produce_failure,
		.stores = produce_stores, .tap = &m->tap.place, .tapped = produce_tapped,
		.ended = &m->ended, .reached = a->by_split && plans_watched(m->use) ? &m->reached : NULL,
		.split_exact = a->order == ORDER_SOURCE, .repeatable = true, .service = &m->service.op, .env = m->env.v };
	produce_service_init(&m->service, &m->stop);
	produce_env_init(&m->env, a, m->conf->worker);
	atomic_store(&m->streams, a->all_known || !a->by_split ? a->streams : 0);
	m->fault.failed = m->fault.told = a->failed;
	atomic_store(&m->fault.offset, a->offset);
	m->restart_ns = clock_mono_ns();
	st = op_open(p->top, &m->ctx, &m->chain, e);
	atomic_store(&m->stored, st == ST_OK ? op_stored(m->chain) : NULL);
	pthread_mutex_lock(&m->lock);
	m->times.chain = m->chain;
	pthread_mutex_unlock(&m->lock);
	if (st == ST_OK) /* not before the source has looked for its files */
		st = plans_listed(p, a->listed, e);
	if (st == ST_OK && a->has_state)
		st = op_state_restore(m->chain, a->state.p, a->state.n, e);
	if (st == ST_OK)
		op_brief(m->chain);
	return st;
}

/* Where somebody has all of the elements that come next, a source that can goes on behind them. */
static void
produce_pass(struct produce *m)
{
	bool skip = false;
	uint64_t n = m->deal ? 0 : produce_skip_run(&m->skip, m->offset, UINT64_MAX, &skip);
	if (!skip || !(n = op_pass(m->chain, n)))
		return;
	pthread_mutex_lock(&m->lock);
	produce_cut(m);
	m->offset += n;
	m->made += n;
	pthread_mutex_unlock(&m->lock);
	atomic_store_explicit(&m->fault.offset, m->offset, memory_order_relaxed);
}

/* ST_AGAIN: handed over or stopped; ST_SKIP: rests, and is no longer this thread's. */
static enum status
produce_run(struct produce *m, struct err *e)
{
	struct run *r;
	enum status st;
	enum produce_next next;
	while ((next = produce_between(m)) == NEXT_GO) {
		if ((st = op_pull(m->chain, &r, e)) != ST_OK)
			return st;
		pthread_mutex_lock(&m->lock);
		produce_append(m, r);
		pthread_mutex_unlock(&m->lock);
		atomic_store_explicit(&m->fault.offset, m->offset, memory_order_relaxed);
		produce_pass(m);
	}
	return next == NEXT_REST ? ST_SKIP : ST_AGAIN;
}

/* Elements that do not fill a round, one by one. */
static void
produce_rest_of_round(struct produce *m)
{
	struct chunk *c;
	bool pad = false;
	for (uint32_t i = 0; m->deal && (c = deal_rest(m->deal, i, &pad)); i++)
		produce_tell(m, (struct produce_event){ .kind = PRODUCE_REST, .chunk = c, .can = pad });
}

static void
produce_over(struct produce *m, enum status st, struct err *e)
{
	pthread_mutex_lock(&m->lock);
	produce_times_look(&m->times);
	m->times.chain = NULL;
	pthread_mutex_unlock(&m->lock);
	op_close(&m->chain);
	split_trace_next(&m->traced, (uint64_t)(uintptr_t)m, NULL, m->made);
	atomic_store(&m->stored, NULL);
	plans_release(&m->use);
	pthread_mutex_lock(&m->lock);
	if (!atomic_load(&m->stop))
		produce_cut(m);
	pthread_mutex_unlock(&m->lock);
	produce_faults(m, true);
	struct produce_event ev = { .kind = PRODUCE_ENDED, .number = m->offset, .made = m->made };
	if (st == ST_END) {
		produce_rest_of_round(m);
		produce_tell(m, ev);
	} else if (st != ST_AGAIN && !atomic_load(&m->stop)) {
		if (e->line) /* a message has no other place for it */
			err_wrap(e, "%s:%u", e->file, e->line);
		err_wrap(e, "worker %s, stream %u after element %llu", m->conf->worker,
			 m->assign.key.stream, (unsigned long long)m->offset);
		ev.kind = PRODUCE_FAILED;
		ev.split = produce_split_now(m);
		ev.split -= ev.split > 0;
		ev.err = mem_dup(e, sizeof *e);
		produce_tell(m, ev);
	}
	produce_tell(m, (struct produce_event){ .kind = PRODUCE_EXIT });
}

/* A thread for the stream: until it rests or is over. */
static void
produce_turn(void *arg)
{
	struct produce *m = arg;
	struct err *e = mem_zalloc(sizeof *e);
	enum status st = ST_OK;
	int64_t began = trace_begin();
	struct stream_key key = m->assign.key;
	uint64_t offset = m->offset;
	block_lender(arenas_lend, m->conf->arenas);
	if (atomic_load(&m->stop))
		st = ST_AGAIN;
	else if (!m->opened)
		st = produce_open(m, e);
	if (st == ST_OK)
		st = produce_run(m, e);
	if (st != ST_SKIP)
		produce_over(m, st, e);
	trace_flush();
	trace_span(began, TRACE_STREAM, NULL, key.iteration, key.stream, offset);
	block_lender(NULL, NULL);
	mem_free(e);
}

void
produce_give(struct produce *m)
{
	struct err e = { 0 };
	if (turns_give(m->conf->turns, produce_turn, m, &e) == ST_OK)
		return;
	struct produce_event ev = { .kind = PRODUCE_FAILED, .number = m->assign.offset,
		.split = m->assign.split, .err = mem_dup(&e, sizeof e) };
	produce_tell(m, ev);
	produce_tell(m, (struct produce_event){ .kind = PRODUCE_EXIT });
}

struct produce *
produce_new(struct msg_assign *assign, const struct produce_conf *conf, struct produce_queue *q)
{
	struct produce *m = mem_zalloc(sizeof *m);
	m->assign = *assign;
	memset(assign, 0, sizeof *assign);
	m->offset = m->assign.offset;
	m->split = m->assign.split;
	m->conf = conf;
	produce_step_init(&m->step, m->assign.careful);
	produce_skip_init(&m->skip, &m->assign);
	m->builder.arenas = conf->arenas;
	m->deal = deal_new(&m->assign, conf->arenas, produce_send, m);
	m->queue = q;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->changed, NULL);
	produce_fault_init(&m->fault);
	produce_tap_init(&m->tap);
	m->active = true;
	produce_give(m);
	return m;
}

struct stream_key
produce_key(const struct produce *m)
{
	return m->assign.key;
}

void
produce_free(struct produce **mp)
{
	struct produce *m = *mp;
	*mp = NULL;
	struct msg scratch = { .type = MSG_ASSIGN, .assign = m->assign };
	msg_clear(&scratch);
	builder_clear(&m->builder);
	deal_free(&m->deal);
	produce_skip_clear(&m->skip);
	produce_fault_clear(&m->fault);
	produce_tap_clear(&m->tap);
	produce_times_clear(&m->times);
	split_list_clear(&m->splits);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->changed);
	mem_free(m);
}
