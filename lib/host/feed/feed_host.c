/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_host.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/wake.h"
#include "host/feed/feed_host_inner.h"
#include "host/feed/feed_sure.h"

enum {
	HOST_FIRST = 4,  /* descriptors before those of guests and seats */
	HOST_LOOK_MS = 1000, /* how often cores that wait for data have the reason looked for */
	HOST_FDS = 5     /* for each seat: socket, stdin, stdout, stderr, process */
};

void
feed_host_say(struct feed_host *h, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	h->c->say(h->c->arg, text);
}

void
feed_host_blame(struct feed_host *h, uint32_t core, const struct err *e)
{
	h->seat[core].closing = true;
	feed_core_failed(h->machine, h->now, core, FEED_SAID, e);
}

/* The start */

/* Where it begins is known once all cores have joined. */
static enum status
host_begin(struct feed_host *h, struct err *e)
{
	const struct feed_host_conf *c = h->c;
	struct feed_source_conf s = c->source;
	struct feed_fill_conf f = c->fill;
	uint64_t from = h->begin.step + c->over, until = c->until;

	if (c->steps < UINT64_MAX - from && from + c->steps < until)
		until = from + c->steps;
	if (until < from)
		until = from;
	feed_set_from(h->machine, from, until);
	h->until = until;
	h->kept = from;
	h->began = true;
	if (!h->begin.epoch)
		h->begin.epoch = c->epoch;
	s.epoch = h->begin.epoch;
	s.seed = h->what.seed;
	if (s.reader.job.seeded)
		s.reader.job.seed = h->what.seed;
	if (h->begin.base)
		s.position = &h->begin.base->position;
	s.skip = h->begin.skip;
	for (uint32_t i = 0; i < c->machine.cores; i++) {
		h->seat[i].done = from;
		feed_sent_begin(&h->seat[i].sent, from);
		if (c->as == FEED_AS_MEMORY)
			feed_seat_welcome(h, i);
	}
	enum status st = s.epoch > f.epochs ? ST_OK : feed_source_open(&s, &h->source, e);
	if (st == ST_OK)
		st = feed_fill_new(&f, h->machine, h->source, &h->begin, c->over, &h->fill);
	return st;
}

static enum status
host_start(struct feed_host *h, struct err *e)
{
	const struct feed_host_conf *c = h->c;
	enum status st = feed_seat_listen(h, e);

	for (uint32_t i = 0; c->argv && i < c->machine.cores && st == ST_OK; i++)
		st = feed_child_start(h, i, e);
	if (st == ST_OK && c->ready)
		st = c->ready(c->arg, c->listen ? c->listen : "", e);
	for (uint32_t i = 0; st == ST_OK && c->as != FEED_AS_MEMORY && i < c->machine.cores; i++)
		feed_pipe_join(h, i);
	return st;
}

/* Actions of the machine */

enum status
feed_host_keep(struct feed_host *h, const struct feed_place *place, enum feed_keep when, struct err *e)
{
	struct feed_place at = *place;

	at.base = feed_base_ref(place->base);
	if (h->c->fill.lag)
		feed_fill_exact(h->fill, &at);
	enum status st = h->c->keep(h->c->arg, &at, &h->what, when, e);
	if (h->c->fill.lag && st == ST_OK) {
		feed_fill_safe(h->fill);
		h->kept = at.step;
	}
	feed_base_unref(&at.base);
	return st;
}

enum status
feed_host_done(struct feed_host *h, uint64_t step, enum feed_keep when, struct err *e)
{
	const struct feed_host_conf *c = h->c;
	const struct feed_place *place = feed_fill_place(h->fill, step);

	h->done = step;
	h->done_last = when == FEED_KEEP_LAST;
	c->done(c->arg, step, place ? place->rows : UINT64_MAX);
	if (!place || !c->due || !c->due(c->arg, step, when))
		return ST_OK;
	if (when == FEED_KEEP_EARLY || !feed_sure_waits(h, step))
		return feed_host_keep(h, place, when, e);
	feed_sure_push(h, place, when);
	return ST_OK;
}

