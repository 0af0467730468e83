/* SPDX-License-Identifier: MIT
 *
 * Feeding n consumers ("cores") in step, as a state machine: rows come in and are numbered
 * into steps; a step is announced to all cores; what cores say comes in; the end, and who is
 * to blame for a bad one, come out. Memory, sockets, processes and the clock are the host's.
 *
 *	rows arrive           feed_room -> feed_put -> FEED_DO_BATCH for each core
 *	a core works          feed_ready, feed_result -> FEED_DO_RESULTS, FEED_DO_DONE, more BATCH
 *	it ends               feed_data_end, feed_stop -> FEED_DO_END -> feed_bye, feed_exited -> FEED_DO_OVER
 *	something fails       feed_data_failed, feed_core_failed, feed_exited -> (250 ms) FEED_DO_ERROR
 *	                      -> grace, FEED_DO_TERM, FEED_DO_KILL -> FEED_DO_OVER
 *
 * A step is N consecutive rows; core c of n gets rows [c N/n, (c+1) N/n) of each, with `copy`
 * every core gets all. Steps lie in slots, step s in slot s mod slots; a slot is filled anew when
 * all cores gave it back. No core is told of more than `prefetch` steps beyond those it has
 * done, nor of one that is further than that from what the slowest has done. All cores are told of
 * the same steps, always; only an error ends them unevenly.
 *
 * A loop ends after `loop` steps, or after as many as take about loop_ns: the first one has one step.
 * With each_loop a core gets END after the last step of its loop, ends, and FEED_DO_START has it
 * started again once there is another step.
 *
 * Causes are ranked: the data; a core that ended without a word; one that said it failed, or
 * answered wrongly; one that does nothing; consequences. The best of those that are seen within
 * FEED_CAUSE_NS of the first is the cause, and among equals the earliest.
 */
#ifndef FEED_FEED_H
#define FEED_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/feed_msg.h"

struct feed;

#define FEED_CAUSE_NS 250000000ll
#define FEED_KILL_NS 5000000000ll   /* between TERM and KILL */

enum feed_tail { FEED_PAD, FEED_DROP, FEED_SHORT, FEED_TAIL_ERROR };

struct feed_conf {
	uint32_t cores, prefetch, slots;
	uint64_t rows;               /* N of a step; set by feed_set_rows if only the data tells */
	uint32_t parts, part;        /* a step is cut into so many parts, ours begin with `part`; 0: one for each core */
	uint32_t rank;               /* the first core's, for people */
	bool copy;                   /* every core gets all rows of a step */
	bool ours;                   /* the host starts the cores, and sees their exits */
	bool blind;                  /* nothing is seen of cores but what they read: a step that was written counts as done */
	enum feed_tail tail;
	enum feed_results results;
	uint64_t from, until, loop;  /* until: UINT64_MAX: to the end; loop 0: no loops */
	int64_t loop_ns;             /* loops of about this time, instead of `loop` steps; 0: none */
	bool each_loop;              /* cores end with each loop, and the host starts them anew */
	int64_t wait_cores_ns, slow_ns, core_timeout_ns, grace_ns; /* 0: for ever, never */
};

enum feed_class { FEED_BY_DATA = 1, FEED_SILENT, FEED_SAID, FEED_IDLE, FEED_CONSEQUENCE };
struct feed_fault {
	enum feed_class class;
	uint32_t core;               /* FEED_ANY_CORE: none */
	int64_t ns;
	struct err err;
};

/* Gives. */
struct feed *feed_new(const struct feed_conf *c, int64_t now_ns);
void feed_free(struct feed **f);
/* Before anything is put: what only the first element tells, and where a position that came later begins. */
void feed_set_rows(struct feed *f, uint64_t rows, uint32_t slots);
void feed_set_from(struct feed *f, uint64_t from, uint64_t until);

/* Rows that the step being filled still takes; 0: none are wanted now. */
uint64_t feed_room(const struct feed *f);
/* The slot that is being filled, and how many rows it has. */
uint32_t feed_slot(const struct feed *f, uint64_t *rows);
/* So many more rows lie in that slot. */
void feed_put(struct feed *f, int64_t now_ns, uint64_t rows);
/* Whether no more steps will be filled. */
bool feed_full(const struct feed *f);
/* The step being filled is one though no row of it is real: other hosts have some. */
void feed_hollow(struct feed *f);
/* All of the pass is there, though it is not over: a step that is not full is given now. */
void feed_tail_end(struct feed *f, int64_t now_ns);
/* In the middle of a pass: whether it has real rows or not, the step being filled ends here. */
void feed_short(struct feed *f, int64_t now_ns);
/* The pass is over. What becomes of the rows of a step that is not full goes to *rows: how
 * many there are, 0: none. With FEED_PAD the host has padded the slot before, up to N. last: no pass follows. */
