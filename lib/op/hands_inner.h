/* SPDX-License-Identifier: MIT
 *
 * What the files of hands share. A job is a run of input and what has been made
 * of it; a slot of the window goes round:
 *
 *	FREE --pulled--> WORKING --> MADE --given, let go of--> FREE
 *	                    ^                        |
 *	                    +------- WAITING <-------+  more is to be made of it
 */
#ifndef OP_HANDS_INNER_H
#define OP_HANDS_INNER_H

#include <pthread.h>

#include "op/hands.h"

enum hands_phase { HANDS_FREE, HANDS_WAITING, HANDS_WORKING, HANDS_MADE };

struct hands_fault {
	uint32_t at;          /* the element */
	struct err e;
};

struct hands_job {
	enum hands_phase phase;
	uint64_t number;      /* jobs in the order of their input */
	struct run in;        /* kept; not changed until the job is FREE */
	struct run_part *parts;
	uint64_t index;       /* of in.e[0] */
	/* the hand's, and the stream's when MADE */
	uint32_t at;          /* the element to go on with */
	uint64_t items;       /* of its list, that have been given */
	bool failed;          /* the last fault ends the stream */
	bool over;            /* nothing more is to be made of it */
	struct run out, lists;
	const uint8_t *item;  /* the next one of a list that is not finished; NULL: none */
	uint32_t left;
	struct hands_fault *faults;
	size_t n_faults, cap_faults;
	/* the stream's: where what has been given ends */
	uint32_t given_at;
	uint64_t given_items;
};

/* Input of a restored state. */
struct hands_old {
	struct run in;
	uint64_t index, items;
};

struct hands_one {
	struct op_inst *self;
	struct hands_use *use;
	struct expr_vm *vm;
	pthread_t thread;
};

struct hands {
	enum hands_work work;
	const struct op_expr *expr;
	struct hands_one *ones;
	uint32_t n, started;
	bool begun;
	struct run kept;      /* op_fault's elements, which the hands have put in place */
	struct hands_job *lent; /* its results are with the caller */
	pthread_mutex_t lock; /* all below, and the phases */
	pthread_cond_t wake;  /* hands: something to do, or the end */
	pthread_cond_t news;  /* stream: a job is made, a status, or nobody pulls */
	bool pulling, pause, full;
	struct hands_job *jobs;
	uint32_t window, active, waiting; /* slots; not FREE; WAITING */
	uint64_t head, next;  /* numbers: given next when ordered, pulled next */
	uint64_t seen;        /* index of the next element of the input */
	struct hands_old *old;
	size_t n_old, at_old, cap_old;
	enum status status;   /* what the input came to; ST_OK: goes on */
	struct err err;
};

/* Makes more of the job: some output, until it is over or there is enough. */
void hands_make(const struct hands_one *h, struct hands_job *j);

#endif
