/* SPDX-License-Identifier: MIT
 *
 * What a stream reads and where it can be begun again: its splits and its
 * restart points.
 */
#include <string.h>

#include "base/mem.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_past.h"
#include "core/disp/disp_void.h"

/* Splits */

static void
disp_split_place_get(const struct stream *s, size_t k, struct split *out)
{
	const struct split_place *p = past_split(s, k);

	split_copy(out, &s->iter->cut.units.v[p->unit]);
	out->start = p->start;
	out->count = p->count;
	out->times = p->times;
	out->weight = p->weight;
	out->cuttable = false;
}

char *
disp_split_describe(const struct stream *s, size_t k)
{
	const struct split_place *p = k >= s->first_split && k < s->n_splits ? past_split(s, k) : NULL;
	const struct split *u = p ? &s->iter->cut.units.v[p->unit] : NULL;

	if (!p)
		return mem_printf("its split %zu", k);
	if (u->kind == SPLIT_FILE && u->whole && !p->start)
		return mem_printf("its split %zu, %s", k, u->path);
	if (u->kind == SPLIT_FILE)
		return mem_printf("its split %zu, %s from byte %llu on", k, u->path, (unsigned long long)p->start);
	return mem_printf("its split %zu, the source from %llu on", k, (unsigned long long)p->start);
}

#define DISP_SPLIT_MOST_NS 1000000000.0 /* a split should take no longer ... */
#define DISP_SPLIT_YOUNG_NS 5000000ll /* little and fast work is over by then, on one stream */
#define DISP_SPLIT_FOLD_NS 400000000.0
#define DISP_SPLIT_EACH_NS 4000000.0 /* elements that take less are not slow */
#define DISP_SPLIT_SPAN_NS 2000000000.0
#define DISP_SPLIT_LEAST_NS 20000000.0 /* ... nor less than this, if it may be larger */
enum { DISP_SPLIT_FIRST_BYTES = 64, DISP_SPLIT_GROWTH = 64, DISP_SPLIT_SILENT = 8, DISP_SPLIT_PART = 4,
	DISP_SPLIT_LITTLE = 32, DISP_SPLIT_LITTLE_BYTES = 64 * 1024 };

/* Whether it has taken more than its part of what there is, and given nothing for it yet:
 * its chain reads ahead, or is slow. A few elements are never too much, and stay on one
 * stream, in their order. */
static bool
disp_split_ahead(const struct disp *d, const struct stream *s)
{
	uint64_t streams = s->iter->n_streams - s->iter->n_ended, n;

	if (s->split_silent < (s->iter->cut.units.v[0].kind == SPLIT_FILE ? DISP_SPLIT_LITTLE_BYTES : DISP_SPLIT_LITTLE))
		return false;
	n = place_room(d, s->iter);
	n = streams > n ? streams : n;
	return s->split_silent > (double)cut_rest(&s->iter->cut) / DISP_SPLIT_PART / (double)(n ? n : 1);
}

/* Whether it has given nothing since its last split, or far less than it has taken: the elements of a
 * chain that reads ahead come slowly, one by one, and each says little about what is still to come. */
static bool
disp_split_quiet(const struct disp *d, const struct stream *s, uint64_t given)
{
	if (given <= s->split_given)
		return true;
	return s->iter->cut.units.v[0].kind != SPLIT_FILE && s->pace.taken > DISP_SPLIT_LITTLE &&
		s->pace.taken > DISP_SPLIT_PART * (double)given &&
		(double)(d->now - s->pace.began) > DISP_SPLIT_EACH_NS * (double)given;
}

/* Bounds the next split of a stream that is quiet, by an eighth of what it
 * has taken since it was not. Streams that read ahead at the same time so take equal parts, and
 * one that needs a million elements for its first has them after some hundred requests.
 * Beyond its part it may multiply what it has only so fast, for streams that have not
 * begun yet are to find some. */
static double
disp_split_silent(const struct disp *d, const struct stream *s, double most)
{
	double part = s->split_silent / DISP_SPLIT_SILENT;
	double slow = s->split_silent * (double)(d->now - s->split_at) / DISP_SPLIT_FOLD_NS;

	most = part < most ? part : most;
	return slow < most && disp_split_ahead(d, s) ? slow : most;
}

