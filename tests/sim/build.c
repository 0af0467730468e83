/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "build.h"

void
builders_init(struct builders *b, struct world *w, const struct msg_assign *a)
{
	bool shares = world_shares(w);
	bool known = a->places == world_places(w) || (w->renumbered && a->places == w->old_round && !a->base);

	if (!known || (!shares && a->views.n != a->places) || a->views.n > PLACES_MAX)
		world_fail(w, "a stream of %u views with %u places", (unsigned)a->views.n, a->places);
	b->pad = a->pad;
	b->places = a->places < PLACES_MAX ? a->places : PLACES_MAX;
	b->base = a->base;
	b->groups = shares ? (uint32_t)a->views.n : 1;
	for (uint32_t i = 0; i < b->groups && shares && i < PLACES_MAX; i++)
		intervals_add_ranges(&b->group_skip[i], &a->views.v[i].skip);
	for (uint32_t i = 0; !shares && i < b->places && i < a->views.n; i++)
		intervals_add_ranges(&b->of[i].skip, &a->views.v[i].skip);
}

void
builders_clear(struct builders *b)
{
	for (size_t i = 0; i < PLACES_MAX; i++)
		intervals_clear(&b->of[i].skip);
	for (size_t i = 0; i < PLACES_MAX; i++)
		intervals_clear(&b->group_skip[i]);
}

static void
builders_flush_one(struct builders *b, struct node *n, struct stream_key key, uint32_t place)
{
	struct sim_builder *one = &b->of[place];
	uint32_t count = one->n;

	if (!count)
		return;
	struct sim_chunk *c = chunk_new(n->w, one->offset, one->e, count);

	one->wanted = false;
	one->n = 0;
	sim_work_produced(n, key, b->places > 1 ? place : WORKER_ALL_VIEWS, c, one->split);
}

static void
builders_put(struct builders *b, struct node *n, struct stream_key key, uint64_t offset, uint64_t split,
	     const struct element *e)
{
	uint32_t place = (uint32_t)((offset - b->base) % b->places);
	struct round_part part = { b->places, place, 1 };
	struct sim_builder *one = &b->of[place];
	uint64_t at = round_below(&part, offset - b->base);

	unsigned skips = 0, all = (1u << b->groups) - 1;

	for (uint32_t i = 0; world_shares(n->w) && i < b->groups; i++)
		skips |= (unsigned)intervals_has(&b->group_skip[i], offset) << i;
	if (skips != b->skips)
		builders_flush_one(b, n, key, place);
	b->skips = skips;
	if (intervals_has(&one->skip, at) || (world_shares(n->w) && skips == all)) {
		builders_flush_one(b, n, key, place);
		return;
	}
	if (one->n && one->split != split)
		builders_flush_one(b, n, key, place);
	if (!one->n) {
		one->offset = at;
		one->split = split;
	}
	one->e[one->n++] = *e;
	if (one->n == CHUNK_ELEMS || one_in(n->w, 9))
		builders_flush_one(b, n, key, place);
}

/* Elements are given out round by round. */
void
builders_add(struct builders *b, struct node *n, struct stream_key key, uint64_t offset, uint64_t split,
	     const struct element *e)
{
	if (offset < b->base)
		return;
	if (!b->n)
		b->at = offset;
	b->round[b->n] = *e;
	b->splits[b->n++] = split;
	if ((offset + 1 - b->base) % b->places)
		return;
	for (uint32_t i = 0; i < b->n; i++)
		builders_put(b, n, key, b->at + i, b->splits[i], &b->round[i]);
	b->n = 0;
}

void
builders_rest(struct builders *b, struct node *n, struct stream_key key)
{
	struct element null = { .leaf = UINT32_MAX };

	for (uint32_t i = 0; i < b->n; i++)
		sim_work_rest(n, key, chunk_new(n->w, SIM_REST, &b->round[i], 1), false);
	if (b->pad && b->places > 1)
		sim_work_rest(n, key, chunk_new(n->w, SIM_REST, &null, 1), true);
	b->n = 0;
}

void
builders_flush(struct builders *b, struct node *n, struct stream_key key)
{
	for (uint32_t i = 0; i < b->places; i++)
		builders_flush_one(b, n, key, i);
}

void
builders_want(struct builders *b, uint32_t view)
{
	b->of[view == WORKER_ALL_VIEWS ? 0 : view].wanted = true;
}

void
builders_flush_wanted(struct builders *b, struct node *n, struct stream_key key)
{
	for (uint32_t i = 0; i < b->places; i++)
		if (b->of[i].wanted)
			builders_flush_one(b, n, key, i);
}

void
sim_unit(const struct sim_dataset *s, unsigned i, struct split_list *to)
{
	struct split one = { .kind = SPLIT_RANGE, .leaf = i, .cuttable = s->cuttable,
		.count = s->size[i], .times = 1, .weight = s->size[i] };
	char path[16];

	snprintf(path, sizeof path, "%u", i);
	if (s->files) {
		one.kind = SPLIT_FILE;
		one.leaf = i >= s->second;
		one.path = path;
	}
	if (s->grows && !i)
		one = (struct split){ .kind = SPLIT_RANGE, .grows = true, .cuttable = true, .count = INT64_MAX,
			.times = 1 };
	split_list_add(to, &one);
}
