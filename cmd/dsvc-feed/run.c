/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/transfer.h"
#include "hosts.h"
#include "cli/exits.h"
#include "cli/quit.h"
#include "cli/report.h"
#include "cli/stop.h"
#include "value/mp.h"

#define RUN_SAVE_NS 1000000000ll

/* Callbacks */

static enum status
run_ready(void *arg, const char *endpoint, struct err *e)
{
	struct feed_run *r = arg;

	return ready_say(&r->o->ready, endpoint, e);
}

/* {step, core, result} around the answer of one core. */
static enum status
run_step_result(struct feed_run *r, uint64_t step, uint32_t core, const uint8_t *p, size_t len, struct err *e)
{
	struct buf b = { 0 };
	uint8_t *w = buf_room(&b, 64 + len), *start = w;

	w = mp_put_record_head(w, 3);
	w = mp_put_uint(mp_put_text(w, "step", 4), step);
	w = mp_put_uint(mp_put_text(w, "core", 4), core);
	w = mp_put_text(w, "result", 6);
	memcpy(w, p, len);
	enum status st = output_bytes(r->out, start, (size_t)(w - start) + len, 1, e);
	buf_clear(&b);
	return st;
}

static enum status
run_results(void *arg, uint64_t step, uint32_t core, const uint8_t *p, size_t len, uint64_t count, struct err *e)
{
	struct feed_run *r = arg;

	if (r->o->results == FEED_RESULTS_STEP)
		return run_step_result(r, step, core, p, len, e);
	return output_bytes(r->out, p, len, count, e);
}

static bool
run_due(void *arg, uint64_t step, enum feed_keep when)
{
	struct feed_run *r = arg;

	if (!r->o->checkpoint || when >= FEED_KEEP_LAST)
		return r->o->checkpoint;
	if (r->o->save_every)
		return step % (uint64_t)r->o->save_every == 0;
	if (r->o->loop || r->o->loop_ns)
		return when == FEED_KEEP_LOOP;
	int64_t now = clock_mono_ns();
	if (now - r->saved_ns < RUN_SAVE_NS)
		return false;
	r->saved_ns = now; /* it may be kept later */
	return true;
}

static enum status
run_position(void *arg, const struct feed_place *place, const struct feed_what *what, enum feed_keep when,
	     struct err *e)
{
	struct feed_run *r = arg;
	struct buf b = { 0 };
	enum status st = r->out ? output_sync(r->out, &r->bytes, e) : ST_OK;

	feed_place_encode(place, what, &b);
	if (st == ST_OK)
		st = keep_add(&r->keep, place->step, r->bytes, &b, when == FEED_KEEP_EARLY, e);
	buf_clear(&b);
	r->saved_ns = clock_mono_ns();
	return st;
}

static void
run_stepped(void *arg, uint64_t step, uint64_t rows)
{
	struct feed_run *r = arg;

	show_step(&r->show, step, rows);
}

static void
run_say(void *arg, const char *text)
{
	(void)arg;
	log_say(LOG_WARN, "%s", text);
}

/* One write a line, so that lines of several cores do not mix. */
static void
run_heard(void *arg, uint32_t core, const char *line, size_t n)
{
	struct buf b = { 0 };

	(void)arg;
	buf_printf(&b, "core %u: ", core);
	buf_put(&b, line, n);
	transfer_write(STDERR_FILENO, b.data, b.len);
	buf_clear(&b);
}

static void
run_failure(void *arg, const struct op_failure *f)
{
	struct feed_run *r = arg;

	book_failure(&r->book, f);
}

static void
run_passed(void *arg, const struct msg_done *done)
{
	struct feed_run *r = arg;

	book_pass(&r->book, done);
}

/* The start */

static enum status
run_resume(struct feed_run *r, struct feed_host_conf *c, struct err *e)
{
	struct feed_opts *o = r->o;
	const struct kept_place *k = NULL;
	r->checkpoint = hosts_path(o, o->checkpoint);
	enum status st = keep_load(&r->keep, r->checkpoint, (size_t)o->keep, e);

	if (st != ST_OK)
		return st;
	if (o->checkpoint && o->from_given && (r->keep.n || o->from)) {
		st = keep_find(&r->keep, (uint64_t)o->from, &k, e);
		if (st != ST_OK)
			return st;
	} else if (r->keep.n) {
		k = &r->keep.v[r->keep.n - 1];
	} else if (o->from_given) {
		c->over = (uint64_t)o->from;
		c->placed = true;
		if (c->over && c->until > c->over)
			log_say(LOG_WARN, "the rows of %" PRIu64 " step%s are passed over: no position is kept (--checkpoint)", c->over,
				str_s(c->over));
	}
	if (!k)
		return ST_OK;
	c->placed = true;
	r->bytes = k->bytes;
	st = feed_place_decode(k->position.data, k->position.len, &c->begin, &c->what, e);
	if (st != ST_OK)
		err_wrap(e, "%s", r->checkpoint);
	return st;
}

enum status
feed_run_open(struct feed_run *r, struct feed_opts *o, struct feed_host_conf *c, struct err *e)
{
	r->o = o;
	r->began_ns = r->saved_ns = clock_mono_ns();
	c->arg = r;
	c->ready = run_ready;
	c->results = run_results;
	c->done = run_stepped;
	c->keep = run_position;
	c->due = run_due;
	c->say = run_say;
	c->heard = run_heard;
	c->source.failure = run_failure;
	c->source.passed = run_passed;
	c->source.arg = r;
	c->source.max_errors = o->job.limited ? o->job.max_errors : UINT64_MAX;
	show_begin(&r->show, o);
	enum status st = book_open(&r->book, o->errors, e);
	if (st == ST_OK)
		st = run_resume(r, c, e);
	if (st != ST_OK || !o->results)
		return st;
	r->output = hosts_path(o, o->output);
	struct output_conf oc = { .path = r->output, .format = (enum format_kind)o->format, .watch = true,
		.in_place = o->checkpoint && o->output, .keep = r->bytes };
	return output_open(&oc, &r->out, e);
}

