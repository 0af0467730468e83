/* SPDX-License-Identifier: MIT */
#include "base/trace.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/trace_inner.h"
#include "base/wake.h"

/* A span grows to the first length; calls that lie further apart than the second are not one. */
#define TRACE_SPAN_NS 4000000
#define TRACE_GAP_NS 100000
/* Shorter ones are joined with those that follow them closely, whoever's they are. */
#define TRACE_LEAST_NS 200000

atomic_bool trace_is_on;
struct trace_rings trace_rings = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };

static _Thread_local struct trace_ring *trace_own;
static pthread_key_t trace_key;
static pthread_once_t trace_once = PTHREAD_ONCE_INIT;

static void
trace_text(char *to, const char *s)
{
	size_t n = s ? strnlen(s, TRACE_TEXT - 1) : 0;

	memcpy(to, s ? s : "", n);
	to[n] = '\0';
}

static void
trace_put(struct trace_ring *r, const struct trace_event *ev)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t used = head - atomic_load_explicit(&r->tail, memory_order_acquire);

	if (used == TRACE_RING) {
		atomic_fetch_add_explicit(&r->lost, 1, memory_order_relaxed);
		return;
	}
	r->event[head % TRACE_RING] = *ev;
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	if (used == TRACE_RING / 2)
		wake_set(trace_rings.wake);
}

/* Whether a call that begins now belongs to the group. */
static bool
trace_joins(struct trace_group *g, const void *who, int64_t now)
{
	if (now - (g->event.at + g->event.length) > TRACE_GAP_NS)
		return false;
	if (g->who && g->who != who && g->event.length < TRACE_LEAST_NS)
		g->who = NULL;
	return !g->who || g->who == who;
}

/* Adds a call that ends now to the group, which it may begin. */
static void
trace_add(struct trace_group *g, const struct trace_event *call, const char *name)
{
	struct trace_event *ev = &g->event;

	if (!g->runs++) {
		*ev = *call;
		trace_text(ev->text, name);
	} else {
		ev->length = call->at + call->length - ev->at;
		ev->number[0] += call->number[0];
		ev->number[1] += call->number[1];
		ev->number[3] += call->number[3];
	}
	ev->number[2] = g->runs;
	size_t n = strlen(ev->text);
	if (!g->who && name && !strstr(ev->text, name) && n + 4 < TRACE_TEXT)
		snprintf(ev->text + n, TRACE_TEXT - n, " + %s", name);
}

/* Puts the groups of this depth and below, which lie in them. */
static void
trace_close_groups(struct trace_ring *r, unsigned depth)
{
	for (unsigned k = depth; k < r->deepest; k++) {
		struct trace_group *g = &r->group[k];

		if (g->runs)
			trace_put(r, &g->event);
		g->runs = 0;
	}
	if (r->deepest > depth)
		r->deepest = depth;
}

static void
trace_close_output(struct trace_ring *r)
{
	if (r->output.runs)
		trace_put(r, &r->output.event);
	r->output.runs = 0;
}

static void
trace_thread_over(void *arg)
{
	struct trace_ring *r = arg;

	trace_own = NULL;
	trace_close_groups(r, 0);
	trace_close_output(r);
	atomic_store_explicit(&r->over, true, memory_order_release);
}

static void
trace_make_key(void)
{
	pthread_key_create(&trace_key, trace_thread_over);
}

/* The ring of a thread that has none: its name stands before the writer sees it. */
static struct trace_ring *
trace_ring_new(const char *name)
{
	struct trace_ring *r = mem_zalloc(sizeof *r);

	r->tid = (int)syscall(SYS_gettid);
	trace_text(r->name, name);
	pthread_once(&trace_once, trace_make_key);
	pthread_setspecific(trace_key, r);
	trace_own = r;
	pthread_mutex_lock(&trace_rings.lock);
	r->next = trace_rings.first;
	trace_rings.first = r;
	pthread_mutex_unlock(&trace_rings.lock);
	return r;
}

static struct trace_ring *
trace_ring(void)
{
	return trace_own ? trace_own : trace_ring_new("thread");
}

void
trace_thread(const char *name)
{
	if (trace_on() && !trace_own)
		trace_ring_new(name);
}

void
trace_enter(const void *who, int64_t now)
{
	struct trace_ring *r = trace_ring();
	unsigned d = r->depth++;

	if (d >= TRACE_DEPTH)
		return;
	struct trace_group *g = &r->group[d];
	r->began[d] = now;
	if (g->runs && !trace_joins(g, who, now))
		trace_close_groups(r, d);
}

void
trace_leave(const void *who, enum trace_kind kind, const char *name, uint64_t elements, uint64_t bytes, int64_t now)
{
	struct trace_ring *r = trace_ring();
	unsigned d = --r->depth;

	if (d >= TRACE_DEPTH)
		return;
	struct trace_group *g = &r->group[d];
	int64_t began = r->began[d];
	struct trace_event call = { .at = began, .length = now - began, .kind = (uint8_t)kind, .phase = 'X',
				    .number = { elements, bytes, 0, (uint64_t)(now - began) } };
	if (!g->runs)
		g->who = who;
	if (r->deepest <= d)
		r->deepest = d + 1;
	trace_add(g, &call, name);
	if (g->event.length >= TRACE_SPAN_NS)
		trace_close_groups(r, d);
}

void
trace_output(int64_t began, int64_t ended, uint64_t elements, uint64_t bytes)
{
	struct trace_ring *r = trace_ring();
	struct trace_group *g = &r->output;
	struct trace_event call = { .at = began, .length = ended - began, .kind = TRACE_OUTPUT, .phase = 'X',
				    .number = { elements, bytes, 0, (uint64_t)(ended - began) } };

	if (g->runs && !trace_joins(g, g, began))
		trace_close_output(r);
	g->who = g;
	trace_add(g, &call, NULL);
	if (g->event.length >= TRACE_SPAN_NS)
		trace_close_output(r);
	trace_gauge(TRACE_ELEMENTS, (int64_t)elements);
	trace_gauge(TRACE_BYTES, (int64_t)bytes);
}

void
trace_flush(void)
{
	if (!trace_own)
		return;
	trace_close_groups(trace_own, trace_own->depth);
	trace_close_output(trace_own);
}

int64_t
trace_begin(void)
{
	return trace_on() ? clock_mono_ns() : 0;
}

void
trace_span(int64_t began, enum trace_kind kind, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	if (!began)
		return;
	struct trace_event ev = { .at = began, .length = clock_mono_ns() - began, .kind = (uint8_t)kind, .phase = 'X',
				  .number = { a, b, c } };
	trace_text(ev.text, name);
	trace_put(trace_ring(), &ev);
}

static void
trace_put_task(char phase, enum trace_kind kind, uint64_t id, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	if (!trace_on())
		return;
	struct trace_event ev = { .at = clock_mono_ns(), .kind = (uint8_t)kind, .phase = (uint8_t)phase,
				  .number = { a, b, c, 0, id } };
	trace_text(ev.text, name);
	trace_put(trace_ring(), &ev);
}

void
trace_task(enum trace_kind kind, uint64_t id, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	trace_put_task('b', kind, id, name, a, b, c);
}

void
trace_task_over(enum trace_kind kind, uint64_t id, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	trace_put_task('e', kind, id, name, a, b, c);
}

void
trace_gauge_add(enum trace_gauge g, int64_t n)
{
	atomic_fetch_add_explicit(&trace_rings.gauge[g], n, memory_order_relaxed);
}
