/* SPDX-License-Identifier: MIT
 *
 * Long-lived children that give one answer for each element, in order.
 *
 * Elements are written ahead, a window of them, while answers are read; both
 * without waiting, so that full pipes in both directions stop nobody. A child
 * that dies is started again and given what it had not answered; the oldest of
 * these is taken to be the cause.
 */
#include "op/exec/exec_hold.h"
#include "op/exec/exec_work.h"

enum { TALK_WRITE = 64 * 1024 };

static void
talk_push(struct exec_slot *s, struct exec_job *j, uint64_t seq, uint32_t len)
{
	if (s->n++ == 0)
		s->moved = s->heard = exec_now();
	j->at = s->end;
	s->fifo[s->end++ & (EXEC_WINDOW_MAX - 1)] = seq;
	s->bytes += len;
}

static uint64_t
talk_oldest(const struct exec_slot *s)
{
	return s->fifo[s->at & (EXEC_WINDOW_MAX - 1)];
}

static uint64_t
talk_pop(struct exec *x, struct exec_slot *s)
{
	uint64_t seq = talk_oldest(s);

	exec_sent_take(x, s, seq);
	return seq;
}

/* Whether a slot has room for another element: by number and by bytes; a slot without elements
 * always takes one. */
static bool
talk_room(const struct exec_slot *s)
{
	if (s->closing || s->deaf || s->w.len - s->w_at >= TALK_WRITE || s->end - s->at >= EXEC_WINDOW_MAX)
		return false;
	return s->n == 0 || (s->n < (s->alone ? 1 : s->window) && s->bytes < EXEC_WINDOW_BYTES);
}

/* The slot with room that has the fewest elements in flight; NULL: none. */
static struct exec_slot *
talk_slot(struct exec *x)
{
	struct exec_slot *best = NULL;

	for (unsigned k = 0; k < x->n_slots; k++) {
		struct exec_slot *s = &x->slots[k];

		if (talk_room(s) && (!best || s->n < best->n))
			best = s;
	}
	return best;
}

static enum status
talk_start(struct exec *x, struct exec_slot *s, struct err *e)
{
	if (x->kept) /* an element is to be tried again, after its child has ended */
		return err_set(e, ST_DATA, "%s has ended, and its state is lost", x->name);
	child_output_reset(&s->pour);
	s->frame.searched = s->frame.wait = 0;
	buf_reset(&s->w);
	s->w_at = 0;
	if (x->proto == FRAME_MSGPACK)
		exec_speak_greet(x, s);
	return exec_start(x, s, NULL, e);
}

/* Gives elements to slots, but only when one has half its window free, or there is nothing
 * else to do: for a child that answers one by one, a write per element would cost too much. */
static enum status
talk_fill(struct exec *x, bool *moved, struct err *e)
{
	struct exec_slot *s = talk_slot(x);
	uint64_t seq;

	x->wants = false;
	if (!s || (s->n > s->window / 2 && !x->idle))
		return ST_OK;
	while ((s = talk_slot(x))) {
		enum status st = exec_jobs_take(x, &seq);

		if (st != ST_OK)
			return ST_OK;
		*moved = true;
		if (s->child.pid <= 0 && (st = talk_start(x, s, e)) != ST_OK)
			return exec_fatal(x, NULL, e);
		const struct elem *el = exec_job_elem(x, seq);
		struct err bad = { 0 };
		struct elem part;
		st = exec_field_get(x, el, &part, &bad);
		if (st == ST_OK && x->proto == FRAME_MSGPACK)
			exec_speak_element(s, seq, &part);
		else if (st == ST_OK)
			st = frame_put(s->frame.proto, &part, &x->self->ctx->json, &s->w, &bad);
		if (st != ST_OK) {
			exec_jobs_fail(x, seq, &bad);
			continue;
		}
		if (exec_job(x, seq)->crashes)
			s->alone = true;
		exec_told_sent(x, seq, s->index, el->len);
		talk_push(s, exec_job(x, seq), seq, el->len);
	}
	return ST_OK;
}

