/* SPDX-License-Identifier: MIT
 *
 * Keys in the simulation: in some worlds each program has a key of its own, and some are
 * struck out in the middle of a pass. The dispatcher sees that when it looks at its file of
 * keys; from then on the program gets no stream and is not heard, however it goes on, and all
 * elements come as if it had died.
 */
#include <string.h>

#include "core/disp/dispatcher.h"
#include "wire/role.h"
#include "world.h"

#define STRIKE_LOOK_NS (500 * MS)

void
world_choose_keys(struct world *w)
{
	struct rng r = { rng_mix(w->seed, 0x6b), 0 };

	w->keys = !w->calm && !w->stops && !w->poison && rng_below(&r, 4) == 0;
}

struct disp_who
world_who(const struct node *n)
{
	return (struct disp_who){ .may = n->out ? 0 : MAY_ANY, .user = n->w->keys ? n->name : NULL };
}

unsigned
world_may(void *arg, const char *user)
{
	const struct world *w = arg;

	for (unsigned i = 0; i < w->n_nodes; i++)
		if (!strcmp(w->nodes[i]->name, user))
			return world_who(w->nodes[i]).may;
	return 0;
}

/* The dispatcher has read its file of keys. */
static void
strike_read(struct world *w, struct node *n)
{
	if (n->out)
		return;
	world_say(w, "the dispatcher sees that %s is struck out", n->name);
	n->out = true;
	n->out_at = w->now;
}

static void
strike_seen(struct world *w, void *arg, uint64_t tag)
{
	(void)tag;
	if (!w->disp->alive) /* it reads the file when it begins */
		return;
	strike_read(w, arg);
	sim_disp_review(w->disp);
}

void
world_keys_read(struct world *w)
{
	for (unsigned i = 0; i < w->n_nodes; i++)
		if (w->nodes[i]->struck)
			strike_read(w, w->nodes[i]);
}

void
world_strike(struct world *w, struct node *n)
{
	/* Elements that a reader saved and did not acknowledge go to others when its key is struck out;
	 * so one that could come back with its position keeps its key. */
	if (n->struck || (n->kind == NODE_READER && w->checkpoint))
		return;
	n->struck = n->cut = true;
	w->strikes++;
	world_say(w, "the key of %s is struck out", n->name);
	world_at(w, w->now + some_time(w, STRIKE_LOOK_NS), strike_seen, n, 0);
	if (n->kind == NODE_WORKER && !one_in(w, 3))
		world_at(w, w->now + some_time(w, 2 * SEC), world_new_worker, NULL, 0);
}