/* How fast it takes its splits over some seconds. A chain that reads ahead takes several at once and
 * then none for long; where it has also given an element meanwhile, what it took last says nothing
 * about how fast it is. */
static double
disp_split_usual(const struct disp *d, const struct stream *s)
{
	const struct split_place *last = past_split(s, s->n_splits - 1);
	double made = s->pace.sum - (double)last->weight * (double)last->times;

	return made / (s->pace.span + (double)(d->now - s->split_at));
}

static void
disp_split_count(const struct disp *d, struct stream *s, const struct split *cut)
{
	if (s->split_at && d->now > s->split_at)
		s->pace.span += (double)(d->now - s->split_at);
	if (s->pace.span > DISP_SPLIT_SPAN_NS) {
		s->pace.span /= 2;
		s->pace.sum /= 2;
	}
	s->pace.sum += (double)cut->weight * (double)cut->times;
	s->pace.taken += (double)cut->weight * (double)cut->times;
	s->split_at = d->now;
	s->pace.began = s->pace.began ? s->pace.began : d->now;
}

/* How large the next split should be, by how long this stream took for an earlier one. What
 * a stream asks for is the split after the next, so it has just made the one before
 * the last. Begins with single elements, so that slow work is shared out evenly however
 * little there is of it, and workers that join find some left.
 *
 * A chain that reads ahead (exec, prefetch, batch) asks as fast as it is answered, however
 * slow the work is: see disp_split_silent.
 *
 * With fixed places nothing may depend on time: there only the whole counts. */
static void
disp_split_pace(const struct disp *d, struct stream *s, uint64_t given)
{
	struct iteration *it = s->iter;
	struct cut *c = &it->cut;
	uint64_t least = c->units.v[c->pos.unit].kind == SPLIT_FILE ? DISP_SPLIT_FIRST_BYTES : 1;
	uint64_t all;

	c->min = c->max = 0;
	if (it->fixed) {
		if (__builtin_mul_overflow(c->pass_weight, c->times, &all))
			return;
		c->min = all / 16 / it->n_streams;
		c->min = c->min > least ? c->min : least;
		return;
	}
	c->min = c->max = least;
	if (s->n_splits < 2 || !s->split_at || d->now <= s->split_at)
		return;
	const struct split_place *made = past_split(s, s->n_splits - 2), *last = made + 1;
	double per_ns = (double)made->weight * (double)made->times / (double)(d->now - s->split_at);
	double most = (double)last->weight * (double)last->times * DISP_SPLIT_GROWTH;
	double usual = disp_split_usual(d, s);

	if (per_ns * DISP_SPLIT_MOST_NS < most)
		most = per_ns * DISP_SPLIT_MOST_NS;
	if (!disp_split_quiet(d, s, given))
		s->split_silent = DISP_SPLIT_SILENT * (double)last->weight * (double)last->times;
	else
		most = disp_split_silent(d, s, most);
	if (most > (double)least)
		c->max = most < (double)CUT_ENDLESS ? (uint64_t)most : 0;
	per_ns = usual < per_ns ? usual : per_ns;
	if (per_ns * DISP_SPLIT_LEAST_NS > (double)least)
		c->min = per_ns * DISP_SPLIT_LEAST_NS < (double)CUT_ENDLESS ? (uint64_t)(per_ns * DISP_SPLIT_LEAST_NS) : 0;
}

/* Cuts the next split for this stream; false: nothing is left. */
static bool
disp_split_cut(struct disp *d, struct stream *s, uint64_t given)
{
	struct iteration *it = s->iter;
	struct split cut = { 0 };
	uint64_t unit = it->cut.pos.unit;
	uint32_t streams = it->fixed || !it->n_streams ? (uint32_t)it->n_streams : (uint32_t)(it->n_streams - it->n_ended);

	if (!cut_left(&it->cut))
		return false;
	disp_split_pace(d, s, given);
	if (!cut_next(&it->cut, streams, &cut))
		return false;
	disp_split_count(d, s, &cut);
	s->split_given = given;
	*past_add_split(s) = (struct split_place){ (uint32_t)unit, cut.start, cut.count, cut.times, cut.weight };
	s->split_silent += (double)cut.weight * (double)cut.times;
	split_clear(&cut);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	disp_dirty(d, &s->dirty, DIRTY_SPLITS);
	return true;
}