/* Takes the answers that have come, as far as out has room. */
static enum status
talk_hear(struct exec *x, struct exec_slot *s, struct run *out, bool *moved, struct err *e)
{
	while (s->pour.fresh && out->n < RUN_USUAL) {
		const uint8_t *p;
		size_t n;
		enum status st = child_output_next(&s->pour, &s->frame, &p, &n, e);

		if (st == ST_END)
			return ST_OK;
		if (st == ST_OK && x->proto == FRAME_MSGPACK)
			st = exec_speak_hear(x, s, p, n, out, e);
		else if (st == ST_OK && s->n == 0)
			st = err_set(e, ST_DATA, "%s gave more answers than it was given elements",
				     x->name);
		if (st != ST_OK) {
			uint64_t seq = s->n ? talk_oldest(s) : 0;

			if (x->proto != FRAME_MSGPACK && s->n == 0)
				err_help(e, "proto=%s wants exactly one answer for each element; "
					 "proto=stream takes any number of lines",
					 frame_name(s->frame.proto));
			return exec_fatal(x, s->n ? &seq : NULL, e);
		}
		*moved = true;
		if (x->proto == FRAME_MSGPACK)
			continue;
		exec_jobs_answer(x, talk_pop(x, s), &s->frame, p, n, out);
		s->alone = false;
	}
	return ST_OK;
}

/* The error of a child that has ended well, but owes answers. */
static enum status
talk_owes(struct exec *x, struct exec_slot *s, struct err *e)
{
	uint64_t seq = talk_oldest(s);

	err_set(e, ST_DATA, "%s %s without answers to %u element%s", x->name,
		s->child.pid > 0 ? "reads no more," : s->child.killed ? "closed its output" : "ended",
		s->n, s->n == 1 ? "" : "s");
	child_tell(&s->child, e);
	if (x->proto != FRAME_MSGPACK)
		err_help(e, "proto=%s wants exactly one answer for each element; proto=stream takes "
			 "any number of lines", frame_name(s->frame.proto));
	else if (!s->speak.greeted)
		err_help(e, "it has not answered the handshake: dsvc-exec(7) shows a program that "
			 "speaks proto=msgpack");
	return exec_fatal(x, &seq, e);
}

/* The error of a child that kept a state, which no other child can take over. */
static enum status
talk_forgot(struct exec *x, const uint64_t *seq, const struct err *why, struct err *e)
{
	*e = *why;
	err_help(e, "it keeps a state, so no other process can take its place");
	return exec_fatal(x, seq, e);
}

/* Returns the elements of a dead child to be sent again, except the oldest if it is to blame. */
static enum status
talk_died(struct exec *x, struct exec_slot *s, const struct err *why, bool guilty, struct err *e)
{
	uint64_t oldest = talk_oldest(s);
	struct exec_job *j = exec_job(x, oldest);
	struct err bad = *why;

	if (s->speak.keeps)
		return talk_forgot(x, &oldest, why, e);
	if (guilty)
		exec_told_code(x, oldest, ST_TIMEOUT);
	else
		exec_told_child(x, oldest, &s->child);

	if (!guilty && ++j->crashes >= EXEC_CRASHES) {
		guilty = true;
		err_wrap(&bad, "died %d times on this element", EXEC_CRASHES);
	}
	if (guilty && ++x->barren >= EXEC_BARREN && !x->answered) {
		*e = *why;
		return exec_fatal(x, &oldest, e);
	}
	talk_pop(x, s);
	if (guilty)
		exec_jobs_fail(x, oldest, &bad);
	else
		exec_jobs_again(x, oldest);
	while (s->n)
		exec_jobs_again(x, talk_pop(x, s));
	s->alone = false;
	return ST_OK;
}

