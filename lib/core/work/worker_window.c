/* SPDX-License-Identifier: MIT
 *
 * Groups that share a job by a window: who is behind holds nobody up. When as much is kept
 * as may be, and a reader with credit waits, the oldest chunks are given up for the views
 * that still have them, and the dispatcher is told what those have missed. What a
 * reader was sent stays until it is acknowledged or its reader is gone; so that this cannot
 * fill the memory, all readers together are sent half of it before they acknowledge.
 */
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

size_t
worker_window_share(const struct worker *w, const struct worker_stream *s)
{
	size_t share = w->o.memory / (w->n_active ? w->n_active : 1);
	size_t streams = s->pass && s->pass->streams ? s->pass->streams : 1;
	uint64_t own = s->window / streams;

	return own < share ? (size_t)own : share;
}

bool
worker_window_full(const struct worker *w, const struct worker_stream *s)
{
	return s->bytes >= worker_window_share(w, s) || w->bytes >= w->o.memory ||
		s->kept >= (size_t)WORKER_CHUNKS_MAX * s->n_views;
}

bool
worker_window_hungry(const struct worker_stream *s)
{
	for (uint32_t i = 0; i < s->n_views; i++)
		if (s->views[i].hungry)
			return true;
	return false;
}

bool
worker_window_may(const struct worker *w, const struct worker_stream *s, const struct worker_link *l)
{
	size_t links = 0;

	for (uint32_t i = 0; i < s->n_views; i++)
		links += s->views[i].n_links;
	return l->again || !l->kept || l->kept_bytes < worker_window_share(w, s) / 2 / (links ? links : 1);
}

uint64_t
worker_window_elements(const struct worker *w, const struct worker_stream *s)
{
	double usual = s->put_n ? (double)s->put_bytes / (double)s->put_n : 0;
	double fit = usual > 0 ? (double)worker_window_share(w, s) / usual : 0;

	if (!s->window || !s->put_n)
		return 0;
	return fit < 1 ? 1 : (uint64_t)fit;
}

/* Giving up */

/* The oldest chunk that waits in this view and that no reader has; n_chunks: none. */
static size_t
worker_window_oldest(const struct worker_view *v)
{
	size_t i = v->next < v->first ? v->first : v->next;

	while (i < v->n_chunks && (v->chunks[i].state != CHUNK_QUEUED || (v->chunks[i].piece && v->chunks[i].piece->taken)))
		i++;
	return i;
}

/* Chunk i of the view is missed. Those before it move up, so that none is kept for nothing. */
static void
worker_window_drop(struct worker *w, struct worker_stream *s, struct worker_view *v, size_t i)
{
	struct worker_chunk *c = &v->chunks[i];

	intervals_add(&v->missed, c->offset + c->skip, c->offset + c->count);
	worker_view_drop(w, s, v, c);
	memmove(v->chunks + v->first + 1, v->chunks + v->first, (i - v->first) * sizeof *v->chunks);
	v->chunks[v->first].state = CHUNK_DONE;
	if (v->next <= i)
		v->next++;
	worker_view_trim(s, v);
}

static bool
worker_window_give_up(struct worker *w, struct worker_stream *s)
{
	uint64_t offset = UINT64_MAX;
	bool given = false;

	for (uint32_t i = 0; i < s->n_views; i++) {
		size_t k = worker_window_oldest(&s->views[i]);

		if (k < s->views[i].n_chunks && s->views[i].chunks[k].offset < offset)
			offset = s->views[i].chunks[k].offset;
	}
	for (uint32_t i = 0; offset != UINT64_MAX && i < s->n_views; i++) {
		struct worker_view *v = &s->views[i];
		size_t k = worker_window_oldest(v);

		if (k == v->n_chunks || v->chunks[k].offset != offset)
			continue;
		worker_window_drop(w, s, v, k);
		given = true;
	}
	return given;
}

/* Telling */

static void
worker_window_tell(struct worker *w, struct worker_stream *s, struct worker_view *v)
{
	struct msg_missed *m;

	v->missed_told = true;
	v->missed_at = w->now;
	m = &worker_tell(w, MSG_MISSED)->missed;
	*m = (struct msg_missed){ s->key, (uint32_t)(v - s->views), intervals_give(&v->missed) };
	m->ranges.n = m->ranges.n < WIRE_RANGES_MAX ? m->ranges.n : WIRE_RANGES_MAX;
}

void
worker_window_make_room(struct worker *w, struct worker_stream *s)
{
	while (worker_window_full(w, s) && worker_window_hungry(s))
		if (!worker_window_give_up(w, s))
			break;
	for (uint32_t i = 0; i < s->n_views; i++)
		if (s->views[i].missed.n && !s->views[i].missed_told)
			worker_window_tell(w, s, &s->views[i]);
}

void
worker_window_again(struct worker *w, struct worker_stream *s, bool all)
{
	for (uint32_t i = 0; i < s->n_views; i++)
		if (s->views[i].missed.n && (all || w->now - s->views[i].missed_at >= CONTACT_AGAIN_NS))
			worker_window_tell(w, s, &s->views[i]);
}

void
worker_window_answer(struct worker *w, const struct msg_missed *m)
{
	struct worker_stream *s = worker_stream_find(w, m->key);
	struct worker_view *v = worker_view_of(s, m->view);

	if (!v || !v->missed_told)
		return;
	for (size_t i = 0; i < m->ranges.n; i++)
		intervals_sub(&v->missed, m->ranges.v[i].start, m->ranges.v[i].end);
	v->missed_told = false;
	if (v->missed.n)
		worker_window_tell(w, s, v);
}
