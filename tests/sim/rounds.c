/* SPDX-License-Identifier: MIT
 *
 * Rounds in the simulation: the sequence that each place is to get follows from the streams
 * alone. Whoever reads it gets a part of it without holes; the parts of those who came one
 * after the other make the whole, and the last one ends where it ends.
 */
#include <string.h>

#include "base/mem.h"
#include "world.h"

struct due { uint32_t stream; uint64_t at; struct element e; };
struct sequence { struct due *v; size_t n, cap; };

struct round_part
world_part(const struct world *w, uint32_t place)
{
	return w->whole ? ROUND_ALL : (struct round_part){ w->round, place, 1 };
}

uint32_t
world_places(const struct world *w)
{
	return w->whole ? 1 : w->round;
}

void
world_choose_rounds(struct world *w)
{
	static const int tails[] = { TAIL_DROP, TAIL_PAD, TAIL_SPREAD };
	struct rng r = { rng_mix(w->seed, 0x40), 0 };

	w->round = 1;
	if (w->all_groups || rng_below(&r, 4) || w->order == ORDER_SOURCE || w->only)
		return;
	w->round = 2 + (uint32_t)rng_below(&r, PLACES_MAX - 1);
	w->readers = w->round;
	w->tail = tails[rng_below(&r, 3)];
	w->tail_of = (int)rng_below(&r, 2);
	w->order = ORDER_STABLE;
	w->shards = w->sharding == SHARD_DYNAMIC || w->sharding == SHARD_OFF ? 1 + (uint32_t)rng_below(&r, 8) : w->shards;
	w->stop_after = 0;
	w->epochs = 1;
	w->anonymous = false;
	w->stops_early = rng_below(&r, 3) ? 0 : 1 + (unsigned)rng_below(&r, 100);
	w->own_end = rng_below(&r, 2);
	w->fence_of = rng_below(&r, 2) ? 0 : 1 + rng_below(&r, 20);
	w->whole = rng_below(&r, 4) == 0;
	if (w->whole)
		w->tail = w->tail_of = 0;
	w->lag = w->checkpoint && !rng_below(&r, 3);
	if (w->lag)
		w->stops_early = 0;
	if (w->lag)
		w->own_end = false;
}

static void
rounds_add(struct sequence *q, uint32_t stream, uint64_t at, const struct element *e)
{
	if (q->n == q->cap)
		q->v = mem_grow(q->v, &q->cap, q->n + 1, sizeof *q->v);
	q->v[q->n++] = (struct due){ stream, at, e ? *e : (struct element){ .leaf = UINT32_MAX } };
}

/* Counted from where the consumers begin. */
static const struct element *
rounds_element(const struct world *w, uint32_t stream, uint64_t n)
{
	return book_element(w, stream, (stream < w->n_base ? w->base[stream] : 0) + n);
}

static uint64_t
rounds_length(const struct world *w, uint32_t stream)
{
	uint64_t n = 0;

	while (rounds_element(w, stream, n))
		n++;
	return n;
}

/* Whole rounds: a block of each stream in turn. */
static void
rounds_own(const struct world *w, uint32_t place, const uint64_t *lengths, struct sequence *q)
{
	struct round_part part = world_part(w, place);
	uint64_t *pos = mem_array(w->found, sizeof *pos);

	for (uint32_t idle = 0, s = 0; idle < w->found; s = (s + 1) % w->found) {
		uint64_t own = lengths[s] / world_places(w), n = 0;

		for (; n < w->block && pos[s] < own; n++, pos[s]++)
			rounds_add(q, s, pos[s], rounds_element(w, s, round_at(&part, pos[s])));
		idle = n ? 0 : idle + 1;
	}
	mem_free(pos);
}

/* The place of the g-th of `end` elements, and of those that fill the last round. */
static uint64_t
rounds_place(const struct world *w, uint64_t end, uint64_t g)
{
	uint64_t of = world_places(w), n = end % of, free = 0;

	if (w->tail != TAIL_SPREAD || !n || g < end - n)
		return g % of;
	if (g < end)
		return (g % of) * of / n;
	for (uint64_t place = 0; place < of; place++) {
		bool taken = false;

		for (uint64_t k = 0; k < n; k++)
			taken |= k * of / n == place;
		if (!taken && free++ == g - end)
			return place;
	}
	return of;
}

