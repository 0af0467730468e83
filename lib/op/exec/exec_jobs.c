/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/mem.h"
#include "op/exec/exec_work.h"
#include "op/state.h"
#include "value/mp.h"

enum { JOBS_KEEP = 64 * 1024 };

void
exec_jobs_open(struct exec *x, uint64_t window)
{
	uint64_t least = x->ordered ? window : 4 * window;

	for (x->cap = 64; x->cap < least;)
		x->cap *= 2;
	x->jobs = mem_array(x->cap, sizeof *x->jobs);
	x->ready = mem_array(x->cap, sizeof *x->ready);
	run_init(&x->scratch);
}

static void
jobs_free_runs(struct exec *x, struct feed_run *r)
{
	for (struct feed_run *next; r; r = next) {
		next = r->next;
		exec_feed_give(&x->feed, r);
	}
}

void
exec_jobs_close(struct exec *x)
{
	struct feed_run *last = NULL;

	if (!x->jobs)
		return;
	for (uint64_t seq = x->head; seq < x->next; seq++) {
		struct exec_job *j = exec_job(x, seq);

		mem_free(j->fault);
		/* Collects the runs of the jobs, each once: jobs of one run are adjacent. */
		if (j->state != JOB_GONE && j->run != last && j->run != x->cur) {
			j->run->next = x->used;
			x->used = last = j->run;
		}
	}
	if (x->cur) {
		x->cur->next = x->used;
		x->used = x->cur;
	}
	jobs_free_runs(x, x->used);
	for (uint64_t i = 0; i < x->cap; i++)
		buf_clear(&x->jobs[i].answer);
	mem_free(x->jobs);
	mem_free(x->ready);
	mem_free(x->again);
	run_clear(&x->scratch);
	buf_clear(&x->record);
	buf_clear(&x->logged);
	buf_clear(&x->log_texts);
	buf_clear(&x->command_text);
}

void
exec_jobs_release(struct exec *x)
{
	jobs_free_runs(x, x->used);
	x->used = NULL;
	x->out_run = NULL;
}

bool
exec_jobs_full(const struct exec *x)
{
	return x->next - x->head >= x->cap;
}

void
exec_jobs_grow(struct exec *x)
{
	uint64_t cap = x->cap * 2;
	struct exec_job *jobs = mem_array(cap, sizeof *jobs);
	uint64_t *ready = mem_array(cap, sizeof *ready);

	for (uint64_t seq = x->next - x->cap; seq < x->next; seq++)
		jobs[seq & (cap - 1)] = *exec_job(x, seq);
	for (uint64_t i = x->ready_at; i < x->ready_end; i++)
		ready[i & (cap - 1)] = x->ready[i & (x->cap - 1)];
	mem_free(x->jobs);
	mem_free(x->ready);
	x->jobs = jobs;
	x->ready = ready;
	x->cap = cap;
}

bool
exec_jobs_none(const struct exec *x)
{
	return x->head == x->next;
}

void
exec_jobs_again(struct exec *x, uint64_t seq)
{
	size_t i = x->n_again;

	x->again = mem_grow(x->again, &x->cap_again, x->n_again + 1, sizeof *x->again);
	for (; i > 0 && x->again[i - 1] < seq; i--)
		x->again[i] = x->again[i - 1];
	x->again[i] = seq;
	x->n_again++;
	exec_job(x, seq)->state = JOB_NEW;
}

/* Takes the next run of the input. */
static enum status
jobs_refill(struct exec *x)
{
	bool stopped;
	enum status st;

	if (x->over)
		return ST_END;
	st = exec_feed_take(&x->feed, &x->cur, &stopped, &x->input_err);
	if (st == ST_OK) {
		x->cur->open = x->cur->run.n;
		x->cur->from = 0;
	} else if (st == ST_AGAIN) {
		x->cur = NULL;
		x->wants = !stopped;
		x->stopped = x->stopped || stopped;
	} else {
		x->cur = NULL;
		x->over = true;
		x->input = st;
		st = ST_END;
	}
	return st;
}

