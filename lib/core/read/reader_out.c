/* SPDX-License-Identifier: MIT
 *
 * The outbox: what the program around the reader is to do, in order.
 */
#include "base/mem.h"
#include "core/read/reader_inner.h"

struct reader_action *
reader_do(struct reader *r, enum reader_action_kind kind)
{
	if (r->first_action == r->n_actions)
		r->first_action = r->n_actions = 0;
	if (r->n_actions == r->cap_actions)
		r->actions = mem_grow(r->actions, &r->cap_actions, r->n_actions + 1, sizeof *r->actions);
	struct reader_action *a = &r->actions[r->n_actions++];
	*a = (struct reader_action){ .kind = kind };
	return a;
}

struct msg *
reader_tell(struct reader *r, enum msg_type t)
{
	struct reader_action *a = reader_do(r, READER_TELL);

	a->msg.type = t;
	return &a->msg;
}

bool
reader_action(struct reader *r, struct reader_action *out)
{
	mem_free(r->lent);
	r->lent = NULL;
	if (r->first_action == r->n_actions)
		return false;
	*out = r->actions[r->first_action++];
	if (out->kind == READER_CONNECT || out->kind == READER_UNREACHED)
		r->lent = (char *)(uintptr_t)out->endpoint;
	return true;
}
