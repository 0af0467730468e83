/* SPDX-License-Identifier: MIT */
#include "core/read/reader.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/read/reader_inner.h"
#include "value/round.h"
#include "value/where.h"

enum { OPEN_REQ = 1, CLOSE_REQ = 2 };
#define READER_LEAVE_NS 1000000000ll /* a dispatcher that is away is told goodbye so long */

/* The end: r->err is filled, or the code is ST_OK. */
static void
reader_fail(struct reader *r, enum status code)
{
	struct reader_action *a;

	if (r->over)
		return;
	r->over = true;
	a = reader_do(r, READER_DONE);
	a->code = code;
	a->err = &r->err;
	a->msg = r->result;
	r->result = (struct msg){ 0 };
}

/* Contact */

static void
reader_hello(struct reader *r)
{
	struct msg *m = reader_tell(r, MSG_HELLO);

	m->hello = (struct msg_hello){ .version = WIRE_VERSION, .role = ROLE_READER, .peer = r->o.peer,
		.name = mem_strdup(r->o.name), .host = mem_strdup(r->o.host),
		.hostname = mem_strdup(str_or_empty(r->o.hostname)), .pid = r->o.pid,
		.instance = r->contact.instance };
}

static void
reader_open(struct reader *r)
{
	const struct reader_opts *o = &r->o;
	struct msg *m = reader_tell(r, MSG_OPEN);
	const char *dataset = (o->position || r->given) && r->dataset ? r->dataset : o->dataset;
	struct msg_open open = { .job = o->job, .dataset = (char *)(uintptr_t)dataset,
		.spec = (char *)(uintptr_t)o->spec, .type = (char *)(uintptr_t)o->type };

	r->joining = true;
	m->req = OPEN_REQ;
	if (!open.job.epoch)
		open.job.epoch = 1;
	if (r->opened) {
		open.iteration = r->iteration;
		open.seat = r->seat;
	} else if (o->position) {
		open.resume = !r->have_rounds;
		open.pass_seed = r->pass_seed;
		open.iteration = r->have_iteration;
		open.seat = r->have_seat;
		open.have = r->have;
	}
	if (!r->opened)
		reader_marks_open(r, &open);
	msg_fill(m, &open);
	mem_free(open.marks.v);
}

/* All that is not answered, said again. */
static void
reader_again(struct reader *r)
{
	r->again_due = r->now + CONTACT_AGAIN_NS;
	if (!r->contact.connected || r->over)
		return;
	if (r->joining && !r->closing)
		reader_open(r);
	if (r->ack_out)
		reader_ack_send(r, true);
	reader_reached(r, true);
	reader_fence_again(r);
	if (r->closed_sent)
		reader_close_send(r);
}

/* Ends the reader when the dispatcher has gone for good. */
static void
reader_lost(struct reader *r)
{
	bool shared = r->o.job.name && *r->o.job.name;
	enum status code = r->err.kind;

	/* A reader that wanted no more elements, in a job of its own, is complete. */
	if (r->closing && !shared && !r->keep)
		code = ST_OK;
	if (r->done)
		code = r->code;
	reader_fail(r, code);
}

static void
reader_beat(struct reader *r)
{
	reader_clock(r);
	reader_credit_hunger(r); /* which tells things, too */
	struct msg *m = reader_tell(r, MSG_BEAT);
	m->beat.streams = r->version;
	m->beat.shared = r->shared;
	m->beat.cores = r->feeds.cores;
	m->beat.step = r->feeds.step;
	m->beat.last = r->feeds.last;
	if (!r->work_ns && !r->wait_ns)
		return;
	m->beat.clocks.v = mem_array(1, sizeof *m->beat.clocks.v);
	m->beat.clocks.n = 1;
	m->beat.clocks.v[0] = (struct msg_clock){ .iteration = r->iteration, .work_ns = r->work_ns,
		.wait_ns = r->wait_ns, .out_ns = r->out_ns - r->out_told };
	r->work_ns = r->wait_ns = 0;
	r->out_told = r->out_ns;
}

void
reader_blocked(struct reader *r, uint64_t ns)
{
	r->out_ns = ns > r->out_ns ? ns : r->out_ns;
}

