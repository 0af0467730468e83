/* SPDX-License-Identifier: MIT
 *
 * The splits of a stream, asked for ahead of the thread that reads them.
 */
#include "core/work/worker_inner.h"

void
worker_stream_tell_ask(struct worker *w, struct worker_stream *s)
{
	struct msg *m = worker_tell(w, MSG_SPLIT_REQ);

	m->split_req = (struct msg_split_req){ .key = s->key, .k = s->next_split, .n = WORKER_SPLITS_ASKED,
		.given = s->made_to + s->stored, .reading = s->taken > s->first_split ? s->taken - 1 : s->first_split,
		.reached = s->reached, .ended = s->ended, .leaf = s->ended_leaf, .length = s->ended_length };
	worker_clock(w, s);
	s->asking = true;
	s->asked_at = w->now;
}

/* A stream that is to be handed over takes no more than it needs: its state cannot be saved while a thread of
 * its chain waits for a split. */
void
worker_stream_ask(struct worker *w, struct worker_stream *s)
{
	if (!s->begun || !s->by_split || s->asking || s->split_end || s->producing != PRODUCING)
		return;
	if (s->handing && !s->fixed && s->next_split > s->taken)
		return;
	if (s->next_split < s->taken + w->o.splits_ahead)
		worker_stream_tell_ask(w, s);
}

void
worker_stream_splits(struct worker *w, struct msg *m)
{
	struct worker_stream *s = worker_stream_find(w, m->split.key);
	struct worker_action *a;

	if (!s || !s->asking || m->split.k != s->next_split || (!m->split.splits.n && !m->split.end))
		return;
	worker_clock(w, s);
	s->asking = false;
	s->next_split += m->split.splits.n;
	s->split_end = m->split.end;
	a = worker_do(w, WORKER_SPLITS);
	a->key = s->key;
	a->msg = *m;
	*m = (struct msg){ 0 };
	worker_stream_ask(w, s);
}

void
worker_reached(struct worker *w, struct stream_key key)
{
	struct worker_stream *s = worker_stream_find(w, key);

	if (s)
		s->reached = true;
}

void
worker_source_ended(struct worker *w, struct stream_key key, uint32_t leaf, uint64_t length)
{
	struct worker_stream *s = worker_stream_find(w, key);

	if (!s)
		return;
	s->ended = true;
	s->ended_leaf = leaf;
	s->ended_length = length;
}

void
worker_split_taken(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t k, uint64_t stored)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s)
		return;
	worker_clock(w, s);
	s->stored = stored;
	if (k + 1 > s->taken)
		s->taken = k + 1;
	worker_turn_moved(s);
	worker_stream_ask(w, s);
}