/* Takes the next element of the input into the ring. */
static enum status
jobs_next(struct exec *x, uint64_t *seq)
{
	if (exec_jobs_full(x) || x->ahead > EXEC_AHEAD_BYTES)
		return ST_AGAIN;
	if (!x->cur) {
		enum status st = jobs_refill(x);
		if (st != ST_OK)
			return st;
	}
	struct exec_job *j = exec_job(x, x->next);
	j->run = x->cur;
	j->i = x->cur->from++;
	j->state = JOB_SENT;
	j->crashes = j->later = 0;
	j->tries = 0;
	j->fault = NULL;
	j->began = j->took = 0;
	j->sent = j->received = 0;
	j->code = j->signal = 0;
	if (x->cur->from == x->cur->run.n)
		x->cur = NULL;
	*seq = x->next++;
	return ST_OK;
}

enum status
exec_jobs_take(struct exec *x, uint64_t *seq)
{
	enum status st;

	x->wants = false;
	if (x->n_again) {
		*seq = x->again[--x->n_again];
		exec_job(x, *seq)->state = JOB_SENT;
		return ST_OK;
	}
	if (exec_told_closed(x) && !x->over) {
		x->over = true;
		x->input = ST_END;
	}
	if (x->over)
		return ST_END;
	while ((st = jobs_next(x, seq)) == ST_OK && exec_told_before(x, *seq))
		exec_jobs_drop(x, *seq);
	return st;
}

void
exec_jobs_drop(struct exec *x, uint64_t seq)
{
	struct exec_job *j = exec_job(x, seq);

	j->state = JOB_GONE;
	if (--j->run->open == 0) {
		j->run->next = x->used;
		x->used = j->run;
	}
	j->run = NULL;
	while (x->head < x->next && exec_job(x, x->head)->state == JOB_GONE)
		x->head++;
}

/* Whether an element of the job's run may be put into out: the places of the elements in out
 * refer to one run only. */
static bool
jobs_fits(struct exec *x, const struct exec_job *j, struct run *out)
{
	if (out->n == 0) {
		out->file = j->run->run.file;
		out->line = j->run->run.line;
		out->parts = j->run->run.parts;
		out->n_parts = j->run->run.n_parts;
		x->out_run = j->run;
		return true;
	}
	return out->n < RUN_USUAL && !run_full(out) && x->out_run == j->run;
}

static void
jobs_ready(struct exec *x, uint64_t seq)
{
	if (!x->ordered)
		x->ready[x->ready_end++ & (x->cap - 1)] = seq;
}

/* Whether the job would be given now if it were finished. */
static bool
jobs_turn(const struct exec *x, uint64_t seq)
{
	return x->ordered ? seq == x->head : x->ready_at == x->ready_end;
}

/* Keeps the job's answer until its turn. */
static void
jobs_wait(struct exec *x, uint64_t seq, const uint8_t *p, size_t n, uint32_t many)
{
	struct exec_job *j = exec_job(x, seq);

	buf_reset(&j->answer);
	buf_put(&j->answer, p, n);
	x->ahead += n;
	j->many = many;
	j->state = JOB_DONE;
	jobs_ready(x, seq);
}

static void
jobs_put(struct run *out, const uint8_t *p, size_t n, uint32_t many, uint32_t pos)
{
	const uint8_t *end = p + n;

	for (uint32_t i = 0; i < many; i++) {
		size_t len = i + 1 == many ? (size_t)(end - p) : (size_t)(mp_skip(p, end) - p);

		memcpy(run_room(out, len), p, len);
		run_done(out, out->arena->data + out->arena->len + len, pos);
		p += len;
	}
}

/* Makes the records of an answer: the element with each of the values in its field. */
static void
jobs_records(struct exec *x, const struct exec_job *j, const uint8_t *p, size_t n, uint32_t many)
{
	const uint8_t *end = p + n, *next;

	buf_reset(&x->record);
	for (uint32_t i = 0; i < many; i++, p = next) {
		next = mp_skip(p, end);
		exec_field_put(x, &j->run->run.e[j->i], p, (size_t)(next - p), &x->record);
	}
}

/* Gives the values, or keeps them until their turn. */
static void
jobs_values(struct exec *x, uint64_t seq, const uint8_t *p, size_t n, uint32_t many,
	    struct run *out)
{
	struct exec_job *j = exec_job(x, seq);

