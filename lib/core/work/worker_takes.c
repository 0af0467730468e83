/* SPDX-License-Identifier: MIT
 *
 * Which readers have had chunks of which streams: told to the dispatcher, so that it need
 * not tell all streams of a reader that is gone. The first chunk goes to a reader without
 * waiting for the answer; if the dispatcher knows no such reader (any more), that answer
 * is READER_GONE.
 *
 * Pairs wait a moment for company, and one message is under way at a time. Whoever answers
 * HELLO is told all of them again, for it may have been started again.
 */
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

#define WORKER_TAKES_NS 20000000ll /* at most one message in so long */

void
worker_takes_add(struct worker *w, const struct worker_stream *s, const struct worker_view *v, struct worker_link *l)
{
	struct worker_takes *t = &w->takes;

	l->told = true;
	t->v = mem_grow(t->v, &t->cap, t->n + 1, sizeof *t->v);
	t->v[t->n++] = (struct msg_take){ s->key, l->seat, (uint32_t)(v - s->views) };
}

void
worker_takes_send(struct worker *w)
{
	struct worker_takes *t = &w->takes;
	struct msg *m;

	if (!t->n || t->under_way || w->now < t->due || !w->contact.connected)
		return;
	t->under_way = t->n < WIRE_TAKES_MAX ? t->n : WIRE_TAKES_MAX;
	t->due = w->now + WORKER_TAKES_NS;
	t->again = w->now + CONTACT_AGAIN_NS;
	m = worker_tell(w, MSG_TAKES);
	m->req = ++t->req;
	m->takes.list.n = t->under_way;
	m->takes.list.v = mem_dup(t->v, t->under_way * sizeof *t->v);
}

void
worker_takes_ok(struct worker *w, uint64_t req)
{
	struct worker_takes *t = &w->takes;

	if (!t->under_way || req != t->req)
		return;
	t->n -= t->under_way;
	memmove(t->v, t->v + t->under_way, t->n * sizeof *t->v);
	t->under_way = 0;
	worker_takes_send(w);
}

void
worker_takes_again(struct worker *w)
{
	struct worker_takes *t = &w->takes;

	if (t->under_way && w->now >= t->again)
		t->under_way = 0;
	worker_takes_send(w);
}

void
worker_takes_all(struct worker *w)
{
	w->takes.n = w->takes.under_way = 0;
	for (size_t i = 0; i < w->streams.n; i++) {
		struct worker_stream *s = w->streams.items[i].value;

		for (uint32_t k = 0; k < s->n_views; k++)
			for (struct worker_link *l = s->views[k].links; l; l = l->next)
				if (l->told)
					worker_takes_add(w, s, &s->views[k], l);
	}
	worker_takes_send(w);
}

int64_t
worker_takes_deadline(const struct worker *w)
{
	const struct worker_takes *t = &w->takes;

	return t->n && !t->under_way && w->contact.connected ? t->due : INT64_MAX;
}
