/* SPDX-License-Identifier: MIT */
#include "host/work/deal.h"

#include <string.h>

#include "base/mem.h"
#include "value/round.h"

/* The builders of all views together hold about so much. */
enum { DEAL_BYTES = 2 << 20, DEAL_LEAST = 4 << 10 };

struct deal_view {
	struct builder builder;
	uint64_t offset;           /* the next element's, counted in the view */
	uint32_t first, n;         /* its places */
	const struct ranges *skip;
	size_t skip_at;            /* the range of skip that comes next */
	bool want;
	int64_t cut_ns;            /* when a chunk was last cut */
};
struct deal {
	struct deal_view *views;
	uint32_t n_views, n_want, of;
	uint64_t before;           /* elements left until the first round begins */
	uint32_t lead, place;      /* kept: places [lead, place) of a round that is not whole */
	struct kept *kept;
	struct run run;            /* those that are kept, or that go to one view */
	size_t most;               /* bytes at which a builder is cut */
	int64_t now;
	bool pad;
	deal_out out;
	void *arg;
};

struct deal *
deal_new(const struct msg_assign *a, struct arenas *arenas, deal_out out, void *arg)
{
	struct deal *d;
	uint64_t from;

	for (size_t i = 0; i < a->views.n; i++)
		if (!round_ok(&(struct round_part){ a->places, a->views.v[i].first, a->views.v[i].n }))
			return NULL;
	if (a->places < 2 || !a->views.n)
		return NULL;
	d = mem_zalloc(sizeof *d);
	d->of = a->places;
	d->n_views = (uint32_t)a->views.n;
	d->views = mem_array(d->n_views, sizeof *d->views);
	d->kept = mem_array(d->of, sizeof *d->kept);
	d->most = DEAL_BYTES / d->n_views;
	d->most = d->most > CHUNK_BYTES ? CHUNK_BYTES : d->most < DEAL_LEAST ? DEAL_LEAST : d->most;
	from = a->offset > a->base ? a->offset - a->base : 0;
	d->before = a->offset < a->base ? a->base - a->offset : 0;
	d->lead = d->place = (uint32_t)(from % d->of);
	d->pad = a->pad;
	d->out = out;
	d->arg = arg;
	for (uint32_t i = 0; i < d->n_views; i++) {
		const struct msg_view *v = &a->views.v[i];
		struct round_part part = { d->of, v->first, v->n };

		d->views[i] = (struct deal_view){ .first = v->first, .n = v->n, .skip = &v->skip,
			.offset = round_below(&part, from), .builder.arenas = arenas };
	}
	return d;
}

static void
deal_give(struct deal *d, struct deal_view *v, struct chunk *c)
{
	if (!c)
		return;
	d->n_want -= v->want;
	v->want = false;
	v->cut_ns = d->now;
	d->out(d->arg, (uint32_t)(v - d->views), c);
}

/* Elements of a view, one after another: each lies `step` behind the one before. */
struct dealt { const struct elem *e; uint32_t step, n; };

/* All of them are to be sent. */
static void
deal_take(struct deal *d, struct deal_view *v, struct dealt t)
{
	struct builder *b = &v->builder;

	if (!b->count)
		b->offset = v->offset;
	while (t.n) {
		uint32_t took = builder_pick(b, t.e, t.step, t.n);

		t.e += (size_t)took * t.step;
		t.n -= took;
		v->offset += took;
		if (!t.n)
			break;
		deal_give(d, v, builder_cut(b));
		if (builder_owns(b, t.e->len)) {
			deal_give(d, v, builder_own(b, t.e));
			t.e += t.step;
			t.n--;
			v->offset++;
		}
	}
	if (b->len >= d->most || b->count == CHUNK_ELEMENTS)
		deal_give(d, v, builder_cut(b));
}