	exec_told_over(x, true);
	if (x->field && many) {
		jobs_records(x, j, p, n, many);
		p = x->record.data;
		n = x->record.len;
	}
	if (x->log) {
		exec_log_make(x, seq, p, n, many);
		p = x->logged.data;
		n = x->logged.len;
		many = 1;
	}
	if (many && !(out && jobs_turn(x, seq) && jobs_fits(x, j, out))) {
		jobs_wait(x, seq, p, n, many);
		return;
	}
	jobs_put(out, p, n, many, j->run->run.e[j->i].pos);
	exec_told_given(x, seq, many > 0);
	exec_jobs_drop(x, seq);
}


void
exec_jobs_values(struct exec *x, uint64_t seq, const uint8_t *p, size_t n, uint32_t many,
		 struct run *out)
{
	x->answered++;
	x->barren = 0;
	exec_told_answer(x, seq, n);
	jobs_values(x, seq, p, n, many, out);
}

void
exec_jobs_answer(struct exec *x, uint64_t seq, struct frame *f, const uint8_t *p, size_t n,
		 struct run *out)
{
	struct exec_job *j = exec_job(x, seq);
	uint32_t pos = j->run->run.e[j->i].pos;
	struct err e = { 0 };

	x->answered++;
	x->barren = 0;
	exec_told_answer(x, seq, n);
	if (!x->field && !x->log && !x->tag && jobs_turn(x, seq) && jobs_fits(x, j, out)) {
		if (frame_get(f, p, n, pos, out, &e) != ST_OK) {
			exec_jobs_fail(x, seq, &e);
		} else {
			exec_told_over(x, true);
			exec_told_given(x, seq, true);
			exec_jobs_drop(x, seq);
		}
		return;
	}
	run_reset(&x->scratch);
	if (frame_get(f, p, n, pos, &x->scratch, &e) != ST_OK) {
		exec_jobs_fail(x, seq, &e);
	} else if (x->tag) {
		exec_tag_put(&j->run->run.e[j->i], x->scratch.e[0].p, x->scratch.e[0].len, &x->record);
		jobs_values(x, seq, x->record.data, x->record.len, 1, out);
	} else {
		jobs_values(x, seq, x->scratch.e[0].p, x->scratch.e[0].len, 1, out);
	}
}

void
exec_jobs_fail(struct exec *x, uint64_t seq, const struct err *e)
{
	struct exec_job *j = exec_job(x, seq);
	const struct op_node *n = x->self->node;

	if (j->tries < n->retries) {
		j->tries++;
		j->crashes = 0;
		exec_jobs_again(x, seq);
		return;
	}
	j->fault = mem_dup(e, sizeof *e);
	if (j->fault->kind == ST_OK)
		j->fault->kind = ST_DATA;
	op_fault_name(exec_job_elem(x, seq), seq + 1, j->fault);
	exec_told_failed(x, seq);
	j->state = JOB_FAULT;
	jobs_ready(x, seq);
}

static void
jobs_emit_done(struct exec *x, struct exec_job *j, struct run *out)
{
	size_t n = j->answer.len;

	jobs_put(out, j->answer.data, n, j->many, j->run->run.e[j->i].pos);
	x->ahead -= n;
	if (j->answer.cap > JOBS_KEEP)
		buf_clear(&j->answer);
}

/* Applies on_error to a failure; the retries are used up. */
static enum status
jobs_emit_fault(struct exec *x, uint64_t seq, struct run *out, struct err *e)
{
	struct op_inst *self = x->self;
	struct exec_job *j = exec_job(x, seq);

	*e = *j->fault;
	mem_free(j->fault);
	j->fault = NULL;
	op_fault_last(self, &j->run->run.e[j->i]);
	if (!x->log || exec_is_dry(x))
		return op_fault(self, &j->run->run, j->i, out, e);
	/* The record tells of the failure, whatever the policy is, and has the element that is kept. */
	run_reset(&x->scratch);
	enum status st = op_fault(self, &j->run->run, j->i, &x->scratch, e);
	const struct elem *kept = x->scratch.e;
	exec_log_make(x, seq, x->scratch.n ? kept->p : NULL, x->scratch.n ? kept->len : 0, x->scratch.n);
	jobs_put(out, x->logged.data, x->logged.len, 1, j->run->run.e[j->i].pos);
	return st;
}

