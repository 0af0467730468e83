/* SPDX-License-Identifier: MIT
 *
 * One stream at a worker: its coming and going, its end.
 */
#include "base/mem.h"
#include "core/work/worker_inner.h"

/* Coming and going */

void
worker_stream_drop(struct worker *w, struct worker_stream *s)
{
	struct worker_stream_name name = { s->key.iteration, s->key.stream };

	if (s->begun)
		worker_do(w, WORKER_STOP)->key = s->key;
	worker_tail_clear(w, s);
	worker_views_clear(w, s);
	hash_del(&w->streams, &name, sizeof name);
	worker_turn_leave(w, s);
	msg_clear(&s->assign);
	worker_chunk_leave(w, s);
	mem_free(s->hand_state.p);
	mem_free(s->text);
	mem_free(s->help);
	mem_free(s);
}

void
worker_stream_assign(struct worker *w, struct msg *m)
{
	struct stream_key key = m->assign.key;
	struct worker_stream_name name = { key.iteration, key.stream };
	struct worker_stream *s = worker_stream_any(w, key);

	if (s && s->key.gen > key.gen)
		return;
	if (!s || s->key.gen < key.gen) {
		if (s)
			worker_stream_drop(w, s);
		s = mem_zalloc(sizeof *s);
		s->key = key;
		s->by_split = m->assign.by_split;
		s->order = m->assign.order;
		s->ordered = s->order != ORDER_ANY;
		s->fixed = s->by_split && (s->ordered || m->assign.sharding == SHARD_FILE);
		s->next_split = s->taken = s->first_split = m->assign.split;
		s->made_to = m->assign.offset;
		s->failed = m->assign.failed;
		s->secret = m->assign.secret;
		s->window = m->assign.window;
		worker_views_init(s, &m->assign);
		worker_tail_known(w, s, &m->assign);
		hash_put(&w->streams, &name, sizeof name, s);
		worker_chunk_activity(w, s);
		s->assign = *m;
		*m = (struct msg){ 0 };
		worker_turn_enter(w, s);
		if (w->draining)
			worker_stream_hand(w, s);
	} else {
		worker_tail_known(w, s, &m->assign);
	}
	worker_tell(w, MSG_ASSIGNED)->assigned.key = key;
	worker_chunk_budget(w);
}

/* The end */

static void
worker_stream_tell_end(struct worker *w, struct worker_stream *s)
{
	struct msg *m;

	if (s->producing == PRODUCED_HANDED) {
		worker_chunk_hand_done(w, s);
		return;
	}
	worker_stores_rest(w, s);
	s->told = true;
	s->told_at = w->now;
	m = worker_tell(w, MSG_STREAM_END);
	m->stream_end = (struct msg_stream_end){ .key = s->key, .length = s->length,
		.split = s->fail_split, .made = s->made,
		.failed = s->failed, .reached = s->reached, .code = s->code, .text = mem_strdup(s->text),
		.help = mem_strdup(s->help) };
}

void
worker_ended(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t length,
	     uint64_t made)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s || s->producing != PRODUCING)
		return;
	s->producing = PRODUCED_ALL;
	s->length = length;
	s->made = made;
	worker_turn_over(w, s);
	worker_stream_tell_end(w, s);
	worker_tail_deal(w, s);
	worker_chunk_activity(w, s);
	worker_chunk_budget(w);
}

void
worker_failed(struct worker *w, int64_t now_ns, struct stream_key key, const struct err *e,
	      uint64_t length, uint64_t split, uint64_t made)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s || s->producing != PRODUCING)
		return;
	s->producing = PRODUCED_FAILED;
	s->length = length;
	s->fail_split = split;
	s->made = made;
	s->code = status_code(e->kind);
	s->text = mem_strdup(e->text);
	s->help = mem_strdup(e->help);
	worker_turn_over(w, s);
	worker_stream_tell_end(w, s);
	worker_chunk_activity(w, s);
	worker_chunk_budget(w);
}

