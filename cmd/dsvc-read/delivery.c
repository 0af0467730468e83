/* SPDX-License-Identifier: MIT
 *
 * From the service to the output. What is written is acknowledged, and nothing
 * is acknowledged that is not written.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/trace.h"
#include "base/wake.h"
#include "cli/halt.h"
#include "cli/stop.h"
#include "finish.h"
#include "host/service.h"
#include "read.h"
#include "what.h"
#include "value/mp.h"
#include "op/pull.h"

enum {
	DELIVERY_SAVE_MS = 250,
	DELIVERY_SAVE_DRY_MS = 50,
	DELIVERY_SAVE_BYTES = 4 << 20
};

static void
delivery_gone(void *arg)
{
	struct delivery *p = arg;

	atomic_store(&p->gone, true);
	wake_set(p->gone_fd); /* never cleared */
}

/* Some formats cannot be continued where they were left. */
static enum status
delivery_check(const struct read_options *o, struct err *e)
{
	struct halt halt;
	enum status st = halt_parse(o->halt, &halt, e);
	if (st != ST_OK || !o->checkpoint)
		return st;
	if (format_is_framed((enum format_kind)o->format)) {
		err_set(e, ST_USAGE, "--checkpoint: this format has a beginning or an end, and cannot be continued");
		err_help(e, "use text, ndjson, raw, nul, msgpack or tfrecord");
		return ST_USAGE;
	}
	if (o->epochs > 1)
		return err_set(e, ST_USAGE, "--checkpoint works on one pass; use --epoch instead of --epochs");
	if (o->output && o->ack_fd >= 0)
		return err_set(e, ST_USAGE, "--ack-fd is for a consumer and --output for a file: give only one of them");
	return ST_OK;
}

enum status
delivery_init(struct delivery *p, const struct read_options *o, struct err *e)
{
	p->o = o;
	p->left = o->count == INT64_MAX ? UINT64_MAX : (uint64_t)o->count;
	p->gone_fd = wake_open();
	show_begin(p);
	p->unbuffered = !o->nul && (format_is_blind((enum format_kind)o->format));
	p->acks.fd = -1;
	enum status st = delivery_check(o, e);
	if (st == ST_OK)
		st = acks_open(&p->acks, o->ack_fd, e);
	if (st == ST_OK && o->checkpoint)
		st = saved_load(o->checkpoint, &p->saved, e);
	if (st == ST_OK)
		st = given_load(&o->checkpoints, &p->given, e);
	p->begun = p->saved.elements;
	if (st == ST_OK && p->saved.there && isatty(STDERR_FILENO) && !o->quiet)
		log_say(LOG_WARN, "resuming after %llu element%s: %s", (unsigned long long)p->begun, p->begun == 1 ? "" : "s",
			o->checkpoint);
	return st;
}

enum status
delivery_open(struct delivery *p, const struct type *type, struct err *e)
{
	struct output_conf c = { .path = p->o->output, .type = type, .watch = true, .part = true,
		.rest = p->job ? "reading its job again gives the rest" : NULL,
		.format = p->o->nul ? FORMAT_NUL : (enum format_kind)p->o->format, .form = p->o->form,
		.gone = delivery_gone, .arg = p, .blocked = &p->blocked,
		.in_place = p->o->checkpoint != NULL, .keep = p->saved.bytes };
	c.form.json = p->json;
	json_rules_say(&c.form.json, &p->o->json);
	return p->out ? ST_OK : output_open(&c, &p->out, e);
}