enum status
exec_jobs_emit(struct exec *x, struct run *out, struct err *e)
{
	enum status st = ST_OK;

	while (st == ST_OK && (x->ordered ? x->head < x->next : x->ready_at < x->ready_end)) {
		uint64_t seq = x->ordered ? x->head : x->ready[x->ready_at & (x->cap - 1)];
		struct exec_job *j = exec_job(x, seq);

		if ((j->state != JOB_DONE && j->state != JOB_FAULT) || !jobs_fits(x, j, out))
			break;
		if (j->state == JOB_DONE) {
			jobs_emit_done(x, j, out);
			exec_told_given(x, seq, true);
		} else {
			st = jobs_emit_fault(x, seq, out, e);
		}
		if (!x->ordered)
			x->ready_at++;
		exec_jobs_drop(x, seq);
	}
	return st;
}

static bool
jobs_due(struct exec *x, uint64_t seq)
{
	return exec_job(x, seq)->state != JOB_GONE;
}

/* Saves the input of a job as a run of its own, with its place. Jobs of one run could share
 * it, but they are few. */
static void
jobs_save_input(struct exec *x, uint64_t seq, struct buf *out)
{
	const struct run *r = &exec_job(x, seq)->run->run;
	struct elem e = *exec_job_elem(x, seq);
	const char *file;
	uint64_t line;

	run_place(r, &e, &file, &line);
	e.pos = 0;
	struct run one = { .e = &e, .n = 1, .file = file, .line = line };
	state_put_run(out, &one, 0);
}

uint64_t
exec_jobs_waiting(struct exec *x)
{
	uint64_t n = 0;

	for (uint64_t seq = x->head; seq < x->next; seq++)
		n += jobs_due(x, seq);
	return n;
}

void
exec_jobs_save_done(struct exec *x, uint64_t seq, struct buf *out)
{
	const struct exec_job *j = exec_job(x, seq);

	jobs_save_input(x, seq, out);
	state_put_u64(out, j->many);
	state_put_bytes(out, j->answer.data, j->answer.len);
}

void
exec_jobs_restore_done(struct exec *x, struct state_in *in)
{
	struct feed_run *r = exec_feed_spare(&x->feed);
	const uint8_t *p, *at;
	size_t n;

	state_get_run(in, &r->run);
	uint32_t many = (uint32_t)state_get_u64(in, UINT32_MAX);
	state_get_bytes(in, &p, &n);
	at = p;
	for (uint32_t i = 0; at && i < many; i++)
		at = mp_check_next(at, p + n);
	if (in->bad || r->run.n != 1 || many == 0 || !at || at != p + n) {
		in->bad = true;
		exec_feed_give(&x->feed, r);
		return;
	}
	if (exec_jobs_full(x))
		exec_jobs_grow(x);
	*exec_job(x, x->next) = (struct exec_job){ .run = r, .answer = exec_job(x, x->next)->answer };
	r->open = r->from = 1;
	jobs_wait(x, x->next++, p, n, many);
}

/* Saves the input of all jobs whose answers were not given; a restore sends it again, in order. */
void
exec_jobs_save(struct exec *x, struct buf *out, bool answered)
{
	exec_feed_rest(&x->feed);
	state_put_u64(out, (answered ? 0 : exec_jobs_waiting(x)) + x->feed.count + (x->cur != NULL));
	for (uint64_t seq = x->head; !answered && seq < x->next; seq++)
		if (jobs_due(x, seq))
			jobs_save_input(x, seq, out);
	if (x->cur)
		state_put_run(out, &x->cur->run, x->cur->from);
	for (struct feed_run *r = x->feed.first; r; r = r->next)
		state_put_run(out, &r->run, 0);
}

enum status
exec_jobs_restore(struct exec *x, struct state_in *in, struct err *e)
{
	uint64_t runs = state_get_u64(in, UINT32_MAX);

	while (runs-- > 0 && !in->bad) {
		struct run one;

		run_init(&one);
		if (state_get_run(in, &one) && one.n) {
			struct feed_run *r = exec_feed_add(&x->feed);
			run_move(&r->run, &one);
		}
		run_clear(&one);
	}
	return state_finish(x->self, in, e);
}