/* The end */

static void
run_stats(const struct feed_run *r)
{
	double s = (double)(clock_mono_ns() - r->began_ns) / 1e9;
	const struct feed_host_end *x = &r->end;

	fprintf(stderr, "dsvc-feed: %" PRIu64 " step%s, %" PRIu64 " row%s in %.3f s (%.0f rows/s); cores "
		"waited for data %.0f %% of "
		"the time, data for cores %.0f %%\n", x->steps, str_s(x->steps), x->rows, str_s(x->rows), s,
		s > 0 ? (double)x->rows / s : 0.0,
		(double)x->starved_ns / 1e7 / s, (double)x->full_ns / 1e7 / s);
}

static void
run_padded(uint64_t rows, uint64_t of)
{
	log_say(LOG_WARN, "the last step has %" PRIu64 " of %" PRIu64 " rows, the others are padding (--tail, --mask)",
		rows, of);
}

/* `37 rows are`, of the last ones; into 48 bytes. */
static const char *
run_rows(uint64_t n, char *out)
{
	if (n == 1)
		return "row is";
	snprintf(out, 48, "%" PRIu64 " rows are", n);
	return out;
}

/* Several hosts each tell of the whole step. */
static void
run_tail(const struct feed_run *r)
{
	const struct feed_host_end *x = &r->end;
	enum feed_tail tail = opts_tail(r->o);
	char rows[48];

	if (r->book.dropped)
		log_say(LOG_WARN, "the last %s no whole step and %s dropped", run_rows(r->book.dropped, rows),
			r->book.dropped == 1 ? "was" : "were");
	if (r->book.added && r->o->job.tail_of && tail == FEED_PAD)
		log_say(LOG_WARN, "the last steps of streams are short: %s padding (--tail-of, --mask)",
			run_rows(r->book.added, rows));
	else if (r->book.added && r->o->batched && tail == FEED_PAD)
		run_padded((uint64_t)r->o->batch - r->book.added, (uint64_t)r->o->batch);
	if (!x->tail || r->o->job.tail_of || (r->book.added && r->o->batched))
		return;
	if (tail == FEED_DROP)
		log_say(LOG_WARN, "the last %s no whole step of %" PRIu64 " and %s dropped", run_rows(x->dropped, rows),
			x->tail_of, x->dropped == 1 ? "was" : "were");
	else if (tail == FEED_PAD)
		run_padded(x->tail, x->tail_of);
}

/* Prints the cause, and what else was reported. Gives the code. */
static int
run_blame(const struct feed_run *r, const struct err *e)
{
	struct err shown = *e;

	shown.kind = ST_DATA; /* a core's own status may be one that says nothing */
	report(feed_program.name, &shown);
	for (size_t i = 0; i < r->end.n_then && !r->o->quiet; i++)
		log_say(LOG_WARN, "  then: %s", r->end.then[i].text);
	return (int)e->kind;
}

static enum status
run_close(struct feed_run *r, bool well, struct err *e)
{
	struct err more = { 0 };
	enum status st = r->out ? output_close(&r->out, well, e) : ST_OK, closed = book_close(&r->book, &more);

	show_end(&r->show);
	if (st != ST_OK || closed == ST_OK)
		return st;
	*e = more;
	return closed;
}

/* A host that has done all before does not come to the job again, and the others cannot begin without it. */
static void
run_alone(const struct feed_host_conf *c)
{
	uint64_t from = c->begin.step + c->over;

	if (c->hosts < 2 || !c->placed || (c->until > from && c->begin.epoch <= c->fill.epochs))
		return;
	log_say(LOG_WARN, "this host has done all of its %" PRIu64 " step%s, and does not come to the job again; if "
		"another host has not, start all with its step: --from STEP", from, str_s(from));
}

/* The last step is done already: no command is started. */
static bool
run_nothing(const struct feed_host_conf *c)
{
	uint64_t from = c->begin.step + c->over;

	if (!c->argv || c->until > from)
		return false;
	log_say(LOG_INFO, "nothing to do: %" PRIu64 " steps are done, and it is to stop at step %" PRIu64, from, c->until);
	return true;
}

int
feed_run(struct feed_run *r, const struct feed_host_conf *c)
{
	struct err e = { 0 }, last = { 0 };

	run_alone(c);
	enum status st = run_nothing(c) ? ST_OK : feed_host_run(c, &r->end, &e);
	enum status closed = run_close(r, st == ST_OK && !stop_signal(), &last);
	int code = 0;

	if (st != ST_OK && !(st == ST_AGAIN && stop_signal()))
		code = run_blame(r, &e);
	else if (st == ST_OK && closed != ST_OK)
		code = report(feed_program.name, &last);
	if (!code) {
		run_tail(r);
		if (r->end.end.why == FEED_END_STOP && log_most() >= LOG_INFO)
			log_say(LOG_INFO, "stopped after step %" PRIu64 "%s%s", r->end.end.step, r->end.why[0] ? ": " : "", r->end.why);
	}
	if (r->o->stats)
		run_stats(r);
	mem_free(r->end.then);
	if (!code && stop_signal()) {
		ready_end(&r->o->ready);
		quit_signal(stop_signal());
	}
	return !code && r->o->fail_empty && !r->end.rows ? 1 : code;
}

void
feed_run_clear(struct feed_run *r)
{
	struct err e;

	book_close(&r->book, &e);
	keep_clear(&r->keep);
	mem_free(r->checkpoint);
	mem_free(r->output);
}