enum {
	DISP_SPLIT_SMALL = 64 * 1024,
	DISP_SPLIT_SMALL_MANY = 32,
	DISP_SPLIT_SMALL_SUM = 512 * 1024
};

/* Small files go out several at a time, for a request costs as much as reading
 * one; fewer towards the end, where every stream is to have some. */
static void
disp_split_cut_small(struct disp *d, struct stream *s, uint64_t given)
{
	struct iteration *it = s->iter;
	uint64_t sum = 0;

	for (uint64_t i = 1; i < DISP_SPLIT_SMALL_MANY; i++) {
		const struct split_place *last = past_split(s, s->n_splits - 1);
		const struct split *unit = &it->cut.units.v[last->unit];
		uint64_t left = it->cut.units.n - it->cut.pos.unit;

		sum += last->weight;
		if (unit->kind != SPLIT_FILE || !unit->whole || last->weight > DISP_SPLIT_SMALL ||
		    sum > DISP_SPLIT_SMALL_SUM - DISP_SPLIT_SMALL ||
		    left < 4 * (i + 1) * it->n_streams)
			return;
		if (!disp_split_cut(d, s, given))
			return;
	}
}

/* With fixed places split g belongs to stream g mod n: all before it are dealt
 * out too. How many are so far is the number all streams have. Of sharding file, g is the
 * file's number in its source: the same in each pass. */
static void
disp_split_cut_fixed(struct disp *d, struct stream *s, uint64_t k)
{
	struct iteration *it = s->iter;

	while (s->n_splits <= k && !it->short_) {
		uint64_t place = it->sharding == SHARD_FILE ? cut_place(&it->cut) : it->next_fixed;
		uint32_t next = (uint32_t)(place % it->n_streams);

		if (!disp_split_cut(d, it->streams[next], 0))
			break;
		it->next_fixed = (uint32_t)((next + 1) % it->n_streams);
	}
	if (s->n_splits <= k)
		for (size_t i = 0; i < it->n_streams; i++) {
			it->streams[i]->closed = true;
			disp_dirty(d, &it->streams[i]->dirty, DIRTY_ROW);
		}
}

static void
disp_split_close(struct disp *d, struct stream *s)
{
	s->closed = true;
	disp_dirty(d, &s->dirty, DIRTY_ROW);
	iter_go_on(d, s->iter);
}

void
disp_split_request(struct disp *d, struct peer *p, struct stream *s, const struct msg *m)
{
	const struct msg_split_req *q = &m->split_req;
	struct msg *out;
	uint64_t n = q->n ? q->n : 1;

	s->began = true;
	s->asked = q->k > s->asked ? q->k : s->asked;
	if (q->k > s->n_splits || q->k < s->first_split)
		return; /* nobody asks for the second before the first is answered, or for what is done */
	void_told(d, s, q->reading, q->reached);
	if (q->ended && cut_ends(&s->iter->cut, q->leaf, q->length))
		disp_dirty(d, &s->iter->dirty, DIRTY_ROW | DIRTY_UNITS);
	if (q->k == s->n_splits && !s->closed) {
		if (s->iter->young.next && disp_split_quiet(d, s, q->given) &&
		    d->now - s->iter->ran >= DISP_SPLIT_YOUNG_NS && disp_split_ahead(d, s))
			iter_widen(d, s->iter);
		if (s->iter->fixed)
			disp_split_cut_fixed(d, s, q->k);
		else if (p->draining || s->iter->short_ || !disp_split_cut(d, s, q->given))
			disp_split_close(d, s);
		else
			disp_split_cut_small(d, s, q->given);
	}
	out = disp_send(d, p, MSG_SPLIT, m->req);
	out->split.key = q->key;
	out->split.k = q->k;
	if (n > DISP_SPLITS_REPLY)
		n = DISP_SPLITS_REPLY;
	for (uint64_t k = q->k; k < s->n_splits && k < q->k + n; k++) {
		struct split one = { 0 };

		disp_split_place_get(s, k, &one);
		split_list_add(&out->split.splits, &one);
		split_clear(&one);
	}
	void_sent(s, q->k + out->split.splits.n);
	out->split.end = s->closed && q->k + out->split.splits.n == s->n_splits;
	if (out->split.end && (s->iter->all_known || s->iter->short_ || !cut_left(&s->iter->cut)))
		out->split.streams = (uint32_t)s->iter->n_streams;
}