void feed_epoch_end(struct feed *f, int64_t now_ns, bool last);
uint32_t feed_epoch(const struct feed *f);
void feed_set_epoch(struct feed *f, uint32_t epoch);
void feed_data_failed(struct feed *f, int64_t now_ns, const struct err *e);

/* Messages of cores. A core that breaks the protocol is feed_core_failed. */
void feed_join(struct feed *f, int64_t now_ns, uint32_t core, int64_t pid); /* pid: for messages; 0: unknown */
bool feed_joined(const struct feed *f);           /* all of them have */
enum status feed_ready(struct feed *f, int64_t now_ns, uint32_t core, const struct feed_ready *m, struct err *e);
enum status feed_result(struct feed *f, int64_t now_ns, uint32_t core, uint64_t step, struct err *e);
void feed_stop(struct feed *f, int64_t now_ns, enum feed_end_why why, const char *text);
/* Stops with other hosts that must agree: no core is told of steps beyond those that feed_stop would let them do.
 * Gives their number, which stays as it is; until feed_stop_at. */
uint64_t feed_hold(struct feed *f, int64_t now_ns);
/* The step that all agreed on, which is not before that one; or UINT64_MAX: the end comes otherwise. */
void feed_stop_at(struct feed *f, int64_t now_ns, uint64_t step, enum feed_end_why why, const char *text);
void feed_core_failed(struct feed *f, int64_t now_ns, uint32_t core, enum feed_class class, const struct err *e);
void feed_bye(struct feed *f, int64_t now_ns, uint32_t core, uint64_t done);
/* Its connection ended. */
void feed_gone(struct feed *f, int64_t now_ns, uint32_t core);
/* Its process ended with that wait status. */
void feed_exited(struct feed *f, int64_t now_ns, uint32_t core, int status);
/* A blind core's pipe: so much of it was read, in all. */
struct feed_taken {
	uint64_t bytes;
	uint64_t steps;              /* read whole, earlier runs included */
	bool more;                   /* there is something for it to read */
};
void feed_taken(struct feed *f, int64_t now_ns, uint32_t core, const struct feed_taken *t);
void feed_tick(struct feed *f, int64_t now_ns);
int64_t feed_deadline(const struct feed *f);      /* ns; INT64_MAX: none */

enum feed_action_kind {
	FEED_DO_NONE,
	FEED_DO_BATCH,   /* tell the core of a step */
	FEED_DO_RESULTS, /* all cores gave their result of `step` */
	FEED_DO_DONE,    /* all cores have done `step` steps; batch.flags: of the last of them */
	FEED_DO_END,     /* tell the core that nothing follows */
	FEED_DO_ERROR,   /* tell the core what failed */
	FEED_DO_TERM, FEED_DO_KILL, /* its process, or what is left of its connection */
	FEED_DO_START,   /* each_loop: start the core anew; it joins again, at step `step` */
	FEED_DO_SLOW,    /* the core holds up others, or FEED_ANY_CORE: all wait for data; text says so */
	FEED_DO_OVER     /* nothing follows */
};
struct feed_action {
	enum feed_action_kind kind;
	uint32_t core;
	uint64_t step;
	struct feed_batch batch;
	char text[256];
};
bool feed_action(struct feed *f, struct feed_action *out);
/* Whether there is one: then whoever drives the machine must not wait. */
bool feed_acts(const struct feed *f);

/* At the end, or once something failed. */
const struct feed_fault *feed_cause(const struct feed *f);           /* NULL: all is well */
size_t feed_faults(const struct feed *f, const struct feed_fault **v); /* all, in the order of time */
void feed_end(const struct feed *f, struct feed_end *out);             /* texts lent */
/* The end that a core is told: with each_loop, its loop's. */
void feed_core_end(const struct feed *f, uint32_t core, struct feed_end *out);
uint64_t feed_done(const struct feed *f);                              /* steps that all cores have done */
uint64_t feed_core_step(const struct feed *f, uint32_t core);         /* steps it has done */
uint32_t feed_last(const struct feed *f);                             /* behind all others, or FEED_ANY_CORE */
/* `core 2 (rank 2, pid 4711)`: lent until the next call. */
const char *feed_name(struct feed *f, uint32_t core);
/* The share of a core in a step of so many real rows. */
void feed_part(const struct feed *f, uint64_t real, uint32_t core, struct feed_batch *out);

#endif
