/* SPDX-License-Identifier: MIT
 *
 * The state of exec between two pulls: what is in flight, to be sent again; and of
 * a program that keeps a state itself (proto=msgpack), that state, and the answers
 * which have not been given, for their elements are part of it.
 */
#include <poll.h>

#include "op/exec/exec_work.h"
#include "op/state.h"

enum { STATE_WAIT_MS = 10000, STATE_DONE_MAX = 1 << 20 };

/* Handles the messages that have come. False: one was invalid; the error is kept for the next
 * pull. */
static bool
state_hear(struct exec *x, struct exec_slot *s, bool *moved)
{
	const uint8_t *p;
	size_t n;

	if (!s->pour.fresh && child_output_read(&s->pour, s->child.out))
		*moved = true;
	while (s->pour.fresh) {
		enum status st = child_output_next(&s->pour, &s->frame, &p, &n, &x->broken);

		if (st == ST_END)
			break;
		if (st == ST_OK)
			st = exec_speak_hear(x, s, p, n, NULL, &x->broken);
		if (st != ST_OK)
			return false;
	}
	return true;
}

/* Waits until the child has answered every element it was given and, if asked for its state,
 * has told it. */
static bool
state_await(struct exec *x, struct exec_slot *s)
{
	const atomic_bool *stop = x->self->ctx->stop;
	int64_t until = exec_now() + (int64_t)STATE_WAIT_MS * 1000000;
	struct pollfd p[3];

	while (s->w_at < s->w.len || s->n || s->speak.asked) {
		bool moved = false;

		if (s->n && s->speak.delays && !s->speak.flushed) {
			exec_speak_ask(s, "flush");
			s->speak.flushed = true;
		}
		if (exec_write(s, &moved) == ST_END || !state_hear(x, s, &moved))
			return false;
		if (s->pour.eof)
			return s->n == 0 && !s->speak.asked;
		if (moved)
			continue;
		if (exec_now() > until || (stop && atomic_load_explicit(stop, memory_order_relaxed)))
			return false;
		child_poll(&s->child, p, s->w_at < s->w.len, true);
		poll(p, 3, CHILD_TICK_MS);
		child_listen(&s->child);
	}
	return true;
}

static bool
state_ask(struct exec *x, struct exec_slot *s)
{
	s->speak.asked = s->speak.asked && s->child.pid > 0;
	if (!state_await(x, s) || x->n_again)
		return false;
	for (uint64_t seq = x->head; seq < x->next; seq++)
		if (exec_job(x, seq)->state == JOB_FAULT)
			return false;
	s->speak.told = false;
	/* it has had all input, and may have ended: no successor will need its state */
	if (s->child.in < 0)
		return true;
	s->speak.asked = true;
	exec_speak_ask(s, "save");
	return state_await(x, s) && s->speak.told;
}

void
exec_state_save(struct exec *x, struct buf *out)
{
	struct exec_slot *s = &x->slots[0];
	bool keeps = x->kept; /* the child keeps a state: what it has answered is part of that */

	exec_feed_rest(&x->feed);
	state_put_u64(out, x->head);
	if (keeps && !state_ask(x, s)) {
		x->self->unsaved = true;
		return;
	}
	const struct buf *state = keeps ? &s->speak.state : &x->load;
	bool has = keeps ? s->speak.told : x->loads;
	state_put_u64(out, has);
	if (has)
		state_put_bytes(out, state->data, state->len);
	state_put_u64(out, keeps ? exec_jobs_waiting(x) : 0);
	for (uint64_t seq = x->head; keeps && seq < x->next; seq++)
		if (exec_job(x, seq)->state == JOB_DONE)
			exec_jobs_save_done(x, seq, out);
	exec_jobs_save(x, out, keeps);
}

enum status
exec_state_restore(struct exec *x, const uint8_t *p, size_t n, struct err *e)
{
	struct state_in in = state_begin(p, n);
	size_t len;

	x->head = x->next = state_get_u64(&in, UINT64_MAX / 2);
	x->loads = state_get_u64(&in, 1);
	if (x->loads && state_get_bytes(&in, &p, &len))
		buf_put(&x->load, p, len);
	for (uint64_t k = state_get_u64(&in, STATE_DONE_MAX); k > 0 && !in.bad; k--)
		exec_jobs_restore_done(x, &in);
	return exec_jobs_restore(x, &in, e);
}
