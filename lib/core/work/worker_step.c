/* SPDX-License-Identifier: MIT
 *
 * Careful streams: workers were lost while they made them. Before each run of elements the thread
 * waits until the dispatcher has heard where the stream stands, so that it knows of the next loss what was being made.
 *
 *	worker_step -> STEP -> STEP_OK -> WORKER_STEP
 *
 * A stream that readers hold up, or that has no thread, says so, and makes nothing meanwhile.
 */
#include "core/work/worker_inner.h"

static bool
worker_step_held(const struct worker_stream *s)
{
	return (s->stalled && !s->handing) || s->place != WORKER_ON; /* to be handed over it may have to get on */
}

static void
worker_step_tell(struct worker *w, struct worker_stream *s)
{
	struct msg *m = worker_tell(w, MSG_STEP);

	s->step.held = worker_step_held(s);
	s->step_told = w->now;
	m->req = ++s->step_req;
	m->step = s->step;
}

void
worker_step(struct worker *w, int64_t now_ns, struct stream_key key, uint64_t offset, bool ahead)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s)
		return;
	s->steps = true;
	s->step = (struct msg_step){ .key = key, .offset = offset, .ahead = ahead };
	worker_step_tell(w, s);
}

void
worker_step_check(struct worker *w, struct worker_stream *s)
{
	if (s->steps && s->producing == PRODUCING && s->step.held != worker_step_held(s))
		worker_step_tell(w, s);
}

void
worker_step_again(struct worker *w, struct worker_stream *s, bool all)
{
	if (s->steps && s->producing == PRODUCING && (all || (!s->step.held && w->now - s->step_told >= CONTACT_AGAIN_NS)))
		worker_step_tell(w, s);
}

void
worker_step_ok(struct worker *w, const struct msg *m)
{
	struct worker_stream *s = worker_stream_find(w, m->step_ok.key);
	struct worker_action *a;

	if (!s || !s->steps || s->step.held || m->req != s->step_req)
		return;
	s->steps = false;
	a = worker_do(w, WORKER_STEP);
	a->key = s->key;
	a->free = m->step_ok.free;
}