static enum status
delivery_poll(struct delivery *p, int fd, int timeout_ms, struct err *e)
{
	/* before anything has come there is no output that would look after its pipe */
	struct pollfd f[6] = { { fd, POLLIN, 0 }, { stop_fd(), POLLIN, 0 },
			       { p->gone_fd, POLLIN, 0 }, { p->acks.fd, POLLIN, 0 },
			       { progress_fd(), POLLIN, 0 }, { STDOUT_FILENO, 0, 0 } };
	int64_t began = trace_begin();
	trace_flush();
	poll(f, p->out || p->o->output ? 5 : 6, progress_wait(&p->progress, timeout_ms));
	trace_span(began, TRACE_NOTHING, NULL, 0, 0, 0);
	if (f[5].revents & POLLERR)
		delivery_gone(p);
	if (f[1].revents || f[2].revents || (f[5].revents & POLLERR))
		return ST_AGAIN;
	return f[3].revents ? acks_read(&p->acks, e) : ST_OK;
}

/* c NULL: there is no job of its own to tell about. */
static void
delivery_show(struct delivery *p, struct reader_host *c)
{
	struct reader_stats s;

	if (!progress_due(&p->progress))
		return;
	if (c)
		reader_host_stats(c, &s);
	show_progress(p, c ? &s : NULL);
}

enum status
delivery_wait(struct delivery *p, int fd, struct err *e)
{
	delivery_show(p, NULL);
	return delivery_poll(p, fd, -1, e);
}

static bool
delivery_stopped(const struct delivery *p)
{
	return atomic_load(&p->gone) || atomic_load(stop_flag());
}

/* Acknowledges elements that are written or, with --ack-fd, that the consumer has finished. */
static enum status
delivery_tell(struct delivery *p, struct reader_host *c, struct err *e)
{
	uint64_t good = output_written(p->out), done;
	if (p->o->ack_fd >= 0 && p->acks.finished < good)
		good = p->acks.finished;
	enum status st = p->logged ? logged_tell(p->logged, good, e) : ST_OK;
	if (st != ST_OK)
		return st;
	p->safe = p->logged ? logged_sum(p->logged).told : good > p->safe ? good : p->safe;
	done = p->logged ? logged_sum(p->logged).records : p->safe;
	if (done > p->told)
		marks_tell(&p->marks, c, p->told, done, p->begun);
	p->told = done;
	return ST_OK;
}

static enum status
delivery_save_now(struct delivery *p, struct reader_host *c, struct err *e)
{
	reader_host_position(c, &p->saved.position);
	p->saved.elements = p->begun + p->safe;
	enum status st = p->logged ? logged_sync(p->logged, &p->saved.log, e) : ST_OK;
	if (st == ST_OK)
		st = saved_store(p->o->checkpoint, &p->saved, e);
	if (st != ST_OK)
		return st;
	reader_host_saved(c);
	p->saved.there = true;
	p->told_saved = p->told;
	p->bytes_saved = p->bytes;
	p->saved_ns = clock_mono_ns();
	return ST_OK;
}

/* Saves the position after all that was told. */
static enum status
delivery_save(struct delivery *p, struct reader_host *c, struct err *e)
{
	if (!p->o->checkpoint || !p->out)
		return ST_OK;
	enum status st = output_sync(p->out, &p->saved.bytes, e);
	if (st == ST_OK)
		st = delivery_tell(p, c, e);
	if (st != ST_OK || p->told == p->told_saved)
		return st;
	return delivery_save_now(p, c, e);
}

/* How many ms until it is to be saved; -1: there is nothing to save. */
static int
delivery_save_due(const struct delivery *p, bool dry)
{
	if (!p->o->checkpoint || p->told == p->told_saved)
		return -1;
	if (p->bytes - p->bytes_saved >= DELIVERY_SAVE_BYTES)
		return 0;
	int64_t ms = (clock_mono_ns() - p->saved_ns) / 1000000;
	int64_t every = dry ? DELIVERY_SAVE_DRY_MS : DELIVERY_SAVE_MS;
	return ms >= every ? 0 : (int)(every - ms);
}