static void
host_done(struct feed_host *h, uint64_t step, bool last_of_loop)
{
	enum feed_keep when = last_of_loop ? FEED_KEEP_LOOP : FEED_KEEP_SOME;
	struct feed_end end;
	struct err e;

	feed_end(h->machine, &end);
	if (feed_host_done(h, step, step == end.step ? FEED_KEEP_LAST : when, &e) != ST_OK)
		feed_core_failed(h->machine, h->now, FEED_ANY_CORE, FEED_SAID, &e);
}

static void
host_results(struct feed_host *h, uint64_t step)
{
	struct err e;

	if (feed_answer_pass(h, step, &e) != ST_OK)
		feed_core_failed(h->machine, h->now, FEED_ANY_CORE, FEED_SAID, &e);
}

static void
host_slow(struct feed_host *h, const struct feed_action *a)
{
	const char *why = a->core == FEED_ANY_CORE && h->source ? feed_source_waits(h->source) : NULL;

	if (a->core == FEED_ANY_CORE) {
		h->parched = true;
		h->parched_why = why != NULL;
	}
	feed_host_say(h, "%s%s%s", a->text, why ? ": " : "", why ? why : "");
}

/* While cores wait for data the reason may become known. */
static void
host_parched(struct feed_host *h)
{
	const char *why = h->parched && !h->parched_why && h->source ? feed_source_waits(h->source) : NULL;

	if (!why)
		return;
	h->parched_why = true;
	feed_host_say(h, "%s", why);
}

static void
host_act(struct feed_host *h, const struct feed_action *a)
{
	bool pipes = h->c->as != FEED_AS_MEMORY;

	switch (a->kind) {
	case FEED_DO_BATCH:
		h->parched = false;
		pipes ? feed_pipe_batch(h, a) : feed_seat_batch(h, a);
		break;
	case FEED_DO_RESULTS: host_results(h, a->step); break;
	case FEED_DO_DONE: host_done(h, a->step, a->batch.flags & FEED_LAST_OF_LOOP); break;
	case FEED_DO_END: pipes ? feed_pipe_close(h, a->core) : feed_seat_end(h, a->core); break;
	case FEED_DO_ERROR: pipes ? feed_pipe_close(h, a->core) : feed_seat_error(h, a->core); break;
	case FEED_DO_TERM: feed_child_signal(h, a->core, SIGTERM); break;
	case FEED_DO_KILL: feed_child_signal(h, a->core, SIGKILL); break;
	case FEED_DO_START: feed_child_again(h, a->core); break;
	case FEED_DO_SLOW: host_slow(h, a); break;
	case FEED_DO_OVER: h->over = true; break;
	case FEED_DO_NONE: break;
	}
}

static void
host_acts(struct feed_host *h)
{
	struct feed_action a;

	while (feed_action(h->machine, &a))
		host_act(h, &a);
	for (uint32_t i = 0; i < h->c->machine.cores; i++)
		if (feed_link_waits(&h->seat[i].link))
			feed_seat_flush(h, i);
}

/* Data */

static void
host_job(struct feed_host *h)
{
	const struct reader_host_job *job = h->source ? feed_source_job(h->source) : NULL;

	if (!job || !job->dataset || (h->dataset && !strcmp(h->dataset, job->dataset)))
		return;
	mem_free(h->dataset);
	h->what.dataset = h->dataset = mem_strdup(job->dataset);
}

/* The time for which cores waited for data, and that for which the data waited for cores. */
static void
host_clock(struct feed_host *h, bool dry, bool full)
{
	if (h->starved_at)
		h->end->starved_ns += h->now - h->starved_at;
	if (h->full_at)
		h->end->full_ns += h->now - h->full_at;
	h->starved_at = dry ? h->now : 0;
	h->full_at = full ? h->now : 0;
}

static void
host_fill(struct feed_host *h)
{
	struct err e = { 0 };
	enum status st = ST_OK;

	if (!h->began && feed_joined(h->machine))
		st = host_begin(h, &e);
	h->dry = false;
	if (h->fill && !h->filled && st == ST_OK) {
		st = feed_fill_run(h->fill, h->now, &h->dry, &e);
		host_job(h);
		host_clock(h, st == ST_AGAIN && h->dry, st == ST_AGAIN && !h->dry);
	}
	h->filled = h->filled || st == ST_END;
	if (st == ST_OK || st == ST_AGAIN || st == ST_END)
		return;
	h->filled = true;
	feed_data_failed(h->machine, h->now, &e);
}

