/* SPDX-License-Identifier: MIT
 *
 * The consumers of a pass of rounds agree on an end.
 *
 *	STOP of one    -> HALT to the others: begin no round more, and say how many you have begun
 *	STOP of all    -> FENCE: the largest of these numbers, which is recorded
 *	CLOSE of all, with so many -> the pass goes on with those who come next
 *
 * A consumer that is away is waited for: it may have begun more rounds than it acknowledged.
 */
#include "core/disp/disp_inner.h"

bool
fence_reached(const struct iteration *it, size_t view)
{
	return it->fence.known && round_of_view(it, view) >= it->fence.rounds;
}

static void
fence_tell(struct disp *d, const struct seat *r)
{
	disp_send(d, r->peer, MSG_FENCE, 0)->fence = (struct msg_fence){ r->iter->id, r->iter->fence.rounds };
}

static void
fence_ask(struct disp *d, struct seat *r)
{
	ask_put(d, ASK_HALT, r->peer, (struct stream_key){ r->iter->id, 0, 0 }, r->number);
}

/* Whether for every place somebody has said what has been begun. */
static bool
fence_all_said(const struct iteration *it)
{
	uint64_t places = 0;

	for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		if (!r->peer || !r->halted)
			return false;
		places += it->views[r->view].n;
	}
	return places == it->job->places;
}

/* The next multiple of m, if there is one. */
static uint64_t
fence_round_up(uint64_t n, uint64_t m)
{
	uint64_t over = m ? n % m : 0;

	return over && n <= UINT64_MAX - (m - over) ? n + (m - over) : n;
}

static void
fence_check(struct disp *d, struct iteration *it)
{
	uint64_t most = 0;

	if (!it->fence.asking || !fence_all_said(it))
		return;
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		most = r->begun > most ? r->begun : most;
	}
	it->fence.asking = false;
	it->fence.known = true;
	it->fence.rounds = fence_round_up(it->base.begin + most, it->fence.multiple) - it->base.begin;
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next)
		fence_tell(d, LIST_OF(n, struct seat, node));
}

static void
fence_begin(struct disp *d, struct iteration *it, uint64_t multiple)
{
	it->fence.asking = true;
	it->fence.multiple = multiple;
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		struct seat *r = LIST_OF(n, struct seat, node);

		if (r->peer && r->opened && !r->halted)
			fence_ask(d, r);
	}
}

void
fence_stop(struct disp *d, struct peer *p, struct seat *r, const struct msg *m)
{
	struct iteration *it = r->iter;
	uint64_t recorded;

	ask_drop(d, ASK_HALT, p, (struct stream_key){ it->id, 0, 0 }, r->number);
	if (it->state != ITER_RUNNING)
		return; /* DONE is on its way */
	if (!round_is(it)) { /* there is nobody to agree with */
		disp_send(d, p, MSG_FENCE, 0)->fence = (struct msg_fence){ it->id,
			fence_round_up(m->stop.rounds, m->stop.multiple) };
		return;
	}
	recorded = round_of_view(it, r->view); /* by those who were in its place before */
	r->halted = true;
	r->begun = m->stop.rounds > recorded ? m->stop.rounds : recorded;
	if (!it->fence.known && !it->fence.asking)
		fence_begin(d, it, m->stop.multiple);
	if (it->fence.multiple < m->stop.multiple)
		it->fence.multiple = m->stop.multiple;
	if (it->fence.known)
		fence_tell(d, r);
	else
		fence_check(d, it);
}

void
fence_opened(struct disp *d, struct seat *r)
{
	if (r->iter->fence.asking && !r->halted)
		fence_ask(d, r);
}

void
fence_closed(struct disp *d, struct iteration *it, uint32_t view)
{
	if (it->state != ITER_RUNNING || !fence_reached(it, view))
		return;
	intervals_add(&it->fence.left, view, view + 1);
	if (intervals_covers(&it->fence.left, 0, it->n_views)) {
		it->fence.known = false;
		it->fence.rounds = 0;
		intervals_clear(&it->fence.left);
	}
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}
