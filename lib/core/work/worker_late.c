/* SPDX-License-Identifier: MIT
 *
 * Groups that come late to a shared job. Chunks that no view needs any more are kept as long
 * as there is room for them: they are the first to go. A view that is added begins at the
 * oldest chunk from which on nothing is missing, so that nothing is made again for it, and
 * the other groups do not notice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/work/worker_inner.h"

/* Keeping */

bool
worker_late_keep(struct worker *w, struct worker_stream *s, const struct worker_chunk *c)
{
	struct worker_late *l = &s->late;
	size_t at;

	if (!s->shared)
		return false;
	if (l->n == l->cap && l->first > l->cap / 2) {
		memmove(l->v, l->v + l->first, (l->n - l->first) * sizeof *l->v);
		l->n -= l->first;
		l->first = 0;
	}
	if (l->n == l->cap)
		l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	for (at = l->n++; at > l->first && l->v[at - 1].offset > c->offset; at--)
		l->v[at] = l->v[at - 1];
	l->v[at] = (struct worker_chunk){ .handle = c->handle, .offset = c->offset, .split = c->split, .bytes = c->bytes,
		.count = c->count };
	l->bytes += c->bytes;
	w->late_bytes += c->bytes;
	return true;
}

static void
worker_late_free(struct worker *w, struct worker_late *l, size_t n)
{
	for (; n--; l->first++) {
		worker_do(w, WORKER_FREE)->handle = l->v[l->first].handle;
		l->bytes -= l->v[l->first].bytes;
		w->late_bytes -= l->v[l->first].bytes;
	}
	if (l->first == l->n)
		l->first = l->n = 0;
}

void
worker_late_trim(struct worker *w, struct worker_stream *s)
{
	struct worker_late *l = &s->late;
	size_t share = s->window ? worker_window_share(w, s) : w->o.memory / (w->n_active ? w->n_active : 1);

	while (l->n > l->first && (s->bytes + l->bytes > share || w->bytes + w->late_bytes > w->o.memory ||
				   l->n - l->first > WORKER_CHUNKS_MAX))
		worker_late_free(w, l, 1);
	for (size_t i = 0; w->late_bytes && w->bytes + w->late_bytes > w->o.memory && i < w->streams.n; i++) {
		struct worker_stream *o = w->streams.items[i].value;

		worker_late_free(w, &o->late, o->late.n - o->late.first);
	}
}

void
worker_late_clear(struct worker *w, struct worker_stream *s)
{
	worker_late_free(w, &s->late, s->late.n - s->late.first);
	mem_free(s->late.v);
	s->late = (struct worker_late){ 0 };
}

/* Coming */

static int
worker_late_compare(const void *a, const void *b)
{
	const struct worker_chunk *const *x = a, *const *y = b;

	return ((*x)->offset > (*y)->offset) - ((*x)->offset < (*y)->offset);
}

/* All chunks that are there, each once, by offset. Gives; they are lent. */
static struct worker_chunk **
worker_late_chunks(const struct worker_stream *s, size_t *n)
{
	struct worker_chunk **c = mem_array(s->late.n + s->kept + 1, sizeof(struct worker_chunk *));
	size_t all = 0;

	for (size_t i = s->late.first; i < s->late.n; i++)
		c[all++] = &s->late.v[i];
	for (uint32_t k = 0; k < s->n_views; k++)
		for (size_t i = s->views[k].first; i < s->views[k].n_chunks; i++)
			if (s->views[k].chunks[i].state != CHUNK_DONE)
				c[all++] = &s->views[k].chunks[i];
	qsort(c, all, sizeof *c, worker_late_compare);
	*n = 0;
	for (size_t i = 0; i < all; i++)
		if (!*n || c[*n - 1]->offset != c[i]->offset)
			c[(*n)++] = c[i];
	return c;
}

/* More views, which nobody reads yet. */
static void
worker_late_grow(struct worker_stream *s, uint32_t n)
{
	struct worker_view *v;

	if (n <= s->n_views)
		return;
	v = mem_array(n, sizeof *v);
	memcpy(v, s->views, s->n_views * sizeof *v);
	if (s->views == &s->one)
		s->one = (struct worker_view){ 0 };
	else
		mem_free(s->views);
	s->views = v;
	for (; s->n_views < n; s->n_views++)
		v[s->n_views] = (struct worker_view){ .part = ROUND_ALL, .ended = true };
}

/* The view gets what is there from its beginning on. */
static void
worker_late_fill(struct worker *w, struct worker_stream *s, struct worker_view *v, struct worker_chunk **c, size_t n)
{
	struct worker_late *l = &s->late;

	for (size_t i = 0; i < n; i++) {
		struct worker_chunk own = { .handle = c[i]->handle, .offset = c[i]->offset, .split = c[i]->split,
			.bytes = c[i]->bytes, .count = c[i]->count, .state = CHUNK_QUEUED };

		if (own.offset + own.count <= v->begin)
			continue;
		own.skip = v->begin > own.offset ? (uint32_t)(v->begin - own.offset) : 0;
		if (c[i] >= l->v && c[i] < l->v + l->n) { /* only this view has need of it */
			l->bytes -= own.bytes;
			w->late_bytes -= own.bytes;
			worker_chunk_add(w, s, own.bytes);
		} else {
			if (!c[i]->piece) {
				c[i]->piece = mem_zalloc(sizeof *c[i]->piece);
				*c[i]->piece = (struct worker_piece){ 1, c[i]->link ? 1 : 0 };
			}
			own.piece = c[i]->piece;
			own.piece->views++;
		}
		worker_view_put(s, v, &own);
	}
	while (l->n > l->first && l->v[l->n - 1].offset + l->v[l->n - 1].count > v->begin)
		l->n--;
	if (l->first == l->n)
		l->first = l->n = 0;
}

/* Adds the view, if all is there that it has to get, and nothing that is still to come is
 * left out because no other view wanted it. */
static bool
worker_late_add(struct worker *w, struct worker_stream *s, const struct msg_view_add *m)
{
	uint64_t at = s->producing == PRODUCED_ALL ? s->length : s->made_to;
	struct worker_chunk **c;
	size_t n, i;
	bool is;

	if (!s->shared || s->producing == PRODUCED_FAILED || s->producing == PRODUCED_HANDED || s->hole > s->made_to)
		return false;
	c = worker_late_chunks(s, &n);
	for (i = n; i && c[i - 1]->offset + c[i - 1]->count == at; i--)
		at = c[i - 1]->offset;
	is = m->later || at <= m->first;
	if (is) {
		worker_late_grow(s, m->view + 1);
		s->views[m->view].ended = false;
		s->views[m->view].begin = at > m->first ? at : m->first;
		worker_late_fill(w, s, &s->views[m->view], c + i, n - i);
	}
	mem_free(c);
	return is;
}

void
worker_late_view(struct worker *w, const struct msg_view_add *m)
{
	struct worker_stream *s = worker_stream_find(w, m->key);
	struct worker_view *v = worker_view_of(s, m->view);
	bool is;

	if (!s)
		return;
	if (v)
		v->ends = false; /* its group has come back */
	is = (v && !v->ended) || worker_late_add(w, s, m);
	worker_tell(w, MSG_VIEW_OK)->view_ok = (struct msg_view_ok){ .key = m->key, .view = m->view, .can = is,
		.begin = is ? s->views[m->view].begin : 0 };
	if (!is)
		return;
	worker_chunk_ends(w, s);
	worker_chunk_pump(w, s, &s->views[m->view]);
}