/* The first n elements of a piece, which has more. */
static enum status
delivery_cut(struct reader_host_piece *piece, uint64_t n, struct err *e)
{
	const uint8_t *at = piece->p, *end = piece->p + piece->len;
	for (uint64_t i = 0; i < n && at; i++)
		at = mp_check_next(at, end);
	if (!at)
		return err_set(e, ST_PROTO, "a worker sent malformed elements");
	piece->count = n;
	piece->len = (size_t)(at - piece->p);
	return ST_OK;
}

/* The type of the job's elements is known with its first piece or its end. */
static enum status
delivery_begin(struct delivery *p, struct reader_host *r, struct err *e)
{
	if (p->out)
		return ST_OK;
	struct types *arena = types_new();
	const char *text = reader_host_job(r)->type;
	const struct type *type = text && *text ? type_parse(arena, text, strlen(text), NULL) : NULL;
	struct logged_conf c = { p->o->joblog, p->o->halt, p->what && what_is_strict(p->what) };
	enum status st = read_records(p->o) ? logged_type(&type, e) : ST_OK;
	if (st == ST_OK)
		st = logged_open(&c, p->saved.log, &p->logged, e);
	if (st == ST_OK)
		st = delivery_open(p, type, e);
	types_free(&arena);
	return st;
}

/* The position was one of another number of consumers: we go on from a round that all of them had. */
static void
delivery_given(struct delivery *p, struct reader_host *c)
{
	struct reader_stats s;

	if (p->settled)
		return;
	p->settled = true;
	reader_host_stats(c, &s);
	if (s.given) {
		p->saved.there = false;
		p->saved.bytes = s.begin.bytes;
		p->begun = p->saved.elements = s.begin.elements;
	}
	if (s.given || (s.begin.rounds && !p->saved.there))
		log_say(LOG_WARN, "begins at round %llu", (unsigned long long)s.begin.rounds);
}

/* Nothing comes before a first position is safe: one that is killed without any would
 * be waited for. */
static enum status
delivery_first_save(struct delivery *p, struct reader_host *c, struct err *e)
{
	if (!p->o->checkpoint || !reader_host_opened(c))
		return ST_OK;
	delivery_given(p, c);
	if (p->saved.there)
		return ST_OK;
	enum status st = delivery_begin(p, c, e);
	return st == ST_OK ? delivery_save_now(p, c, e) : st;
}

/* Elements of the piece, as far as the next round that is to be marked: takes them off. */
static enum status
delivery_rounds(struct delivery *p, struct reader_host *c, struct reader_host_piece *piece, struct err *e)
{
	bool marks = p->o->job.checkpoint_rounds;
	uint64_t most = marks ? reader_host_mark_in(c, p->elements) : UINT64_MAX;
	struct reader_host_piece part = *piece;
	enum status st = part.count > most ? delivery_cut(&part, most, e) : ST_OK;
	int64_t began = trace_begin();
	if (st == ST_OK)
		st = output_bytes(p->out, part.p, part.len, part.count, e);
	if (st != ST_OK)
		return st;
	if (began)
		trace_output(began, clock_mono_ns(), part.count, part.len);
	p->elements += part.count;
	p->bytes += part.len;
	p->left -= part.count;
	piece->p += part.len;
	piece->len -= part.len;
	piece->count -= part.count;
	if (part.count == most)
		marks_add(&p->marks, p->elements, output_length(p->out));
	return ST_OK;
}

/* Records of runs: their answers. What is left of the job begins with a whole one. */
static enum status
delivery_records(struct delivery *p, const struct reader_host_piece *piece, struct err *e)
{
	bool goes_on = p->o->checkpoint || (p->job && *p->job);
	enum status st = logged_take(p->logged, p->out, piece, p->left, goes_on, e);
	struct logged_sum sum = logged_sum(p->logged);
	uint64_t n = sum.elements - p->elements;
	p->elements = sum.elements;
	p->bytes = sum.bytes;
	p->left -= st == ST_END || n > p->left ? p->left : n; /* --halt: no more are wanted */
	return st == ST_END ? ST_OK : st;
}

