/* SPDX-License-Identifier: MIT
 *
 * A process for each element: its arguments name the element (arg) or its stdin
 * holds it (raw), what it writes to stdout is the answer, its exit status says
 * whether it is one.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "op/exec/exec_work.h"

enum { EACH_LATER = 75 };

static enum status
each_start(struct exec *x, struct exec_slot *s, uint64_t seq, struct err *e)
{
	const struct elem *el = exec_job_elem(x, seq);
	char *const *argv = NULL;
	struct err bad = { 0 };
	enum status st;

	child_output_reset(&s->pour);
	buf_reset(&s->w);
	s->w_at = 0;
	struct elem part;
	st = exec_field_get(x, el, &part, &bad);
	if (st == ST_OK && x->proto == FRAME_ARG) {
		x->args.part = &part;
		st = exec_args_fill(&x->args, el, seq + 1, s->index + 1, &bad);
		argv = x->args.argv;
		x->args.part = NULL;
	} else if (st == ST_OK) {
		st = frame_put(FRAME_RAW, &part, &x->self->ctx->json, &s->w, &bad);
	}
	if (st != ST_OK) {
		exec_jobs_fail(x, seq, &bad);
		return ST_OK;
	}
	exec_env_element(&x->env, seq, &exec_job(x, seq)->run->run, el);
	s->seq = seq;
	s->moved = s->heard = exec_now();
	exec_told_sent(x, seq, s->index, s->w.len);
	st = exec_start(x, s, argv, e);
	if (st != ST_OK)
		return exec_fatal(x, &seq, e);
	if (x->proto == FRAME_RAW && s->w.len == 0)
		child_close_in(&s->child);
	return ST_OK;
}

static enum status
each_fill(struct exec *x, bool *moved, struct err *e)
{
	enum status st = ST_OK;
	uint64_t seq;

	x->wants = false;
	for (unsigned k = 0; st == ST_OK && k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		if (s->child.pid > 0)
			continue;
		if (exec_jobs_take(x, &seq) != ST_OK)
			return ST_OK;
		*moved = true;
		st = each_start(x, s, seq, e);
	}
	return st;
}

/* Takes the answer of a process that has closed its output, or records its failure. */
static enum status
each_end(struct exec *x, struct exec_slot *s, struct run *out, struct err *e)
{
	struct exec_job *j = exec_job(x, s->seq);
	struct err why = { 0 };
	const uint8_t *p;
	size_t n;

	/* It has closed its stdout, but may have a little left to do. */
	int64_t left = x->timeout ? (x->timeout - (exec_now() - s->moved)) / 1000000 : INT32_MAX;
	child_reap(&s->child, left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left,
		   x->self->ctx->stop);
	enum status st = exec_ended(x, s, &why);
	int status = s->child.status;
	if (st == ST_NORUN || st == ST_NOCMD) {
		*e = why;
		return exec_fatal(x, &s->seq, e);
	}
	if (st == ST_OK) {
		exec_hear(x, s);
		st = frame_find(&s->frame, s->pour.b.data, s->pour.b.len, true, &n, &why);
	}
	if (st == ST_OK && s->pour.b.len == 0 && exec_may_be_silent(x)) {
		exec_jobs_values(x, s->seq, NULL, 0, 0, out);
	} else if (st == ST_OK) {
		p = s->pour.b.data ? s->pour.b.data : (const uint8_t *)"";
		exec_jobs_answer(x, s->seq, &s->frame, p, s->pour.b.len, out);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == EACH_LATER
		   && j->later < EXEC_LATER) {
		j->later++;
		exec_jobs_again(x, s->seq);
	} else {
		exec_told_child(x, s->seq, &s->child);
		exec_jobs_fail(x, s->seq, &why);
	}
	if (s->pour.b.cap > 4 * CHILD_OUTPUT_READ)
		child_output_clear(&s->pour);
	return ST_OK;
}

static enum status
each_late(struct exec *x, struct exec_slot *s)
{
	struct err why = { 0 };

	child_term(&s->child);
	child_reap(&s->child, 0, NULL);
	err_set(&why, ST_DATA, "%s did not end within %.3g s", x->name, (double)x->timeout / 1e9);
	child_tell(&s->child, &why);
	exec_told_code(x, s->seq, ST_TIMEOUT);
	exec_jobs_fail(x, s->seq, &why);
	return ST_OK;
}

static enum status
each_slot_step(struct exec *x, struct exec_slot *s, struct run *out, bool *moved, struct err *e)
{
	if (s->child.pid <= 0)
		return ST_OK;
	if (exec_write(s, moved) == ST_END || s->w_at == s->w.len)
		child_close_in(&s->child);
	while (!s->pour.eof && child_output_read(&s->pour, s->child.out)) {
		*moved = true;
		s->heard = exec_now();
		if (s->pour.b.len > s->frame.max + 1) {
			struct err large = { 0 };

			child_kill(&s->child);
			child_reap(&s->child, 0, NULL);
			err_set(&large, ST_DATA, "%s wrote more than %zu bytes", x->name,
				s->frame.max);
			exec_jobs_fail(x, s->seq, &large);
			return ST_OK;
		}
	}
	if (s->pour.eof) {
		*moved = true;
		return each_end(x, s, out, e);
	}
	if (exec_left(s, s->heard, CHILD_LEFT_MS)) {
		struct err why = { 0 };

		*moved = true;
		child_reap(&s->child, 0, NULL);
		child_left(x->name, &why);
		exec_jobs_fail(x, s->seq, &why);
		return ST_OK;
	}
	if (x->timeout && exec_now() - s->moved > x->timeout) {
		*moved = true;
		return each_late(x, s);
	}
	return ST_OK;
}

enum status
exec_each_step(struct exec *x, struct run *out, bool *moved, struct err *e)
{
	enum status st = ST_OK;

	/* First handles the processes that have ended, so that their slots are free. */
	for (unsigned k = 0; st == ST_OK && k < x->n_slots; k++)
		st = each_slot_step(x, &x->slots[k], out, moved, e);
	return st == ST_OK ? each_fill(x, moved, e) : st;
}
