/* SPDX-License-Identifier: MIT
 *
 * The elements of a stream that do not fill a round. They are kept, one handle each, until
 * the dispatcher knows the ends of all streams and says which places they go to; then each
 * is a chunk of one element in the view that has its place.
 */
#include "base/mem.h"
#include "core/work/worker_inner.h"

static void
worker_tail_free(struct worker *w, struct worker_stream *s, const struct worker_rest *r)
{
	worker_do(w, WORKER_FREE)->handle = r->handle;
	s->bytes -= r->bytes;
	w->bytes -= r->bytes;
}

void
worker_tail_clear(struct worker *w, struct worker_stream *s)
{
	for (size_t i = 0; i < s->n_rest; i++)
		worker_tail_free(w, s, &s->rest[i]);
	s->n_rest = 0;
	mem_free(s->rest);
	s->rest = NULL;
	s->cap_rest = 0;
}

void
worker_rest(struct worker *w, int64_t now_ns, struct stream_key key, void *handle, size_t bytes, bool pad)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s || s->producing != PRODUCING) {
		worker_do(w, WORKER_FREE)->handle = handle;
		return;
	}
	if (s->n_rest == s->cap_rest)
		s->rest = mem_grow(s->rest, &s->cap_rest, s->n_rest + 1, sizeof *s->rest);
	s->rest[s->n_rest++] = (struct worker_rest){ .handle = handle, .bytes = bytes ? bytes : 1, .pad = pad };
	worker_chunk_add(w, s, bytes ? bytes : 1);
}

/* The view that has the place; views stand in the order of their places. */
static struct worker_view *
worker_tail_view(struct worker_stream *s, uint32_t place)
{
	size_t lo = 0, hi = s->n_views;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (s->views[mid].part.first <= place)
			lo = mid;
		else
			hi = mid;
	}
	return place - s->views[lo].part.first < s->views[lo].part.n ? &s->views[lo] : NULL;
}

/* Puts the handle in its place; a pad may go to several. */
static void
worker_tail_put(struct worker_stream *s, struct worker_rest *r, uint64_t at, uint64_t own)
{
	uint32_t of = s->views[0].part.of;
	struct worker_view *v = worker_tail_view(s, (uint32_t)(round_spread(of, s->tail_all, at) % of));
	struct worker_chunk c = { .handle = r->handle, .bytes = r->bytes, .count = 1, .tail = true, .state = CHUNK_QUEUED };

	if (!v)
		return;
	c.offset = round_below(&v->part, own) + round_spread_below(&v->part, s->tail_all, at) -
		round_spread_below(&v->part, s->tail_all, s->tail_at);
	if (intervals_has(&v->skip, c.offset))
		return;
	if (r->pad && !r->piece)
		r->piece = mem_zalloc(sizeof *r->piece);
	c.piece = r->piece;
	if (r->piece)
		r->piece->views++;
	worker_view_put(s, v, &c);
	r->taken = true;
}

void
worker_tail_deal(struct worker *w, struct worker_stream *s)
{
	struct worker_rest *pad = s->n_rest && s->rest[s->n_rest - 1].pad ? &s->rest[s->n_rest - 1] : NULL;
	size_t rest = s->n_rest - (pad != NULL);
	uint64_t given = s->length > s->base ? s->length - s->base : 0, own = given - given % s->views[0].part.of;

	if (!s->tail_known || s->producing != PRODUCED_ALL || s->dealt)
		return;
	s->dealt = true;
	for (uint32_t i = 0; i < s->tail_n; i++)
		if (i < rest || pad)
			worker_tail_put(s, i < rest ? &s->rest[i] : pad, s->tail_at + i, own);
	for (size_t i = 0; i < s->n_rest; i++)
		if (!s->rest[i].taken)
			worker_tail_free(w, s, &s->rest[i]);
	s->n_rest = 0;
	for (uint32_t i = 0; i < s->n_views; i++)
		worker_chunk_pump(w, s, &s->views[i]);
}

void
worker_tail_known(struct worker *w, struct worker_stream *s, const struct msg_assign *a)
{
	if (!a->tail_known || s->tail_known || s->views[0].part.of < 2)
		return;
	s->tail_known = true;
	s->tail_at = a->tail_at;
	s->tail_n = a->tail_n;
	s->tail_all = a->tail_all;
	worker_tail_deal(w, s);
}
