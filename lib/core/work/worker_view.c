/* SPDX-License-Identifier: MIT
 *
 * The views of a stream at a worker: a queue of chunks and the readers of it. Each view has
 * elements of its own (in rounds), or all views have the same; a handle that is in several
 * is let go when the last of them has no need of it.
 */
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

void
worker_views_init(struct worker_stream *s, const struct msg_assign *a)
{
	struct round_part part = { a->places, 0, 1 };
	bool ok = a->views.n > 0;

	for (size_t i = 0; i < a->views.n; i++) {
		part = (struct round_part){ a->places, a->views.v[i].first, a->views.v[i].n };
		ok &= round_ok(&part);
	}
	s->base = a->base;
	s->n_views = ok ? (uint32_t)a->views.n : 1;
	s->views = s->n_views > 1 ? mem_array(s->n_views, sizeof *s->views) : &s->one;
	for (uint32_t i = 0; i < s->n_views; i++) {
		s->views[i].part = ok ? (struct round_part){ a->places, a->views.v[i].first, a->views.v[i].n } : ROUND_ALL;
		if (ok && (s->n_views > 1 || a->places > 1))
			intervals_add_ranges(&s->views[i].skip, &a->views.v[i].skip);
	}
	s->shared = ok && a->shared && a->places == 1;
	s->hole = s->shared ? UINT64_MAX : 0;
	for (size_t i = 0; s->shared && i < a->views.n; i++) {
		const struct ranges *skip = &a->views.v[i].skip;
		uint64_t end = skip->n ? skip->v[skip->n - 1].end : 0;

		s->hole = end < s->hole ? end : s->hole;
	}
}

void
worker_views_clear(struct worker *w, struct worker_stream *s)
{
	s->shared = false;
	worker_late_clear(w, s);
	for (uint32_t i = 0; i < s->n_views; i++) {
		struct worker_view *v = &s->views[i];

		for (size_t k = v->first; k < v->n_chunks; k++)
			if (v->chunks[k].state != CHUNK_DONE)
				worker_view_drop(w, s, v, &v->chunks[k]);
		while (v->links) {
			struct worker_link *l = v->links;

			v->links = l->next;
			mem_free(l);
		}
		intervals_clear(&v->skip);
		intervals_clear(&v->acked);
		intervals_clear(&v->missed);
		mem_free(v->chunks);
		mem_free(v->gone);
	}
	if (s->views != &s->one)
		mem_free(s->views);
	s->views = NULL;
	s->n_views = 0;
}

struct worker_view *
worker_view_of(struct worker_stream *s, uint32_t view)
{
	return s && view < s->n_views ? &s->views[view] : NULL;
}

struct worker_link *
worker_view_link(struct worker_view *v, uint64_t seat)
{
	struct worker_link *l = v->links;

	while (l && l->seat != seat)
		l = l->next;
	return l;
}

bool
worker_view_is_gone(const struct worker_view *v, uint64_t seat)
{
	for (size_t i = 0; i < v->n_gone; i++)
		if (v->gone[i] == seat)
			return true;
	return false;
}

void
worker_view_put(struct worker_stream *s, struct worker_view *v, const struct worker_chunk *c)
{
	if (v->n_chunks == v->cap_chunks && v->first > v->cap_chunks / 2) {
		memmove(v->chunks, v->chunks + v->first, (v->n_chunks - v->first) * sizeof *v->chunks);
		v->next = v->next > v->first ? v->next - v->first : 0;
		v->n_chunks -= v->first;
		v->first = 0;
	}
	if (v->n_chunks == v->cap_chunks)
		v->chunks = mem_grow(v->chunks, &v->cap_chunks, v->n_chunks + 1, sizeof *v->chunks);
	v->chunks[v->n_chunks++] = *c;
	s->kept++;
	s->live++;
	v->live++;
}

void
worker_view_drop(struct worker *w, struct worker_stream *s, struct worker_view *v, struct worker_chunk *c)
{
	s->live--;
	v->live--;
	if (c->state == CHUNK_AGAIN)
		c->link->again--;
	if (c->link) {
		c->link->kept--;
		c->link->kept_bytes -= c->bytes;
	}
	if (c->piece && c->link)
		c->piece->taken--;
	if (!c->piece || !--c->piece->views) {
		if (!worker_late_keep(w, s, c))
			worker_do(w, WORKER_FREE)->handle = c->handle;
		s->bytes -= c->bytes;
		w->bytes -= c->bytes;
		mem_free(c->piece);
	}
	c->handle = NULL;
	c->piece = NULL;
	c->link = NULL;
	c->state = CHUNK_DONE;
}

static bool
worker_view_last(const struct worker_stream *s, const struct worker_view *v)
{
	for (uint32_t k = 0; k < s->n_views; k++)
		if (&s->views[k] != v && !s->views[k].ended && !s->views[k].ends)
			return false;
	return true;
}

void
worker_view_end(struct worker *w, struct worker_stream *s, struct worker_view *v)
{
	v->ends = worker_view_last(s, v);
	v->ended = !v->ends;
	if (v->ends)
		return;
	v->hungry = v->starved = false;
	for (size_t i = v->first; i < v->n_chunks; i++)
		if (v->chunks[i].state != CHUNK_DONE)
			worker_view_drop(w, s, v, &v->chunks[i]);
}

void
worker_view_trim(struct worker_stream *s, struct worker_view *v)
{
	size_t first = v->first;

	while (v->first < v->n_chunks && v->chunks[v->first].state == CHUNK_DONE)
		v->first++;
	s->kept -= v->first - first;
	if (v->first == v->n_chunks)
		v->first = v->n_chunks = v->next = 0;
}

size_t
worker_view_search(const struct worker_view *v, uint64_t at)
{
	size_t lo = v->first, hi = v->n_chunks;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (v->chunks[mid].offset + v->chunks[mid].count <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