static void
reader_contact(struct reader *r)
{
	while (!r->over)
		switch (contact_tick(&r->contact, r->now, &r->err)) {
		case CONTACT_NONE: return;
		case CONTACT_HELLO: reader_hello(r); break;
		case CONTACT_BEAT: reader_beat(r); break;
		case CONTACT_LOST: reader_lost(r); return;
		}
}

void
reader_feeds(struct reader *r, const struct reader_feeds *f)
{
	r->feeds = *f;
}

void
reader_shared(struct reader *r, bool shared)
{
	if (r)
		r->shared = shared;
}

enum status
reader_new(const struct reader_opts *o, int64_t now_ns, struct reader **out, struct err *e)
{
	struct reader *r;
	struct where where;

	if (where_parse(o->job.where, &where, e) != ST_OK)
		return e->kind;
	where_clear(&where);
	r = mem_zalloc(sizeof *r);
	r->o = *o;
	if (!r->o.job.window)
		r->o.job.window = READER_WINDOW;
	if (!r->o.budget)
		r->o.budget = READER_BUDGET;
	r->chunk_bytes = READER_CHUNK_USUAL;
	r->last = &r->first;
	r->now = now_ns;
	r->ack_due = r->done_due = INT64_MAX;
	r->again_due = now_ns + CONTACT_AGAIN_NS;
	if (reader_position_parse(r, e) || job_shards_parse(r->o.job.shard, &r->only, e)) {
		reader_free(&r);
		return e->kind;
	}
	r->placed = !o->job.checkpoint || r->o.position;
	contact_init(&r->contact, now_ns, o->give_up_ns, o->where);
	reader_contact(r);
	*out = r;
	return ST_OK;
}

static void
reader_stream_free(struct reader_stream *s)
{
	struct intervals *sets[] = { &s->received, &s->open, &s->unsaved, &s->saving, &s->fresh,
		&s->sending, &s->ack_worker };

	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		intervals_clear(sets[i]);
	mem_free(s);
}

void
reader_stop(struct reader *r)
{
	r->over = true;
	reader_order_clear(r);
}

void
reader_free(struct reader **rp)
{
	struct reader *r = *rp;
	struct reader_action a;

	if (!r)
		return;
	reader_stop(r);
	while (reader_action(r, &a))
		msg_clear(&a.msg);
	msg_clear(&r->result);
	for (size_t i = 0; i < r->n_streams; i++)
		if (r->streams[i])
			reader_stream_free(r->streams[i]);
	for (size_t i = 0; i < r->workers.n; i++) {
		struct reader_worker *w = r->workers.items[i].value;

		mem_free(w->endpoint);
		mem_free(w);
	}
	for (size_t i = 0; i < r->have.n; i++)
		mem_free(r->have.v[i].ranges.v);
	mem_free(r->have.v);
	reader_marks_clear(&r->marks);
	words_clear(&r->took);
	mem_free(r->base.v);
	mem_free(r->have_base.v);
	hash_clear(&r->workers);
	mem_free(r->runs);
	mem_free(r->streams);
	mem_free(r->fresh);
	mem_free(r->actions);
	mem_free(r->lent);
	mem_free(r->dataset);
	mem_free(r->job);
	mem_free(r->shard);
	mem_free(r->consumer);
	job_shards_clear(&r->only);
	mem_free(r);
	*rp = NULL;
}

/* Messages of the dispatcher */

static void
reader_welcome(struct reader *r, struct msg *m)
{
	if (contact_welcome(&r->contact, r->now, &m->welcome) == CONTACT_OTHER) {
		err_set(&r->err, ST_TEMP, "the dispatcher was started again without its state");
		err_help(&r->err, "a dispatcher with --state DIR can be started again, and everything resumes");
		reader_fail(r, ST_TEMP);
		return;
	}
	r->joining = true; /* if it has a seat, so that it is told the streams again */
	reader_again(r);
}

/* Passes the resumed position on to the streams, once. */
static void
reader_take_have(struct reader *r)
{
	for (size_t i = 0; i < r->have.n; i++) {
		struct reader_stream *s = reader_stream_get(r, r->have.v[i].stream);

		intervals_add_ranges(&s->received, &r->have.v[i].ranges);
		s->pos = intervals_gap(&s->received, 0);
	}
}