static enum status
talk_end(struct exec *x, struct exec_slot *s, bool *moved, struct err *e)
{
	bool closing = s->closing;
	struct err why = { 0 };
	enum status st;

	*moved = true;
	s->closing = s->deaf = false;
	/* A child that owes answers gets little time to end. */
	child_reap(&s->child, s->n ? CHILD_LEFT_MS : CHILD_GRACE_MS, x->self->ctx->stop);
	st = s->child.killed && s->n == 0 ? ST_OK : exec_ended(x, s, &why);
	if (st == ST_NORUN || st == ST_NOCMD) {
		*e = why;
		return exec_fatal(x, NULL, e);
	}
	buf_reset(&s->w);
	s->w_at = 0;
	if (s->n)
		return st == ST_OK || s->child.killed ? talk_owes(x, s, e) : talk_died(x, s, &why, false, e);
	exec_hear(x, s);
	if (s->speak.keeps && !closing) {
		if (st == ST_OK)
			err_set(&why, ST_DATA, "%s ended before its input", x->name);
		return talk_forgot(x, NULL, &why, e);
	}
	if (st == ST_OK || !closing) /* in mid-stream: the next element starts another child */
		return ST_OK;
	*e = why;
	return op_source_fault(x->self, NULL, 0, e);
}

/* Fails the oldest element: no answer came within the time that one may take. */
static enum status
talk_late(struct exec *x, struct exec_slot *s, struct err *e)
{
	struct err why = { 0 };

	err_set(&why, ST_DATA, "%s gave no answer within %.3g s", x->name, (double)x->timeout / 1e9);
	child_kill(&s->child);
	child_reap(&s->child, 0, NULL);
	child_tell(&s->child, &why);
	s->closing = s->deaf = false;
	return talk_died(x, s, &why, true, e);
}

static enum status
talk_slot_step(struct exec *x, struct exec_slot *s, struct run *out, bool *moved, struct err *e)
{
	bool wrote = false;
	enum status st;

	if (s->child.pid <= 0)
		return ST_OK;
	/* the child does not read any more: its end will tell what that means */
	if (exec_write(s, &wrote) == ST_END) {
		s->deaf = true;
		child_close_in(&s->child);
	}
	if (x->over && !x->n_again && s->w_at == s->w.len && s->child.in >= 0) {
		child_close_in(&s->child);
		s->closing = true;
		wrote = true;
	}
	if (!s->pour.fresh && out->n < RUN_USUAL && child_output_read(&s->pour, s->child.out)) {
		s->heard = exec_now();
		wrote = true;
	}
	if (wrote) {
		s->moved = exec_now();
		*moved = true;
	}
	st = talk_hear(x, s, out, moved, e);
	if (st != ST_OK)
		return st;
	if (s->pour.eof && !s->pour.fresh)
		return talk_end(x, s, moved, e);
	/* Even while input keeps flowing, answers may be overdue. */
	if (x->timeout && !s->speak.delays && s->n && s->w_at == s->w.len
	    && exec_now() - s->heard > x->timeout)
		return talk_late(x, s, e);
	exec_hold_steady(x, s);
	if (wrote)
		return ST_OK;
	if (exec_speak_quiet(x, s))
		*moved = true;
	if (exec_left(s, s->moved, CHILD_LEFT_MS)) {
		s->pour.eof = s->pour.fresh = *moved = true;
		return ST_OK;
	}
	/* One that has ended reads nothing either: exec_left tells of its end. */
	if (s->n && exec_now() - s->moved > EXEC_HOLD_NS && !s->child.gone_ns
	    && (s->deaf || child_deaf(&s->child)))
		return talk_owes(x, s, e);
	if (x->timeout && s->n && exec_now() - s->moved > x->timeout)
		return talk_late(x, s, e);
	return exec_hold_look(x, s, e);
}

enum status
exec_talk_step(struct exec *x, struct run *out, bool *moved, struct err *e)
{
	enum status st = talk_fill(x, moved, e);

	for (unsigned k = 0; st == ST_OK && k < x->n_slots; k++)
		st = talk_slot_step(x, &x->slots[k], out, moved, e);
	return st;
}
