/* SPDX-License-Identifier: MIT
 *
 * Where the time of workers and readers goes, as their BEATs tell, and how many slots
 * that asks for (core/wanted.h). Nothing of it is durable.
 */
#include "base/mem.h"
#include "core/disp/disp_lately.h"
#include "core/disp/disp_wanted.h"

struct wanted_totals *
wanted_totals_of(struct iteration *it)
{
	return it->clock ? &it->clock->now : &it->spent;
}

void
wanted_over(struct iteration *it)
{
	if (it->clock)
		it->spent = it->clock->now;
	mem_free(it->clock);
	it->clock = NULL;
	lately_free(&it->lately);
}

double
wanted_waits(const struct iteration *it)
{
	uint64_t all = it->spent.read_wait + it->spent.read_work;

	if (it->clock)
		return wanted_wait_ratio(it->clock);
	return all ? (double)it->spent.read_wait / (double)all : 0;
}

void
wanted_beat(struct disp *d, struct peer *p, const struct msg_clocks *clocks)
{
	uint64_t work = 0, wait = 0;

	p->call_ns = 0;
	for (size_t i = 0; i < clocks->n; i++) {
		const struct msg_clock *c = &clocks->v[i];
		struct iteration *it = iter_find(d, c->iteration);
		struct wanted_totals *now = it ? wanted_totals_of(it) : NULL;

		if (it && iter_live(it))
			lately_beat(d, it, p, c);
		if (it && c->call_ns > p->call_ns) {
			p->call_ns = c->call_ns;
			p->call_place = c->call_place;
			p->call_job = it->job->number;
		}
		work |= c->work_ns;
		wait |= c->wait_ns;
		if (it && p->role == ROLE_WORKER)
			spent_add(&it->job->dataset->spent, &c->ops);
		if (now && p->role == ROLE_WORKER) {
			now->slot_work += c->work_ns;
			now->slot_wait += c->wait_ns;
			now->raw += c->raw;
			now->wire += c->wire;
		} else if (now && p->seat && p->seat->iter == it) {
			now->read_work += c->work_ns;
			now->read_wait += c->wait_ns;
		}
		if (it && it->clock)
			wanted_tick(it->clock, d->now);
	}
	p->beat = d->now;
	p->held_up = work || !wait ? 0 : p->held_up ? p->held_up : d->now;
}

bool
wanted_of(const struct disp *d, const struct iteration *it, struct wanted_job *out)
{
	uint64_t running = it->n_streams > it->n_ended ? it->n_streams - it->n_ended : 0;
	uint64_t left = 0;

	*out = (struct wanted_job){ 0 };
	if (it->clock)
		*out = (struct wanted_job){ .demand = wanted_demand(it->clock), .rate = wanted_rate(it->clock) };
	if (!iter_live(it) || (!it->n_seats && ring_empty(&it->waiting)))
		return false;
	if (it->state == ITER_RUNNING && it->by_split && !it->fixed && !it->short_)
		left = cut_streams(&it->cut, WANTED_MOST);
	out->most = it->state == ITER_LISTING ? 1 : running + left;
	/* Slots that it may not use do not make others of its kind worth more. */
	uint64_t step = wanted_step(place_room(d, it));

	out->most = out->most < step ? out->most : step;
	return true;
}

double
wanted_all(const struct disp *d)
{
	struct wanted_job *jobs = NULL;
	size_t n = 0, cap = 0;
	double sum;

	for (const struct list_node *k = d->running.next; k != &d->running; k = k->next) {
		struct wanted_job one;

		if (!wanted_of(d, LIST_OF(k, struct iteration, running_node), &one))
			continue;
		jobs = mem_grow(jobs, &cap, n + 1, sizeof *jobs);
		jobs[n++] = one;
	}
	sum = wanted_slots(jobs, n, d->slots, 1);
	mem_free(jobs);
	return sum;
}