void
worker_restart(struct worker *w, int64_t now_ns, struct stream_key key,
	       uint64_t offset, uint64_t split, const void *state, size_t n)
{
	struct worker_stream *s = worker_stream_find(w, key);
	struct msg *m;

	w->now = now_ns;
	/* A lost one costs time only, so none is kept for later. */
	if (!s || !w->contact.connected || n > WIRE_STATE_MAX)
		return;
	m = worker_tell(w, MSG_RESTART);
	m->restart = (struct msg_restart){ .key = key, .offset = offset, .split = split,
		.failed = s->failed, .window = worker_window_elements(w, s),
		.reached = s->reached };
	m->restart.state.n = n;
	m->restart.state.p = n ? mem_dup(state, n) : NULL;
}

void
worker_faults(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t failed,
	      struct msg_faults_list *list)
{
	struct worker_stream *s = worker_stream_find(w, key);
	struct msg lost = { .type = MSG_FAULTS, .faults.list = *list };

	w->now = now_ns;
	*list = (struct msg_faults_list){ 0 };
	if (s && failed > s->failed)
		s->failed = failed;
	if (!s || !w->contact.connected) {
		msg_clear(&lost);
		return;
	}
	lost.faults.key = key;
	lost.faults.failed = s->failed;
	*worker_tell(w, MSG_FAULTS) = lost;
}

void
worker_stream_hand(struct worker *w, struct worker_stream *s)
{
	struct msg_assign *a = &s->assign.assign;

	if (s->handing || s->producing != PRODUCING)
		return;
	s->handing = true;
	if (s->begun) {
		worker_do(w, WORKER_HANDOVER)->key = s->key;
		worker_turn_check(w, s);
		worker_step_check(w, s);
		return;
	}
	/* It goes back as it came. */
	s->producing = PRODUCED_HANDED;
	s->hand_offset = a->offset;
	s->hand_split = a->split;
	s->hand_state = a->state;
	a->state = (struct bytes){ 0 };
	worker_turn_check(w, s);
	worker_chunk_hand_done(w, s);
}

static void
worker_stream_tell_yielded(struct worker *w, struct worker_stream *s)
{
	if (!s->yields)
		return;
	s->yields = false;
	worker_tell(w, MSG_YIELDED)->yielded = (struct msg_yielded){ s->key, s->producing != PRODUCED_HANDED };
}

/* One that was handed over, cannot be, or is made by now says so at once. */
void
worker_stream_yield(struct worker *w, struct stream_key key)
{
	struct worker_stream *s = worker_stream_find(w, key);

	if (!s)
		return;
	s->yields = true;
	if (!s->stays)
		worker_stream_hand(w, s);
	if (s->stays || s->producing != PRODUCING)
		worker_stream_tell_yielded(w, s);
}

void
worker_handed(struct worker *w, int64_t now_ns, struct stream_key key, bool can,
	      uint64_t offset, uint64_t split, const void *state, size_t n, uint64_t made)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s || !s->handing || s->producing != PRODUCING)
		return;
	if (!can || n > WIRE_STATE_MAX) {
		s->handing = false;
		s->stays = true;
		worker_stream_tell_yielded(w, s);
		worker_stream_ask(w, s);
		worker_turn_check(w, s);
		return;
	}
	s->producing = PRODUCED_HANDED;
	s->hand_offset = offset;
	s->hand_split = split;
	s->hand_state.n = n;
	s->hand_state.p = n ? mem_dup(state, n) : NULL;
	s->made = made;
	worker_stream_tell_yielded(w, s);
	worker_turn_over(w, s);
	worker_chunk_activity(w, s);
	worker_chunk_hand_done(w, s);
	worker_chunk_budget(w);
}

void
worker_stream_end_ok(struct worker *w, struct stream_key key)
{
	struct worker_stream *s = worker_stream_find(w, key);

	if (!s || !s->told)
		return;
	s->confirmed = true;
	if (s->producing == PRODUCED_HANDED)
		worker_stream_drop(w, s);
}

void
worker_stream_again(struct worker *w, struct worker_stream *s, bool all)
{
	if (s->asking && (all || w->now - s->asked_at >= CONTACT_AGAIN_NS))
		worker_stream_tell_ask(w, s);
	if (s->told && !s->confirmed && (all || w->now - s->told_at >= CONTACT_AGAIN_NS))
		worker_stream_tell_end(w, s);
	worker_window_again(w, s, all);
	worker_step_again(w, s, all);
}
