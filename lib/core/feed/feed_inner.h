/* SPDX-License-Identifier: MIT
 *
 * What the files of the feeding machine share.
 *
 *	feed.c         rows into steps, steps to cores, what cores have done
 *	feed_loop.c    loops: where they end, and cores that are started anew for each
 *	feed_idle.c    who holds up the others, and who does nothing
 *	feed_end.c     the end, good or bad; the ranking of causes
 *
 * Totals of a core, none ahead of the one before it:
 *
 *	told    steps it was told of          done    steps it has done
 *	given   steps whose slots it gave back
 */
#ifndef FEED_FEED_INNER_H
#define FEED_FEED_INNER_H

#include "core/feed/feed.h"

struct feed_core {
	bool joined, ended, bye, gone, exited, said, termed, killed;
	bool leaving;            /* END or ERROR was sent */
	bool turning;            /* END was sent for its loop, others may follow */
	bool away;               /* it has ended with its loop, and is not started again */
	int64_t pid;
	int status;              /* wait status, once exited */
	uint64_t told, done, given, wanted, answered; /* answered: results given */
	int64_t busy_ns;         /* since when it is at the step it is at */
	int64_t idle_ns;         /* since when it waits for a step, or has done all; 0: it does not */
	bool slow_said;
	struct feed_taken taken; /* a blind core: what it has read */
};

struct feed_slot_ { uint64_t step, real; uint32_t epoch; unsigned flags; };

enum { FEED_LOOPS_KEPT = 20 };

/* The loop that is being told of, those that are not done yet, and how long the last ones took. */
struct feed_loops {
	uint64_t end;            /* steps after which the loop ends; 0: there are no loops */
	uint64_t next;           /* the first step that no core was told of */
	uint64_t *open;          /* ends that are told of and not done, in order */
	size_t n, cap;
	uint64_t begun;          /* the step and time at which the loop that is being done began */
	int64_t begun_ns;
	struct { uint64_t steps; int64_t ns; } took[FEED_LOOPS_KEPT];
	uint64_t count;          /* loops that are done */
};

struct feed {
	struct feed_conf c;
	struct feed_core *core;
	struct feed_slot_ *slot;
	uint64_t filled;         /* steps that are filled */
	uint64_t real;           /* rows of the step that is being filled */
	bool hollow;             /* it is to be given though it has none */
	uint32_t epoch;
	uint64_t last;           /* steps in all; UINT64_MAX: not known */
	bool fixed;              /* it will not change any more */
	uint64_t hold;           /* no core is told of steps from here on; UINT64_MAX: there is no such limit */
	enum feed_end_why why;
	char text[256];          /* the end, for people */
	char name[96];           /* lent by feed_name */
	char at[64];             /* lent by feed_at */
	uint64_t done, answered; /* by all cores */
	struct feed_loops loops;
	int64_t started_ns, now;
	struct feed_fault *fault;
	size_t n_fault, cap_fault;
	size_t cause;            /* its number + 1; 0: none yet */
	int64_t cause_at;        /* when causes are weighed; INT64_MAX: never */
	int64_t leave_ns;        /* since when cores are to leave; 0: they are not */
	bool over;
	bool dry_said;           /* that all cores wait for data */
	struct feed_action *actions;
	size_t first_action, n_action, cap_action;
};

struct feed_action *feed_do(struct feed *f, enum feed_action_kind kind, uint32_t core);
/* Announces what may be announced, and ends what has ended. */
void feed_step(struct feed *f);

/* feed_loop.c */
void feed_loop_begin(struct feed *f);
void feed_loop_free(struct feed *f);
/* A core is told of the step after those told so far: its flags, which are the same for all. */
unsigned feed_loop_tell(struct feed *f, struct feed_slot_ *s);
/* The step is done by all: whether it is the last of its loop. */
bool feed_loop_done(struct feed *f, uint64_t step);
/* The end of the loop that step number `last` - 1 is in. */
uint64_t feed_loop_round(const struct feed *f, uint64_t last);
/* With each_loop: ends the core after the step that it was told of, and starts those that may go on. */
void feed_loop_turn(struct feed *f, uint32_t core, unsigned flags);
void feed_loop_start(struct feed *f, uint32_t core);

/* feed_end.c */
void feed_finish(struct feed *f);
/* Nothing more can come of the core. */
bool feed_core_over(const struct feed *f, const struct feed_core *k);
/* The step that the core is at, for people: `step 7`. Of a blind core no more is known than what it has read, and
 * programs may read ahead of what they do. Lent until the next call. */
const char *feed_at(struct feed *f, const struct feed_core *k);

/* feed_idle.c */
enum { FEED_TIME = 32 };
/* A time for people, `60 s`, in `out` of FEED_TIME bytes, which is given back. */
const char *feed_time(int64_t ns, char *out);
/* The core is told that nothing follows, or has ended: from now on that is what it is waited for, or what waits. */
void feed_idle_end(struct feed *f, uint32_t core);
/* When there is something to be said about who waits, or a core is given up on. */
int64_t feed_idle_due(const struct feed *f);
void feed_idle_tick(struct feed *f);

#endif
