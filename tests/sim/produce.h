/* SPDX-License-Identifier: MIT
 *
 * Producers of the simulation, in place of threads: each makes one stream, a few elements at a time, and sleeps
 * while it can do nothing.
 */
#ifndef SIM_PRODUCE_H
#define SIM_PRODUCE_H

#include "build.h"

/* Where a producer stands between two elements of the source. */
struct sim_state { uint64_t pass, at, carry, seen; };
struct producer {
	struct stream_key key;
	struct msg assign;
	struct split_list splits;    /* given, not begun */
	size_t n_begun;              /* how many of splits.v were begun */
	bool no_more, stalled, handover, done, restoring;
	bool rest, off;              /* is to give its thread up; has none */
	bool sleeps;                 /* runs again when somebody wakes it */
	enum { STEP_FREE, STEP_NEEDED, STEP_ASKED, STEP_GIVEN } step; /* careful: before each run, of `run` elements */
	unsigned run;
	int64_t stuck_until;         /* in the middle of an element: waits for its input */
	uint64_t split;              /* number of the split being read, or next to be */
	struct split cur;
	bool in_split;
	struct sim_state st;
	uint64_t offset, made, failed;
	struct builders of;          /* chunks in the making */
	struct producer *next;
};
struct sim_worker {
	struct worker *k;
	struct producer *producers;
	bool drained, can_hand;
	uint32_t slots;
	uint64_t serial;
};

struct producer *producer_find(struct node *n, struct stream_key key);
void producer_start(struct node *n, struct worker_action *a);
void producer_stop(struct node *n, struct stream_key key);
/* The worker wants something of a stream that is being made. */
void producer_told(struct node *n, struct producer *p, const struct worker_action *a);
/* Whether the event's argument is to be freed with it. */
bool producer_owns(const struct event *e);
/* work.c: does what the worker's machine asks for. */
void sim_work_act(struct node *n);

#endif