static enum status
delivery_add(struct delivery *p, struct reader_host *c, struct reader_host_piece *piece, struct err *e)
{
	enum status st = ST_OK;
	if (p->logged)
		return delivery_records(p, piece, e);
	if (piece->count > p->left)
		st = delivery_cut(piece, p->left, e);
	while (st == ST_OK && piece->count)
		st = delivery_rounds(p, c, piece, e);
	return st;
}

static enum status
delivery_piece(struct delivery *p, struct reader_host *c, struct reader_host_piece *piece,
	       struct err *e)
{
	enum status st = delivery_begin(p, c, e);
	if (st == ST_OK)
		st = delivery_add(p, c, piece, e);
	if (st != ST_OK)
		return atomic_load(&p->gone) ? ST_AGAIN : st;
	if (p->unbuffered)
		output_flush(p->out, e); /* so that it counts as written */
	if (p->acks.fd >= 0)
		st = acks_read(&p->acks, e);
	if (st == ST_OK)
		st = delivery_tell(p, c, e);
	if (st == ST_OK && delivery_save_due(p, false) == 0)
		st = delivery_save(p, c, e);
	return st != ST_OK ? st : p->left ? ST_OK : ST_END;
}

/* The consumer does not say any more what it has finished. */
static enum status
delivery_unfinished(struct delivery *p, struct err *e)
{
	if (!p->acks.ended || !p->out || p->safe == output_written(p->out))
		return ST_OK;
	err_set(e, ST_TEMP, "--ack-fd was closed when %llu of %llu elements were finished",
		(unsigned long long)p->safe, (unsigned long long)output_written(p->out));
	err_help(e, "the others will be delivered again");
	return ST_TEMP;
}

/* Nothing has come: what is there is shown before waiting. */
static enum status
delivery_dry(struct delivery *p, struct reader_host *c, struct err *e)
{
	enum status st = delivery_first_save(p, c, e);
	if (st != ST_OK)
		return st;
	if (p->out) {
		st = output_flush(p->out, e);
		if (st != ST_OK)
			return atomic_load(&p->gone) ? ST_AGAIN : st;
		st = delivery_tell(p, c, e);
		if (st == ST_OK)
			st = delivery_unfinished(p, e);
	}
	int due = delivery_save_due(p, true);
	if (st == ST_OK && due == 0) {
		st = delivery_save(p, c, e);
		due = -1;
	}
	return st == ST_OK ? delivery_poll(p, reader_host_fd(c), due, e) : st;
}

/* With --on-missed fail nothing more is wanted once something is missing. */
static enum status
delivery_missed(const struct delivery *p, struct reader_host *c, struct err *e)
{
	struct reader_stats s;

	if (!p->o->on_missed)
		return ST_OK;
	reader_host_stats(c, &s);
	return s.missed ? finish_missed(s.missed, e) : ST_OK;
}

/* Ends before the end: what is written is theirs, and no more is wanted. */
static enum status
delivery_leave(struct delivery *p, struct reader_host *c, enum status st, struct err *e)
{
	struct err other = { 0 };
	enum status last = ST_OK;
	if (p->out && st != ST_IO) {
		last = output_flush(p->out, &other);
		if (last == ST_OK)
			last = delivery_tell(p, c, &other);
		if (last == ST_OK)
			last = delivery_save(p, c, &other);
	}
	reader_host_close(c, p->o->checkpoint != NULL, READ_CLOSE_MS);
	if (st == ST_OK || st == ST_AGAIN || st == ST_END) {
		if (last != ST_OK && !atomic_load(&p->gone)) {
			*e = other;
			return last;
		}
		return p->left ? ST_AGAIN : ST_OK;
	}
	return st;
}