/* The loop */

static struct pollfd
host_fd(int fd, bool in, bool out)
{
	return (struct pollfd){ .fd = in || out ? fd : -1, .events = (short)((in ? POLLIN : 0) | (out ? POLLOUT : 0)) };
}

static int
host_timeout(const struct feed_host *h)
{
	int64_t at = feed_deadline(h->machine), keep = feed_keep_deadline(h), sure = feed_sure_deadline(h);

	at = keep < at ? keep : at;
	at = sure < at ? sure : at;
	/* Found while messages were sent, or positions kept. */
	if (feed_acts(h->machine))
		return 0;
	/* Cores may have made room since it was filled, without anybody who would wake us. */
	if (h->fill && !h->filled && !h->dry && feed_room(h->machine))
		return 0;
	if (at == INT64_MAX)
		return h->parched && !h->parched_why ? HOST_LOOK_MS : -1;
	int64_t ms = (at - clock_mono_ns() + 999999) / 1000000;
	int64_t most = h->parched && !h->parched_why ? HOST_LOOK_MS : 3600000;

	return ms < 0 ? 0 : ms > most ? (int)most : (int)ms;
}

static void
host_seat_events(struct feed_host *h, uint32_t core, const struct pollfd *p)
{
	struct feed_seat *s = &h->seat[core];

	if (p[0].revents & (POLLIN | POLLHUP | POLLERR) && s->link.fd >= 0)
		feed_seat_read(h, core);
	if (p[1].revents && s->in >= 0)
		feed_pipe_write(h, core);
	if (p[2].revents && s->out >= 0)
		feed_pipe_read(h, core);
	if (p[3].revents && s->err >= 0)
		feed_pipe_hear(h, core, false);
	if (p[4].revents && s->child.pid)
		feed_child_reap(h, core);
}

static void
host_stopped(struct feed_host *h)
{
	h->signalled = true;
	feed_host_stop(h, FEED_END_SIGNAL, "a signal");
}

static void
host_wait(struct feed_host *h, struct pollfd *p)
{
	uint32_t n = h->c->machine.cores;
	size_t guests = h->n_guest, at = HOST_FIRST;

	p[0] = host_fd(h->c->stop_fd, !h->signalled && h->c->stop_fd >= 0, false);
	p[1] = host_fd(h->listener, h->listener >= 0, false);
	p[2] = host_fd(h->source ? feed_source_fd(h->source) : -1, h->dry, false);
	p[3] = host_fd(h->source ? feed_source_stop_fd(h->source) : -1, !h->agreed, false);
	for (size_t i = 0; i < guests; i++)
		p[at++] = host_fd(h->guest[i].fd, true, false);
	for (uint32_t i = 0; i < n; i++) {
		const struct feed_seat *s = &h->seat[i];

		p[at++] = host_fd(s->link.fd, true, feed_link_waits(&s->link));
		p[at++] = host_fd(s->in, false, s->text_at < s->text.len);
		p[at++] = host_fd(s->out, true, false);
		p[at++] = host_fd(s->err, true, false);
		p[at++] = host_fd(s->pidfd, true, false);
	}
	poll(p, at, host_timeout(h));
	h->now = clock_mono_ns();
	if (p[0].revents)
		host_stopped(h);
	for (uint32_t i = 0; i < n; i++)
		host_seat_events(h, i, &p[HOST_FIRST + guests + i * HOST_FDS]);
	for (size_t i = guests; i-- > 0;)
		if (p[HOST_FIRST + i].revents)
			feed_seat_guest(h, i);
	if (p[1].revents)
		feed_seat_accept(h);
	if (feed_deadline(h->machine) > h->now)
		return;
	for (uint32_t i = 0; i < n; i++)
		feed_pipe_look(h, i);
	feed_tick(h->machine, h->now);
}

static void
host_keep(struct feed_host *h)
{
	struct err e;

	if ((h->n_waiting && feed_sure_run(h, false, &e) != ST_OK) || feed_keep_run(h, &e) != ST_OK)
		feed_core_failed(h->machine, h->now, FEED_ANY_CORE, FEED_SAID, &e);
}

