/* SPDX-License-Identifier: MIT
 *
 * The dispatcher's time: who has been silent for too long, and what is due.
 */
#include "core/disp/disp_inner.h"
#include "core/disp/disp_news.h"
#include "core/disp/disp_yield.h"

static int64_t
disp_loss_ns(const struct disp *d)
{
	return d->o.loss_ms * 1000000ll;
}

void
disp_wall(struct disp *d, int64_t ns)
{
	d->wall_ns = ns;
	if (!d->service.started_ms) /* and no other, though the clock be set */
		d->service.started_ms = (uint64_t)(d->service.began + ns) / 1000000;
}

/* The time goes on. Had this program to wait long for its turn (it was stopped, the
 * disk was slow), then what its peers said meanwhile has not been read yet: that time
 * is not their silence. */
void
disp_time(struct disp *d, int64_t now_ns)
{
	int64_t due = disp_next_deadline(d), late;

	late = now_ns - (due > d->now ? due : d->now);
	d->now = now_ns;
	if (late <= disp_loss_ns(d) / 4)
		return;
	for (struct list_node *n = d->by_heard.next; n != &d->by_heard; n = n->next) {
		struct peer *p = LIST_OF(n, struct peer, by_heard);

		p->heard = p->heard + late < now_ns ? p->heard + late : now_ns;
	}
}

void
disp_tick(struct disp *d, int64_t now_ns)
{
	disp_time(d, now_ns);
	while (!ring_empty(&d->by_heard)) {
		struct peer *p = LIST_OF(d->by_heard.next, struct peer, by_heard);

		if (p->heard + disp_loss_ns(d) > now_ns)
			break;
		disp_peer_lost(d, p, true);
	}
	ask_tick(d);
	iter_tick(d);
	iter_trial_tick(d);
	yield_tick(d);
	round_tick(d);
	group_tick(d);
	waiting_tick(d);
	gc_tick(d);
	dataset_tick(d);
}

int64_t
disp_next_deadline(const struct disp *d)
{
	int64_t at = ask_deadline(d), gc = gc_deadline(d), set = dataset_deadline(d), iter = iter_deadline(d);
	int64_t news = news_deadline(d);

	if (gc < at)
		at = gc;
	if (set < at)
		at = set;
	if (iter < at)
		at = iter;
	if (news < at)
		at = news;
	if (d->rounds_due < at)
		at = d->rounds_due;
	if (d->group_due < at)
		at = d->group_due;
	if (d->yield_due < at)
		at = d->yield_due;
	if (d->trial_due < at)
		at = d->trial_due;
	if (!ring_empty(&d->by_heard)) {
		int64_t loss = LIST_OF(d->by_heard.next, struct peer, by_heard)->heard + disp_loss_ns(d);
		if (loss < at)
			at = loss;
	}
	if (!ring_empty(&d->waiting)) {
		int64_t until = LIST_OF(d->waiting.next, struct waiting, by_until)->until;
		if (until < at)
			at = until;
	}
	return at;
}