enum status
delivery_take_all(struct delivery *p, struct reader_host *c, struct err *e)
{
	struct reader_host_piece piece;
	enum status st = p->left ? ST_OK : ST_END;
	p->safe = p->out ? output_written(p->out) : 0;
	p->told = p->told_saved = p->logged ? logged_sum(p->logged).records : p->safe;
	p->saved_ns = clock_mono_ns();
	while (st == ST_OK && !delivery_stopped(p)) {
		delivery_show(p, c);
		if ((st = delivery_missed(p, c, e)) != ST_OK)
			break;
		st = reader_host_take(c, &piece, e);
		if (st == ST_OK)
			st = delivery_piece(p, c, &piece, e);
		else if (st == ST_AGAIN)
			st = delivery_dry(p, c, e);
	}
	progress_end(&p->progress);
	if (st == ST_END && p->left)
		return delivery_begin(p, c, e); /* all of it has come */
	return delivery_leave(p, c, st, e);
}

static enum status
delivery_wait_hook(void *arg, int fd, struct err *e)
{
	return delivery_wait(arg, fd, e);
}

/* Elements of the run up to --count. */
static enum status
delivery_run(struct delivery *p, struct run *r, struct err *e)
{
	if (r->n > p->left)
		r->n = (uint32_t)p->left;
	enum status st = output_run(p->out, r, e);
	if (st != ST_OK)
		return atomic_load(&p->gone) ? ST_AGAIN : st;
	p->elements += r->n;
	p->bytes += run_bytes(r);
	p->left -= r->n;
	return p->left ? ST_OK : ST_END;
}

static void
delivery_note(void *arg, const struct op_node *n, const struct err *e)
{
	(void)arg;
	log_say(LOG_WARN, "operator %u: %s", n->place, e->text);
	if (e->help[0])
		log_say(LOG_WARN, "  help: %s", e->help);
}

/* One pass of the chain. */
static enum status
delivery_pass(struct delivery *p, const struct plan *plan, struct op_ctx *ctx, struct err *e)
{
	struct op_inst *chain = NULL;
	struct run *r;
	enum status st = op_open(plan->top, ctx, &chain, e);
	while (st == ST_OK && !delivery_stopped(p)) {
		st = op_pull(chain, &r, e);
		if (st == ST_OK)
			st = delivery_run(p, r, e);
		delivery_show(p, NULL);
	}
	op_close(&chain);
	return st == ST_END ? ST_OK : st == ST_OK ? ST_AGAIN : st;
}

enum status
delivery_plan(struct delivery *p, const struct plan *plan, const struct endpoint *ep,
	      struct err *e)
{
	struct service s;
	service_init(&s, ep->address, ep->from);
	s.wait = delivery_wait_hook;
	s.wait_arg = p;
	s.blocked = &p->blocked;
	s.job = p->o->job;
	s.give_up_ns = p->o->give_up;
	p->json = plan->options.json;
	struct op_ctx ctx = { .json = plan->options.json, .timed = trace_on(),
		.element_max = (uint32_t)plan->options.element_max,
		.stop = stop_flag(), .service = &s.op, .note = delivery_note,
		.seed = p->o->job.seeded ? p->o->job.seed : rng_seed_fresh() };
	enum status st = delivery_open(p, plan->type, e);
	for (int64_t i = 0; i < p->o->epochs && st == ST_OK && p->left; i++) {
		st = delivery_pass(p, plan, &ctx, e);
		ctx.epoch = s.passes; /* behind those that a repeat has read */
	}
	progress_end(&p->progress);
	return st;
}

enum status
delivery_close(struct delivery *p, bool complete, struct err *e)
{
	enum status st = ST_OK;
	if (p->out)
		st = output_close(&p->out, complete, e);
	struct err other = { 0 };
	if (logged_close(&p->logged, &other) && st == ST_OK) {
		*e = other;
		st = other.kind;
	}
	if (p->o->stats && complete)
		show_stats(p);
	buf_clear(&p->saved.position);
	given_clear(&p->given);
	marks_clear(&p->marks);
	close(p->gone_fd);
	return atomic_load(&p->gone) ? ST_AGAIN : st;
}
