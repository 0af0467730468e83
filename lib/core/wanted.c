/* SPDX-License-Identifier: MIT */
#include "core/wanted.h"

#define WANTED_SAMPLE_NS 900000000ll /* reports come each second, about */
#define WANTED_WAIT_MOST 0.9 /* readers that always wait: ten times what they get is asked for */

uint64_t
wanted_step(uint64_t slots)
{
	uint64_t have = slots < WANTED_MOST ? slots : WANTED_MOST, most = have * 4;

	if (!slots)
		return 1;
	if (most > have + WANTED_STEP)
		most = have + WANTED_STEP;
	return most < WANTED_MOST ? most : WANTED_MOST;
}

double
wanted_slots(const struct wanted_job *jobs, size_t n, uint64_t slots, double busy)
{
	double sum = 0, most = (double)wanted_step(slots);

	for (size_t i = 0; i < n; i++) {
		const struct wanted_job *j = &jobs[i];
		double want = j->demand > 0 && j->rate > 0 ? j->demand / j->rate / busy : 1;

		sum += want < (double)j->most ? want : (double)j->most;
	}
	return sum < most ? sum : most;
}

uint64_t
wanted_number(double wanted, double per_worker)
{
	double x = wanted / per_worker - 0.05;
	uint64_t n;

	if (wanted <= 0)
		return 0;
	if (x <= 1)
		return 1;
	n = (uint64_t)x;
	return n + ((double)n < x);
}

static struct wanted_totals
wanted_since(const struct wanted_totals *a, const struct wanted_totals *b)
{
	return (struct wanted_totals){ .elements = a->elements - b->elements,
		.read_work = a->read_work - b->read_work, .read_wait = a->read_wait - b->read_wait,
		.slot_work = a->slot_work - b->slot_work, .slot_wait = a->slot_wait - b->slot_wait };
}

static double
wanted_ratio(uint64_t wait, uint64_t work)
{
	return wait + work ? (double)wait / (double)(wait + work) : 0;
}

void
wanted_tick(struct wanted_clock *c, int64_t now_ns)
{
	struct wanted_totals part = wanted_since(&c->now, &c->last);
	double seconds = (double)(now_ns - c->at) / 1e9, wait;

	if (!c->at) {
		c->at = now_ns;
		return;
	}
	/* A sample without elements says nothing of rates: it is made longer. */
	if (now_ns - c->at < WANTED_SAMPLE_NS || !part.elements || !part.slot_work ||
	    !(part.read_work + part.read_wait))
		return;
	wait = wanted_ratio(part.read_wait, part.read_work);
	if (wait > WANTED_WAIT_MOST)
		wait = WANTED_WAIT_MOST;
	c->samples[c->n++ % WANTED_SECONDS] = (struct wanted_sample){
		.seconds = seconds, .demand = (double)part.elements / seconds / (1 - wait), .part = part };
	c->last = c->now;
	c->at = now_ns;
}

static uint32_t
wanted_samples(const struct wanted_clock *c)
{
	return c->n < WANTED_SECONDS ? c->n : WANTED_SECONDS;
}

double
wanted_demand(const struct wanted_clock *c)
{
	double sum = 0, seconds = 0;

	for (uint32_t i = 0; i < wanted_samples(c); i++) {
		sum += c->samples[i].demand * c->samples[i].seconds;
		seconds += c->samples[i].seconds;
	}
	return seconds > 0 ? sum / seconds : 0;
}

double
wanted_rate(const struct wanted_clock *c)
{
	double elements = 0, work = 0;

	for (uint32_t i = 0; i < wanted_samples(c); i++) {
		elements += (double)c->samples[i].part.elements;
		work += (double)c->samples[i].part.slot_work / 1e9;
	}
	return work > 0 ? elements / work : 0;
}

double
wanted_wait_ratio(const struct wanted_clock *c)
{
	uint64_t wait = 0, work = 0;

	for (uint32_t i = 0; i < wanted_samples(c); i++) {
		wait += c->samples[i].part.read_wait;
		work += c->samples[i].part.read_work;
	}
	return wanted_ratio(wait, work);
}