/* The ends of streams, one behind the other or each by itself; gives how many are dropped. */
static uint64_t
rounds_tails(const struct world *w, uint32_t place, const uint64_t *lengths, struct sequence *q)
{
	uint64_t all = 0, g = 0, dropped = 0, of = world_places(w);

	for (uint32_t s = 0; s < w->found; s++)
		all += lengths[s] % world_places(w);
	for (uint32_t s = 0; s < w->found; s++) {
		uint64_t rest = lengths[s] % world_places(w), own = lengths[s] / world_places(w), n = 0;
		bool stream = w->tail_of == TAIL_OF_STREAM, last = stream || g + rest == all;
		uint64_t end = stream ? rest : all, whole = w->tail != TAIL_DROP ? (end + of - 1) / of : end / of;

		g = stream ? 0 : g;
		for (uint64_t i = 0; rest && (i < rest || (last && g < whole * of)); i++, g++) {
			dropped += g >= whole * of;
			if (g >= whole * of || rounds_place(w, end, g) != place)
				continue;
			rounds_add(q, s, own + n++, i < rest ? rounds_element(w, s, own * of + i) : NULL);
		}
	}
	return dropped;
}

/* With tail-of stream, the last round of a stream stands behind its whole ones. */
static void
rounds_expect(const struct world *w, uint32_t place, const uint64_t *lengths, struct sequence *q, uint64_t *dropped)
{
	struct sequence tails = { 0 };
	uint64_t *pos = mem_array(w->found, sizeof *pos);

	*dropped = rounds_tails(w, place, lengths, &tails);
	if (w->tail_of == TAIL_OF_PASS) {
		rounds_own(w, place, lengths, q);
		for (size_t i = 0; i < tails.n; i++)
			rounds_add(q, tails.v[i].stream, tails.v[i].at, &tails.v[i].e);
	} else {
		struct round_part part = world_part(w, place);

		for (uint32_t idle = 0, s = 0; idle < w->found; s = (s + 1) % w->found) {
			uint64_t own = lengths[s] / world_places(w), n = 0;

			for (; n < w->block && pos[s] < own; n++, pos[s]++)
				rounds_add(q, s, pos[s], rounds_element(w, s, round_at(&part, pos[s])));
			for (size_t i = 0; i < tails.n && n < w->block && pos[s] == own; i++)
				if (tails.v[i].stream == s) {
					rounds_add(q, s, tails.v[i].at, &tails.v[i].e);
					n++;
					pos[s]++;
				}
			idle = n ? 0 : idle + 1;
		}
	}
	mem_free(pos);
	mem_free(tails.v);
}

static bool
rounds_same(const struct got *g, const struct due *d)
{
	return g->stream == d->stream && g->offset == d->at && !memcmp(&g->e, &d->e, sizeof g->e);
}

/* Where in the sequence its elements begin. */
static size_t
rounds_begin(const struct consumer *c, const struct sequence *q)
{
	size_t i = 0;

	while (i < q->n && !rounds_same(&c->out[0], &q->v[i]))
		i++;
	return i;
}

static void
rounds_check_place(struct world *w, uint32_t place, const struct sequence *q)
{
	size_t end = 0;

	for (unsigned i = 0; i < w->n_consumers && !w->failed; i++) {
		const struct consumer *c = &w->consumers[i];
		size_t begin, k = 0;

		if (c->old || c->place != place || (!c->n && !c->finished))
			continue;
		begin = c->n ? rounds_begin(c, q) : q->n;
		while (k < c->n && begin + k < q->n && rounds_same(&c->out[k], &q->v[begin + k]))
			k++;
		if (k < c->n)
			world_fail(w, "place %u: consumer %u has %u:%llu as its %zu., which is not round %zu of %zu", place, i,
				   c->out[k].stream, (unsigned long long)c->out[k].offset, k, begin + k, q->n);
		else if (begin > end)
			world_fail(w, "place %u: consumer %u begins at round %zu, the one before it had %zu", place, i, begin, end);
		end = c->n && begin + c->n > end ? begin + c->n : end;
		if (c->finished && w->fenced && w->fence < q->n)
			end = w->fence == begin + c->n ? q->n : 0;
		if (c->finished && end != q->n)
			world_fail(w, "place %u: consumer %u ends after %zu of %zu rounds", place, i, end, q->n);
	}
}

