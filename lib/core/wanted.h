/* SPDX-License-Identifier: MIT
 *
 * The scaling number: how many slots the jobs that are being read could use.
 *
 *	demand    elements a second that a job's readers would take if they never waited
 *	rate      elements a second that one busy slot makes of it
 *
 *	slots = sum over jobs of min(demand / rate / busy, most)
 *
 * It is a sum since jobs share slots. Neither demand nor rate depends on how many
 * slots there are now, so each is smoothed by itself (struct wanted_clock) and the
 * number does not overshoot. doc/decisions.md says what was tried before.
 */
#ifndef CORE_WANTED_H
#define CORE_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WANTED_SECONDS = 10,      /* demand and rate are averages over this many samples of about a second, or more */
	WANTED_MOST = 100000,     /* slots, whatever the sum is */
	WANTED_STEP = 500         /* at most this many more than there are, or four times as many */
};

struct wanted_job {
	double demand, rate;    /* 0: not known yet */
	uint64_t most;          /* slots that can have work: splits left and streams that run */
};

/* The most that may be wanted while there are so many slots. */
uint64_t wanted_step(uint64_t slots);
/* How many slots are wanted, as a number with a fraction. slots: those there are now.
 * busy: the share of its time that a slot is to be busy, above 0 and at most 1. A job
 * of which nothing is known yet counts one slot, and any job at least a part of one; no
 * job at all gives 0. */
double wanted_slots(const struct wanted_job *jobs, size_t n, uint64_t slots, double busy);
/* That number as whole slots, or as workers that have `per_worker` slots in the mean.
 * What exceeds a whole number by less than a twentieth is left out, so that noise does
 * not start a worker. At least 1 unless wanted is 0. */
uint64_t wanted_number(double wanted, double per_worker);

/* Measurements of one iteration: totals, and samples of the last seconds. */
struct wanted_totals {
	uint64_t elements;                /* acknowledged */
	uint64_t read_work, read_wait;    /* ns of readers: with elements at hand, and without */
	uint64_t slot_work, slot_wait;    /* ns of slots: making, and held back by back-pressure */
	uint64_t raw, wire;               /* bytes of elements that workers sent; of them on sockets, as packed */
};
struct wanted_sample { double seconds, demand; struct wanted_totals part; };
struct wanted_clock {
	struct wanted_totals now, last; /* now is added to as reports come; last: at the last sample */
	int64_t at;                     /* ns, of the last sample; 0: none */
	struct wanted_sample samples[WANTED_SECONDS];
	uint32_t n;                     /* samples taken; the ring begins anew after WANTED_SECONDS */
};
/* Takes a sample if about a second has gone by and there is something to tell. */
void wanted_tick(struct wanted_clock *c, int64_t now_ns);
double wanted_demand(const struct wanted_clock *c);     /* 0: not known */
double wanted_rate(const struct wanted_clock *c);       /* 0: not known */
double wanted_wait_ratio(const struct wanted_clock *c); /* share of readers' time; 0 to 1 */

#endif