/* For the dispatcher's report. */
static void
host_tell(struct feed_host *h)
{
	struct reader_host *r = h->source ? feed_source_reader(h->source) : NULL;
	uint32_t last = feed_last(h->machine);
	struct reader_feeds now = { h->c->machine.cores, feed_done(h->machine), last == FEED_ANY_CORE ? 0 : last + 1 };

	if (!r || (r == h->told_reader && now.step == h->told.step && now.last == h->told.last))
		return;
	h->told_reader = r;
	h->told = now;
	reader_host_feeds(r, &now);
}

static void
host_loop(struct feed_host *h)
{
	struct pollfd *p = mem_array(HOST_FIRST + 64 + h->c->machine.cores * (size_t)HOST_FDS, sizeof *p);

	while (!h->over) {
		/* Steps that are filled and may be told of now are not to wait for others to be filled. */
		if (feed_acts(h->machine))
			host_acts(h);
		if (!h->over)
			host_fill(h);
		feed_host_agree(h);
		host_acts(h);
		host_keep(h);
		host_tell(h);
		host_parched(h);
		if (!h->over)
			host_wait(h, p);
	}
	mem_free(p);
}

/* The end */

static enum status
host_end(struct feed_host *h, struct err *e)
{
	const struct feed_fault *cause = feed_cause(h->machine), *v;
	struct feed_host_end *end = h->end;
	size_t n = feed_faults(h->machine, &v);

	feed_end(h->machine, &end->end);
	snprintf(end->why, sizeof end->why, "%s", end->end.text);
	end->end.text = end->why;
	end->steps = feed_done(h->machine);
	if (h->fill) {
		end->rows = feed_fill_rows(h->fill);
		end->tail = feed_fill_tail(h->fill, &end->tail_of);
		end->dropped = feed_fill_dropped(h->fill);
	}
	struct err unkept;
	if (h->n_waiting && feed_sure_run(h, false, cause ? &unkept : e) != ST_OK && !cause)
		return ST_NO;
	/* When a stop was asked for, all that was told may have been done already. */
	if (!cause && h->done && !h->done_last && feed_host_done(h, h->done, FEED_KEEP_LAST, e) != ST_OK)
		return ST_NO;
	if (!cause)
		return ST_OK;
	*e = cause->err;
	end->then = mem_array(n, sizeof *end->then);
	for (size_t i = 0; i < n; i++)
		if (&v[i] != cause && (v[i].core != cause->core || v[i].core == FEED_ANY_CORE) &&
		    v[i].ns - cause->ns < 1000000000)
			end->then[end->n_then++] = v[i].err;
	return ST_NO;
}

static void
host_clear(struct feed_host *h)
{
	for (uint32_t i = 0; i < h->c->machine.cores; i++)
		feed_child_clear(h, i);
	for (size_t i = 0; i < h->n_guest; i++)
		feed_link_clear(&h->guest[i]);
	mem_free(h->guest);
	mem_free(h->seat);
	mem_free(h->dataset);
	feed_sure_clear(h);
	feed_fill_free(&h->fill);
	feed_source_free(&h->source);
	if (h->listener >= 0) {
		close(h->listener);
		unlink(h->c->listen);
	}
	feed_place_clear(&h->begin);
	json_free(&h->json);
	feed_free(&h->machine);
}

enum status
feed_host_run(const struct feed_host_conf *c, struct feed_host_end *end, struct err *e)
{
	struct feed_host h = { .c = c, .what = c->what, .begin = c->begin, .listener = -1, .end = end,
		.now = clock_mono_ns() };

	if (h.begin.base)
		h.begin.base->refs++;
	h.json = json_new();
	h.seat = mem_array(c->machine.cores, sizeof *h.seat);
	for (uint32_t i = 0; i < c->machine.cores; i++) {
		struct feed_seat *s = &h.seat[i];

		s->link.fd = s->pidfd = s->in = s->peek = s->out = s->err = -1;
		child_init(&s->child);
	}
	h.machine = feed_new(&c->machine, h.now);
	enum status st = host_start(&h, e);
	if (st == ST_OK) {
		host_loop(&h);
		st = host_end(&h, e);
	} else {
		st = ST_NO;
	}
	host_clear(&h);
	return st;
}
