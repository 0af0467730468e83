/* SPDX-License-Identifier: MIT
 *
 * Half-open networks in the simulation: in some worlds there are walls between readers and
 * workers, through which no connection comes up, while the dispatcher reaches both. Workers that
 * come when the faults are over are reached by all. All elements come nevertheless; a reader
 * says that it reaches no worker only if it is so.
 */
#include "wire/role.h"
#include "world.h"

enum { WALL_LATE = 30 }; /* seconds after which a reader must have found a worker that it reaches */

void
world_choose_walls(struct world *w)
{
	struct rng r = { rng_mix(w->seed, 0x77), 0 };

	w->walls = !w->stops && !w->poison && rng_below(&r, 4) == 0 ? 1 + (unsigned)rng_below(&r, 3) : 0;
}

bool
world_open(const struct node *worker)
{
	return !worker->w->walls || worker->born >= worker->w->faults_until;
}

bool
world_walled(const struct node *reader, const struct node *worker)
{
	if (reader->kind != NODE_READER || worker->kind != NODE_WORKER || world_open(worker))
		return false;
	return rng_mix(reader->w->seed, rng_mix(reader->index, worker->index)) % 3 < reader->w->walls;
}

void
world_unreached(struct node *n)
{
	struct world *w = n->w;

	world_say(w, "%s reaches no worker", n->name);
	if (!w->walls)
		world_fail(w, "%s reaches no worker, and there are no walls", n->name);
	for (unsigned i = 0; i < w->n_nodes; i++) {
		const struct node *k = w->nodes[i];

		if (k->kind == NODE_WORKER && k->alive && !k->leaving && !k->struck && !k->cut && world_fits(k, n) &&
		    !world_walled(n, k) && w->now - k->born > WALL_LATE * SEC && k->paused_until + WALL_LATE * SEC < w->now)
			world_fail(w, "%s reaches no worker, and there is no wall to %s", n->name, k->name);
	}
}