/* Restart points */

void
disp_split_drop_point(struct disp *d, struct stream *s, unsigned i)
{
	if (s->points[i].saved)
		disp_delete(d, ROW_POINT, 3, s->iter->id, s->index, s->points[i].offset);
	mem_free(s->points[i].state.p);
	s->n_points--;
	memmove(s->points + i, s->points + i + 1, (s->n_points - i) * sizeof *s->points);
}

/* Elements before this one are not made again, although views lack them. */
static uint64_t
disp_split_least(const struct stream *s)
{
	return s->place == STREAM_ASSIGNED && !s->running ? 0 : window_floor(s); /* its ASSIGN may be said again */
}

/* Drops restart points: of those before the first missing element, only the last one matters. */
void
disp_split_prune_points(struct disp *d, struct stream *s, size_t view)
{
	uint64_t floor, least;

	if (s->n_points < 2)
		return;
	floor = views_gap(s, view, &s->views[view].acked);
	least = disp_split_least(s);
	if (s->points[1].offset > floor && s->points[1].offset > least)
		return; /* others do not matter */
	floor = views_floor(s);
	floor = floor < least ? least : floor;
	if (s->points[1].offset > floor)
		return;
	while (s->n_points > 1 && s->points[1].offset <= floor)
		disp_split_drop_point(d, s, 0);
	past_forget(d, s);
}

/* The last restart point is at the same element: the stream has got on without giving any, in a
 * long split of which little comes out, and a later point leaves less to make again. */
static void
disp_split_renew_point(struct disp *d, struct stream *s, uint64_t split, uint64_t failed, struct bytes *state)
{
	struct point *p = &s->points[s->n_points - 1];
	bool further = split > p->split || failed > p->failed;

	if (split < p->split || (split == p->split && !state->n))
		return;
	/* One that began before this point comes by once more, and cannot be told from one that is ahead of it; and one
	 * that says the same as before has not got on. Neither speaks for a stream that kills its workers. */
	if (!further && (s->from != p->offset || (state->n == p->state.n && !memcmp(state->p, p->state.p, state->n))))
		return;
	if (p->saved) /* it may be dropped before the new one has a row */
		disp_delete(d, ROW_POINT, 3, s->iter->id, s->index, p->offset);
	mem_free(p->state.p);
	*p = (struct point){ p->offset, split, failed, *state, state->n > 0, false, false };
	*state = (struct bytes){ 0 };
	s->renewed++;
	if (s->n_points == 1 && (p->offset <= views_floor(s) || p->offset <= disp_split_least(s)))
		past_forget(d, s);
	disp_dirty(d, &s->dirty, DIRTY_ROW | DIRTY_POINTS);
}

void
disp_split_add_point(struct disp *d, struct stream *s, uint64_t offset, uint64_t split,
		     uint64_t failed, struct bytes *state)
{
	unsigned i;

	if (s->n_points && s->points[s->n_points - 1].offset == offset)
		return disp_split_renew_point(d, s, split, failed, state);
	if (s->n_points && s->points[s->n_points - 1].offset > offset)
		return; /* old news */
	if (offset > s->high)
		s->high = offset;
	if (!past_room(d, s, state->n, false))
		return;
	if (s->n_points == DISP_POINTS) {
		/* Which one can be missed most: the one between the nearest neighbours. */
		unsigned drop = 1;
		uint64_t best = UINT64_MAX;

		for (i = 1; i < DISP_POINTS; i++) {
			uint64_t next = i + 1 < DISP_POINTS ? s->points[i + 1].offset : offset;

			if (next - s->points[i - 1].offset < best) {
				best = next - s->points[i - 1].offset;
				drop = i;
			}
		}
		disp_split_drop_point(d, s, drop);
	}
	s->points[s->n_points++] = (struct point){ offset, split, failed, *state, state->n > 0, false, false };
	*state = (struct bytes){ 0 };
	disp_split_prune_points(d, s, 0);
	disp_dirty(d, &s->dirty, DIRTY_POINTS);
}