/* The view's next: what somebody has is left out. */
static void
deal_add(struct deal *d, struct deal_view *v, struct dealt t)
{
	while (t.n) {
		uint64_t start = UINT64_MAX, end = UINT64_MAX, many = t.n;

		while (v->skip_at < v->skip->n && v->skip->v[v->skip_at].end <= v->offset)
			v->skip_at++;
		if (v->skip_at < v->skip->n) {
			start = v->skip->v[v->skip_at].start;
			end = v->skip->v[v->skip_at].end;
		}
		if (start <= v->offset) {
			many = end - v->offset < many ? end - v->offset : many;
			deal_give(d, v, builder_cut(&v->builder));
			v->offset += many;
		} else {
			many = start - v->offset < many ? start - v->offset : many;
			deal_take(d, v, (struct dealt){ t.e, t.step, (uint32_t)many });
		}
		t.e += (size_t)many * t.step;
		t.n -= (uint32_t)many;
	}
}

/* The round that was kept is whole. */
static void
deal_whole(struct deal *d)
{
	run_reset(&d->run);
	for (uint32_t i = d->lead; i < d->of; i++)
		run_push(&d->run, d->kept[i].e);
	for (uint32_t k = 0; k < d->n_views; k++) {
		struct deal_view *v = &d->views[k];
		uint32_t from = v->first > d->lead ? v->first - d->lead : 0;

		if (v->first + v->n > d->lead)
			deal_add(d, v, (struct dealt){ d->run.e + from, 1, v->first + v->n - d->lead - from });
	}
	d->lead = d->place = 0;
}

/* The view's elements of so many whole rounds. */
static void
deal_rounds(struct deal *d, struct deal_view *v, const struct elem *e, uint32_t rounds)
{
	if (v->n == 1) {
		deal_add(d, v, (struct dealt){ e + v->first, d->of, rounds });
		return;
	}
	run_reset(&d->run);
	for (uint32_t q = 0; q < rounds; q++)
		for (uint32_t i = 0; i < v->n; i++)
			run_push(&d->run, e[q * d->of + v->first + i]);
	deal_add(d, v, (struct dealt){ d->run.e, 1, d->run.n });
}

void
deal_append(struct deal *d, const struct run *r, int64_t now_ns)
{
	uint32_t i = 0;

	d->now = now_ns;
	i = d->before < r->n ? (uint32_t)d->before : r->n;
	d->before -= i;
	while (i < r->n) {
		uint32_t rounds = (r->n - i) / d->of;

		if (d->place || !rounds) {
			kept_set(&d->kept[d->place++], r->e[i++]);
			if (d->place == d->of)
				deal_whole(d);
			continue;
		}
		for (uint32_t k = 0; k < d->n_views; k++)
			deal_rounds(d, &d->views[k], r->e + i, rounds);
		i += rounds * d->of;
	}
}

void
deal_cut(struct deal *d)
{
	for (uint32_t i = 0; i < d->n_views; i++)
		deal_give(d, &d->views[i], builder_cut(&d->views[i].builder));
}

int64_t
deal_want(struct deal *d, uint32_t view, int64_t now_ns, int64_t pause_ns)
{
	int64_t again = INT64_MAX;

	d->now = now_ns;
	if (view < d->n_views && !d->views[view].want) {
		d->views[view].want = true;
		d->n_want++;
	}
	for (uint32_t i = 0, left = d->n_want; i < d->n_views && left; i++) {
		struct deal_view *v = &d->views[i];
		int64_t at = v->cut_ns + pause_ns;

		left -= v->want;
		if (v->want && now_ns < at)
			again = at < again ? at : again;
		else if (v->want)
			deal_give(d, v, builder_cut(&v->builder));
	}
	return again;
}

struct chunk *
deal_rest(struct deal *d, uint32_t i, bool *pad)
{
	static const uint8_t nil = 0xc0;
	struct elem null = { .p = &nil, .len = 1 };
	struct builder one = { 0 };
	uint32_t n = d->lead ? 0 : d->place;

	*pad = i == n;
	if (i > n || (*pad && !d->pad))
		return NULL;
	if (*pad)
		return builder_own(&one, &null);
	return builder_own(&one, &d->kept[i].e);
}

void
deal_free(struct deal **dp)
{
	struct deal *d = *dp;

	*dp = NULL;
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n_views; i++)
		builder_clear(&d->views[i].builder);
	for (uint32_t i = 0; i < d->of; i++)
		kept_clear(&d->kept[i]);
	run_clear(&d->run);
	mem_free(d->kept);
	mem_free(d->views);
	mem_free(d);
}
