/* SPDX-License-Identifier: MIT
 *
 * OPENs that wait, counted by key. An admin's and those without a key need no count: a
 * connection has one at most.
 *
 *	for its units to be listed          it is answered soon: many readers may begin at once
 *	for the other consumers of rounds   those may have the same key
 *	for workers                         counted
 *
 * What readers have had in earlier runs is kept meanwhile; that is counted for all of them.
 */
#include "core/disp/disp_pending.h"

#include <string.h>

#include "base/mem.h"

uint64_t
pending_bytes(const struct ranges_list *have)
{
	uint64_t n = have->n * sizeof *have->v;

	for (size_t i = 0; i < have->n; i++)
		n += have->v[i].ranges.n * sizeof *have->v[i].ranges.v;
	return n;
}

bool
pending_room(struct disp *d, const struct peer *p, const struct msg *open)
{
	uint64_t mine = pending_bytes(&open->open.have), bytes = 0;
	uint32_t n = 0;
	char *text;

	if (p->all || !p->user)
		return true;
	for (const struct list_node *k = d->waiting.next; k != &d->waiting; k = k->next) {
		const struct waiting *w = LIST_OF(k, struct waiting, by_until);

		if (!w->peer->user || strcmp(w->peer->user, p->user) != 0)
			continue;
		bytes += w->bytes;
		n += w->iter->gathered && w->iter->state == ITER_RUNNING;
	}
	if (n >= PENDING_OPENS) {
		text = mem_printf("too many readers of one key wait for workers: %u", n);
		disp_error(d, p, open->req, ST_TEMP, text, "start workers that fit them, or end some of these readers");
	} else if (bytes && bytes + mine > PENDING_BYTES) {
		text = mem_printf("too many bytes of positions of one key wait: %llu", (unsigned long long)(bytes + mine));
		disp_error(d, p, open->req, ST_TEMP, text, "come back when the other readers with this key have begun");
	} else {
		return true;
	}
	mem_free(text);
	return false;
}
