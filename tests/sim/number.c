/* SPDX-License-Identifier: MIT
 *
 * Another number of consumers goes on in the simulation: all are killed, and others come, with the
 * positions that are there. What the old ones had up to the round that is told to the new ones,
 * and what these have, is all, each element once.
 */
#include <string.h>

#include "base/mem.h"
#include "world.h"

struct consumer *
world_new_consumer(struct world *w, uint32_t place)
{
	struct consumer *c;

	if (w->n_consumers == 200 || w->n_nodes >= NODES_MAX)
		return NULL;
	c = &w->consumers[w->n_consumers];
	c->index = w->n_consumers++;
	c->place = place;
	c->epoch = 1 + (uint32_t)chance(w, w->epochs);
	sim_read_start(node_new(w, NODE_READER), c);
	return c;
}

/* All have saved a position with so many elements, and none is over. */
static bool
number_may(const struct world *w, size_t saved)
{
	unsigned there = 0;

	for (unsigned i = 0; i < w->n_consumers; i++) {
		const struct consumer *c = &w->consumers[i];

		if (c->finished || c->dead)
			return false;
		there += c->has_position && c->saved >= saved;
	}
	return there == w->round && w->n_consumers == w->round && !w->disp_lost;
}

static struct bytes
number_lend(const struct buf *b)
{
	return (struct bytes){ b->data, b->len };
}

/* The new consumers are known before any of them begins: each has the position of its place, and those of
 * places that are gone are given to one of them. */
static void
number_give(struct world *w, unsigned old, uint32_t places)
{
	for (uint32_t place = 0; place < places; place++) {
		struct consumer *c = &w->consumers[old + place];

		*c = (struct consumer){ .index = old + place, .place = place, .epoch = 1, .code = ST_TEMP };
		for (unsigned i = 0; i < old; i++) {
			struct consumer *from = &w->consumers[i];

			if (from->place % places != place)
				continue;
			if (from->place == place) {
				buf_put(&c->position, from->position.data, from->position.len);
				c->has_position = true;
				from->heir = old + place + 1;
			} else {
				c->given[c->n_given++] = number_lend(&from->position);
			}
		}
	}
	w->n_consumers = old + places;
}

static void
world_renumber(struct world *w, void *arg, uint64_t tag)
{
	unsigned old = w->n_consumers;
	uint32_t places = (uint32_t)tag % PLACES_MAX;

	(void)arg;
	if (w->poison)
		return;
	if (!number_may(w, (size_t)(tag / PLACES_MAX))) {
		if (w->delivered + 5 * SEC > w->now)
			world_at(w, w->now + MS, world_renumber, NULL, tag);
		return;
	}
	for (unsigned i = 0; i < old; i++) {
		struct consumer *c = &w->consumers[i];

		if (c->node)
			node_kill(c->node);
		c->old = c->dead = true;
	}
	places = places ? places : PLACES_MAX;
	world_say(w, "%u places become %u", w->round, places);
	w->old_round = w->round;
	w->round = w->readers = places;
	w->renumbered = true;
	number_give(w, old, places);
	for (uint32_t place = 0; place < places; place++)
		sim_read_start(node_new(w, NODE_READER), &w->consumers[old + place]);
}

void
world_choose_number(struct world *w)
{
	struct rng r = { rng_mix(w->seed, 0x4e), 0 };
	uint32_t places;

	if (w->round < 2 || w->whole || w->lag || !w->checkpoint || !rng_below(&r, 4))
		return;
	w->every = 1 + rng_below(&r, 12);
	w->stops_early = 0;
	w->own_end = false;
	places = 2 + (uint32_t)rng_below(&r, PLACES_MAX - 2);
	places += places >= w->round;
	if (rng_below(&r, 8))
		world_at(w, w->now + (int64_t)rng_below(&r, SEC), world_renumber, NULL,
			 places % PLACES_MAX + PLACES_MAX * rng_below(&r, 2ull << rng_below(&r, 8)));
}