static void
reader_job(struct reader *r, struct msg *m)
{
	struct reader_action *a;
	struct round_part part;

	if (m->req != OPEN_REQ)
		return;
	r->joining = false;
	r->version = 0; /* STREAMS of all that there is follow, from a dispatcher that may have begun to count anew */
	if (r->opened)
		return;
	r->opened = true;
	r->iteration = m->job.iteration;
	r->seat = m->job.seat;
	r->block = m->job.block ? m->job.block : 1;
	r->shards = (uint32_t)m->job.opts.shards;
	r->view = m->job.view;
	r->rounds = m->job.places > 1;
	r->stats.places = round_parse(r->o.job.consumer, &part, NULL) == ST_OK ? part.n : 1;
	r->recorded = r->rounds || (r->o.job.share && m->job.opts.order == ORDER_STABLE);
	/* The position of a group that was away does not say where it goes on: it has missed what the others had. */
	r->aligned = !r->recorded || (r->o.position && !r->o.job.share);
	r->epoch = (uint32_t)m->job.opts.epoch;
	r->seed = m->job.opts.seed;
	r->o.job.order = m->job.opts.order;
	r->o.job.target = m->job.opts.target;
	r->o.job.sharding = m->job.opts.sharding;
	mem_free(r->dataset);
	mem_free(r->job);
	r->dataset = mem_strdup(m->job.dataset);
	r->job = mem_strdup(m->job.opts.name);
	if (!r->o.position)
		r->block_left = r->pos_left = r->block;
	else if (reader_order_in_turns(r) && !r->block_left && r->shards)
		reader_order_next(r);
	reader_take_have(r);
	reader_begin(r, &m->job);
	if (r->aligned)
		reader_fence_begin(r);
	a = reader_do(r, READER_JOB);
	a->msg = *m;
	reader_fence_job(r, &m->job);
	*m = (struct msg){ 0 };
	if (r->closing)
		reader_close_send(r);
}

static void
reader_take_err(struct reader *r, uint32_t code, const char *text, const char *help)
{
	err_set(&r->err, status_from_code(code), "%s", text ? text : "failed");
	if (help && *help)
		err_help(&r->err, "%s", help);
}

static void
reader_refused(struct reader *r, struct msg *m)
{
	if (m->type == MSG_REFUSED)
		reader_take_err(r, m->refused.code, m->refused.text, m->refused.help);
	else if (m->req == OPEN_REQ)
		reader_take_err(r, m->error.code, m->error.text, m->error.help);
	else
		return;
	reader_fail(r, r->err.kind);
}

static void
reader_done(struct reader *r, struct msg *m)
{
	if (r->done || (r->opened && m->done.iteration != r->iteration) || (!r->opened && m->req != OPEN_REQ))
		return;
	r->done = true;
	if (m->done.code) {
		reader_take_err(r, m->done.code, m->done.text, m->done.help);
		r->code = r->err.kind;
	}
	r->result = *m;
	*m = (struct msg){ 0 };
	if (!r->opened) {
		reader_fail(r, r->code);
		return;
	}
	r->done_due = r->now + READER_LEAVE_NS;
	r->closing = true;
	reader_close_send(r);
}

static void
reader_told_gone(struct reader *r, struct msg *m)
{
	/* Our position's seat may still be told so: that is not us. */
	if (r->opened && (m->gone.iteration != r->iteration || m->gone.seat != r->seat))
		return;
	enum status st = m->gone.code == ST_NOINPUT || m->gone.code == ST_UNAVAIL ? (enum status)m->gone.code : ST_TEMP;

	err_set(&r->err, st, "%s", m->gone.text ? m->gone.text : "taken for lost by the dispatcher");
	if (st == ST_UNAVAIL)
		err_help(&r->err, "workers gave these addresses: see -b and --advertise of dsvc-work, and firewalls");
	reader_fail(r, st);
}

/* Its state ends with it: what is not read by now will not come. */
static void
reader_ended(struct reader *r)
{
	if (r->over)
		return;
	reader_tell(r, MSG_BYE);
	err_set(&r->err, ST_TEMP, "the dispatcher has been ended");
	err_help(&r->err,
		"start it again and read from the beginning; for one with --state DIR readers wait, and then resume");
	reader_lost(r);
}

