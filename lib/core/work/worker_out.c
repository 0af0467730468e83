/* SPDX-License-Identifier: MIT
 *
 * The outbox: what the program around the worker is to do, in order.
 */
#include "base/mem.h"
#include "core/work/worker_inner.h"

struct worker_action *
worker_do(struct worker *w, enum worker_action_kind kind)
{
	if (w->first_action == w->n_actions)
		w->first_action = w->n_actions = 0;
	if (w->n_actions == w->cap_actions)
		w->actions = mem_grow(w->actions, &w->cap_actions, w->n_actions + 1, sizeof *w->actions);
	struct worker_action *a = &w->actions[w->n_actions++];
	*a = (struct worker_action){ .kind = kind };
	return a;
}

struct msg *
worker_tell(struct worker *w, enum msg_type t)
{
	struct worker_action *a = worker_do(w, WORKER_TELL);

	a->msg.type = t;
	return &a->msg;
}

bool
worker_action(struct worker *w, struct worker_action *out)
{
	if (w->first_action == w->n_actions)
		return false;
	*out = w->actions[w->first_action++];
	return true;
}