/* A reader is told where the rounds begin. */
void
number_begins(struct world *w, struct consumer *c, const struct msg_job *m, const struct reader_stats *st)
{
	if (!c->old && w->renumbered && !w->begun) {
		w->begun = true;
		w->begin = m->begin;
		w->base = mem_array(m->base.n ? m->base.n : 1, sizeof *w->base);
		w->n_base = (uint32_t)m->base.n;
		for (uint32_t i = 0; i < w->n_base; i++)
			w->base[i] = m->base.v[i].n;
		world_say(w, "they go on from round %llu", (unsigned long long)w->begin);
	}
	if (c->old || !w->renumbered) {
		if (m->begin)
			world_fail(w, "the first consumers begin with round %llu", (unsigned long long)m->begin);
		return;
	}
	for (uint32_t i = 0; i < w->n_base || i < m->base.n; i++)
		if (m->begin != w->begin || m->base.n != w->n_base || m->base.v[i].n != w->base[i])
			world_fail(w, "consumers begin with different rounds");
	for (unsigned i = 0; i < w->n_consumers && st->given; i++)
		if (w->consumers[i].heir == c->index + 1 && st->begin.elements != w->begin)
			world_fail(w, "the output at round %llu has %llu elements", (unsigned long long)w->begin,
				   (unsigned long long)st->begin.elements);
}

/* The element of the stream that has this place in a round. The last round of a stream may be spread: then others
 * stand in it than behind the whole ones. */
static uint64_t
number_address(const struct world *w, uint32_t stream, uint64_t at)
{
	uint64_t first = at - at % w->old_round, rest = 0;

	if (w->tail != TAIL_SPREAD || w->tail_of != TAIL_OF_STREAM)
		return at;
	while (rest < w->old_round && book_element(w, stream, first + rest))
		rest++;
	return rest && rest < w->old_round ? first + round_spread(w->old_round, rest, at - first) : at;
}

/* The old ones' outputs are cut to that round. */
static void
number_check_old(struct world *w, const struct consumer *c, bool **had)
{
	struct round_part part = { w->old_round, c->place, 1 };

	if (c->saved < w->begin) {
		world_fail(w, "they go on from round %llu, and old consumer %u has saved %zu", (unsigned long long)w->begin,
			   c->index, c->saved);
		return;
	}
	for (uint64_t i = 0; i < w->begin && !w->failed; i++) {
		const struct got *g = &c->out[i];
		uint64_t at = number_address(w, g->stream, round_at(&part, g->offset));
		const struct element *e = book_element(w, g->stream, at);

		if (g->stream >= w->n_base || at >= w->base[g->stream] || had[g->stream][at])
			world_fail(w, "old consumer %u had %u:%llu, and it is made again, or somebody else had it", c->index,
				   g->stream, (unsigned long long)at);
		else if (e ? memcmp(e, &g->e, sizeof *e) != 0 : g->e.leaf != UINT32_MAX)
			world_fail(w, "old consumer %u had something else at %u:%llu", c->index, g->stream,
				   (unsigned long long)at);
		else
			had[g->stream][at] = true;
	}
}

void
book_check_number(struct world *w)
{
	bool **had;
	uint64_t sum = 0;

	if (!w->begun)
		return;
	had = mem_array(w->n_base ? w->n_base : 1, sizeof *had);
	for (uint32_t s = 0; s < w->n_base; s++) {
		had[s] = mem_array(w->base[s] ? w->base[s] : 1, sizeof **had);
		sum += w->base[s];
	}
	for (unsigned i = 0; i < w->n_consumers && !w->failed; i++)
		if (w->consumers[i].old)
			number_check_old(w, &w->consumers[i], had);
	if (!w->failed && sum != w->begin * w->old_round)
		world_fail(w, "streams begin behind %llu elements, and %u consumers had %llu rounds", (unsigned long long)sum,
			   w->old_round, (unsigned long long)w->begin);
	for (uint32_t s = 0; s < w->n_base; s++)
		mem_free(had[s]);
	mem_free(had);
}
