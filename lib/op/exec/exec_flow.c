/* SPDX-License-Identifier: MIT
 *
 * One child for all of a stream: elements go in as lines, lines come out as
 * elements, in whatever number; nothing pairs them.
 */
#include "op/exec/exec_work.h"

enum { FLOW_WRITE = 256 * 1024 };

static enum status
flow_start(struct exec *x, struct exec_slot *s, struct err *e)
{
	enum status st = exec_start(x, s, NULL, e);

	s->heard = exec_now();
	return st == ST_OK ? ST_OK : exec_fatal(x, NULL, e);
}

/* Puts elements into the write buffer, as many as it should hold. */
static enum status
flow_fill(struct exec *x, struct exec_slot *s, struct run *out, bool *moved, struct err *e)
{
	enum status st = ST_OK;
	bool stopped;

	x->wants = false;
	if (s->w_at == s->w.len)
		s->w_at = s->w.len = 0;
	while (st == ST_OK && !x->over && s->w.len < FLOW_WRITE) {
		if (!x->cur) {
			st = exec_feed_take(&x->feed, &x->cur, &stopped, &x->input_err);
			x->wants = st == ST_AGAIN && !stopped;
			x->stopped = x->stopped || stopped;
			if (st != ST_OK)
				x->cur = NULL;
			if (st != ST_OK && st != ST_AGAIN) {
				x->over = true;
				x->input = st;
			}
			if (st != ST_OK)
				return ST_OK;
			x->cur->from = 0;
		}
		*moved = true;
		const struct run *r = &x->cur->run;
		while (st == ST_OK && x->cur->from < r->n && s->w.len < FLOW_WRITE) {
			st = frame_put(FRAME_STREAM, &r->e[x->cur->from], &x->self->ctx->json, &s->w, e);
			if (st != ST_OK)
				while ((st = op_fault(x->self, r, x->cur->from, out, e)) == ST_AGAIN)
					st = frame_put(FRAME_STREAM, &r->e[x->cur->from], &x->self->ctx->json, &s->w, e);
			x->cur->from++;
		}
		if (x->cur->from == r->n) {
			x->cur->next = x->used;
			x->used = x->cur;
			x->cur = NULL;
		}
	}
	return st;
}

static enum status
flow_end(struct exec *x, struct exec_slot *s, struct err *e)
{
	struct err why = { 0 };

	child_reap(&s->child, CHILD_GRACE_MS, x->self->ctx->stop);
	s->closing = true;
	enum status st = exec_ended(x, s, &why);
	if (st == ST_OK) {
		exec_hear(x, s);
		return ST_OK;
	}
	*e = why;
	if (st == ST_NORUN || st == ST_NOCMD)
		return exec_fatal(x, NULL, e);
	err_help(e, "on_error=skip ignores the exit status: grep ends with 1 when it finds nothing");
	return op_source_fault(x->self, NULL, 0, e);
}

/* Does one step; ST_END: the child has closed its output, and all of it was given. */
static enum status
flow_step(struct exec *x, struct exec_slot *s, struct run *out, bool *moved, struct err *e)
{
	bool more = false;
	enum status st = ST_OK;

	if (s->closing)
		return ST_END;
	if (s->child.pid <= 0 || s->child.in >= 0)
		st = flow_fill(x, s, out, moved, e);
	if (st == ST_OK && s->child.pid <= 0) {
		if (s->w.len == 0 && !x->over) /* the child starts with the first element */
			return ST_OK;
		st = flow_start(x, s, e);
	}
	if (st != ST_OK)
		return st;
	if (exec_write(s, moved) == ST_END || (x->over && s->w_at == s->w.len))
		child_close_in(&s->child);
	if (!s->pour.fresh && child_output_read(&s->pour, s->child.out)) {
		*moved = true;
		s->heard = exec_now();
	}
	if (s->pour.fresh)
		st = child_output_all(&s->pour, &s->frame, out, &more, e);
	if (st != ST_OK)
		return exec_fatal(x, NULL, e);
	if (!*moved && exec_left(s, s->heard, CHILD_GRACE_MS)) {
		child_reap(&s->child, 0, NULL);
		s->closing = true;
		child_left(x->name, e);
		return op_source_fault(x->self, NULL, 0, e);
	}
	return s->pour.eof && !more ? flow_end(x, s, e) : ST_OK;
}

enum status
exec_flow_next(struct exec *x, struct run *out, struct err *e)
{
	struct exec_slot *s = &x->slots[0];
	bool moved = true;
	enum status st = ST_OK;

	while (moved && st == ST_OK && out->n == 0) {
		moved = false;
		st = flow_step(x, s, out, &moved, e);
		moved = moved || s->closing;
	}
	return st;
}
