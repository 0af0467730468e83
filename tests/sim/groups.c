/* SPDX-License-Identifier: MIT
 *
 * Worlds with a job that groups share: how many groups there are, which come late or stand still.
 */
#include "world.h"

void
world_prepare_groups(struct world *w)
{
	if (!w->all_groups)
		return;
	w->anonymous = false;
	w->stop_after = 0;
	w->order = w->order == ORDER_SOURCE ? ORDER_STABLE : w->order;
}

void
world_choose_groups(struct world *w)
{
	struct rng r = { rng_mix(w->seed, 0x6f), 0 };

	w->groups = 1;
	if (w->round > 1 || w->only || w->anonymous || w->stop_after || w->order == ORDER_SOURCE ||
	    (!w->all_groups && rng_below(&r, 4)))
		return;
	w->groups = 2 + (uint32_t)rng_below(&r, PLACES_MAX - 1);
	w->readers = w->groups * (w->order == ORDER_ANY ? 1 + (uint32_t)rng_below(&r, 2) : 1);
	w->share = w->order == ORDER_ANY && rng_below(&r, 2) ? SHARE_WINDOW : SHARE_LOSSLESS;
	w->late = rng_mix(w->seed, 0x70) % 2 ? (int64_t)(rng_mix(w->seed, 0x71) % 2000) * MS : 0;
	if (w->share != SHARE_WINDOW)
		return;
	w->share_window = rng_below(&r, 2) ? 0 : 1 + rng_below(&r, 2000);
	w->stands = rng_below(&r, 2);
}

bool
world_shares(const struct world *w)
{
	return w->groups > 1 || w->whole;
}

bool
world_stands(const struct world *w, const struct consumer *c)
{
	if (!w->stands || c->place != w->groups - 1)
		return false;
	for (unsigned i = 0; i < w->n_consumers; i++)
		if (w->consumers[i].place != c->place && !w->consumers[i].finished && !w->consumers[i].dead)
			return true;
	return false;
}