/* The elements of a place, by round, as far as its consumers have them; fails if they leave a hole. */
static struct sequence
rounds_had(struct world *w, uint32_t place)
{
	struct sequence all = { 0 };

	for (unsigned i = 0; i < w->n_consumers && !w->failed; i++) {
		const struct consumer *c = &w->consumers[i];
		size_t begin = 0;

		if (c->old || c->place != place || !c->n)
			continue;
		begin = rounds_begin(c, &all); /* behind the last if nobody had it */
		for (size_t k = 0; k < c->n; k++) {
			if (begin + k == all.n)
				rounds_add(&all, c->out[k].stream, c->out[k].offset, &c->out[k].e);
			else if (!rounds_same(&c->out[k], &all.v[begin + k]))
				world_fail(w, "place %u: consumers had different elements of round %zu", place, begin + k);
		}
		if (c->finished && begin + c->n != w->fence)
			world_fail(w, "place %u: consumer %u ends after %zu rounds, and all were to end after %llu", place, i,
				   begin + c->n, (unsigned long long)w->fence);
	}
	return all;
}

/* The consumers have agreed on an end before that of the pass: how long streams are is not known, but
 * all have the same rounds. */
static void
rounds_check_fenced(struct world *w)
{
	struct sequence first = rounds_had(w, 0);

	for (uint32_t place = 1; place < w->round && !w->failed; place++) {
		struct sequence q = rounds_had(w, place);

		for (size_t i = 0; i < q.n && i < first.n && i < w->fence && !w->failed; i++)
			if (q.v[i].stream != first.v[i].stream || q.v[i].at != first.v[i].at)
				world_fail(w, "round %zu of place 0 is %u:%llu, that of place %u %u:%llu", i, first.v[i].stream,
					   (unsigned long long)first.v[i].at, place, q.v[i].stream,
					   (unsigned long long)q.v[i].at);
		mem_free(q.v);
	}
	mem_free(first.v);
}

/* Whether the pass has come to the rounds that are made of what streams had left. */
static bool
rounds_ended(const struct world *w, const uint64_t *lengths)
{
	uint64_t whole = 0;

	for (unsigned i = 0; i < w->n_consumers; i++)
		if (w->consumers[i].finished && w->consumers[i].rounds < w->fence)
			return true; /* it got to the end of the pass */
	for (uint32_t s = 0; s < w->found; s++)
		whole += lengths[s] / world_places(w);
	return !w->fenced || (w->tail_of == TAIL_OF_PASS && w->fence > whole);
}

void
book_check_rounds(struct world *w)
{
	uint64_t *lengths, dropped = 0;
	size_t n = 0;

	book_check_number(w);
	if (!w->found) /* consumers that come when all is over are not told */
		w->found = book_streams(w);
	lengths = mem_array(w->found ? w->found : 1, sizeof *lengths);

	for (uint32_t s = 0; s < w->found; s++)
		lengths[s] = rounds_length(w, s);
	if (!rounds_ended(w, lengths)) {
		rounds_check_fenced(w);
		mem_free(lengths);
		return;
	}
	for (uint32_t place = 0; place < w->round && !w->failed; place++) {
		struct sequence q = { 0 };

		rounds_expect(w, place, lengths, &q, &dropped);
		if (place && q.n != n)
			world_fail(w, "places have %zu and %zu rounds", n, q.n);
		n = q.n;
		rounds_check_place(w, place, &q);
		mem_free(q.v);
	}
	if (!w->failed && w->disp_counted && !w->fenced && (w->disp_dropped != dropped || w->disp_rounds != n))
		world_fail(w, "%zu rounds and %llu elements left over, and the books say %llu and %llu", n,
			   (unsigned long long)dropped,
			   (unsigned long long)w->disp_rounds, (unsigned long long)w->disp_dropped);
	mem_free(lengths);
}

/* Whether another has read to the end at its place: then all others have, too, and none of them comes again. */
bool
rounds_place_over(const struct world *w, const struct consumer *c)
{
	for (unsigned i = 0; w->round > 1 && i < w->n_consumers; i++)
		if (w->consumers[i].place == c->place && w->consumers[i].finished && !w->consumers[i].old)
			return true;
	return false;
}