static void
reader_closed(struct reader *r, struct msg *m)
{
	if (r->closing && m->closed.iteration == r->iteration)
		reader_fail(r, r->done ? r->code : ST_OK);
}

static void
reader_after(struct reader *r)
{
	if (r->over)
		return;
	reader_order_run(r);
	reader_acks_to_workers(r);
	reader_ack_soon(r);
	reader_reached(r, false);
	reader_fence_end(r);
	reader_credit(r);
	reader_contact(r);
}

void
reader_message(struct reader *r, int64_t now_ns, struct msg *m)
{
	r->now = now_ns;
	contact_heard(&r->contact, now_ns);
	switch (m->type) {
	case MSG_WELCOME: reader_welcome(r, m); break;
	case MSG_REFUSED: case MSG_ERROR: reader_refused(r, m); break;
	case MSG_WHO: contact_who(&r->contact, now_ns); break;
	case MSG_JOB: reader_job(r, m); break;
	case MSG_STREAMS: reader_streams_changed(r, m); break;
	case MSG_HOLD: reader_hold(r, &m->hold.key); break;
	case MSG_ACKED: reader_acked(r, m); break;
	case MSG_DONE: reader_done(r, m); break;
	case MSG_GONE: reader_told_gone(r, m); break;
	case MSG_CLOSED: reader_closed(r, m); break;
	case MSG_HALT: reader_halt(r, &m->halt); break;
	case MSG_FENCE: reader_fence(r, &m->fence); break;
	case MSG_BYE: reader_ended(r); break;
	default: break;
	}
	reader_after(r);
}

void
reader_data(struct reader *r, int64_t now_ns, uint64_t worker, struct msg *m)
{
	/* VOID needs no answer: credit is said again after a while, and STREAMS
	 * tell where the stream has gone. */
	(void)worker;
	(void)m;
	r->now = now_ns;
}

void
reader_dispatcher_reached(struct reader *r, int64_t now_ns)
{
	r->now = now_ns;
	contact_reached(&r->contact, now_ns);
	reader_contact(r);
}

void
reader_dispatcher_gone(struct reader *r, int64_t now_ns)
{
	r->now = now_ns;
	contact_gone(&r->contact, now_ns);
	reader_contact(r);
}

/* Time */

void
reader_tick(struct reader *r, int64_t now_ns)
{
	r->now = now_ns;
	if (r->over)
		return;
	contact_time(&r->contact, now_ns);
	if (r->done_due != INT64_MAX)
		r->done_due += r->contact.late - r->late;
	r->late = r->contact.late;
	if (now_ns >= r->done_due) {
		if (!r->done)
			err_set(&r->err, ST_TEMP, "the dispatcher did not confirm the end of this reader");
		if (r->done)
			reader_fail(r, r->code);
		else
			reader_lost(r);
		return;
	}
	if (now_ns >= r->ack_due)
		reader_ack_send(r, false);
	if (now_ns >= r->again_due) {
		reader_again(r);
		reader_credit_again(r);
		reader_reach_again(r);
	}
	reader_after(r);
}

int64_t
reader_next_deadline(const struct reader *r)
{
	int64_t at = contact_deadline(&r->contact);

	if (r->over)
		return INT64_MAX;
	if (r->again_due < at)
		at = r->again_due;
	if (r->ack_due < at)
		at = r->ack_due;
	return r->done_due < at ? r->done_due : at;
}

void
reader_close(struct reader *r, int64_t now_ns, bool keep)
{
	r->now = now_ns;
	if (r->closing || r->over)
		return;
	r->closing = true;
	r->keep = keep;
	r->done_due = now_ns + r->contact.loss_ns;
	if (!r->opened)
		reader_fail(r, ST_OK); /* nothing was promised to anybody */
	else
		reader_close_send(r);
}

void
reader_stats(const struct reader *r, struct reader_stats *out)
{
	*out = r->stats;
	out->streams = (uint32_t)r->n_known;
	out->held_bytes = r->stats.held_bytes;
	out->dispatcher_lost = r->contact.welcomed && !r->contact.connected;
	out->waiting_for_worker = r->opened && !r->done && !r->workers.n && !reader_all_made(r);
}
