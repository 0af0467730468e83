/* SPDX-License-Identifier: MIT
 *
 * What the files of threads share. A job is a block of input and what has been made
 * of it; a slot of the window goes round:
 *
 *	FREE --cut--> WORKING --> MADE --given, let go of--> FREE
 *	                 ^                        |
 *	                 +------- WAITING <-------+  more is to be made of it
 */
#ifndef EACH_PARALLEL_INNER_H
#define EACH_PARALLEL_INNER_H

#include <pthread.h>

#include "op/each/parallel.h"
#include "base/pool.h"

enum parallel_phase { PARALLEL_FREE, PARALLEL_WAITING, PARALLEL_WORKING, PARALLEL_MADE };

struct parallel_fault {
	uint32_t at;          /* the element */
	struct err e;
};

/* A run of input, which jobs are cut from. */
struct parallel_input {
	struct run run;       /* kept */
	struct run_part *parts;
	uint64_t index;       /* of run.e[0] */
	uint64_t items;       /* of its list that have been given, before a restore */
	uint32_t uses;        /* jobs, and one while it is `cur` */
	struct parallel_input *next; /* among the spare ones */
};

struct parallel_job {
	enum parallel_phase phase;
	uint64_t number;      /* jobs in the order of their input */
	struct parallel_input *input;
	struct run in;        /* its block of the input; owns nothing */
	uint64_t index;       /* of in.e[0] */
	size_t bytes;
	/* the maker's, and the stream's when MADE */
	uint32_t at;          /* the element to go on with */
	uint64_t items;       /* of its list, that have been given */
	bool failed;          /* the last fault ends the stream */
	bool over;            /* nothing more is to be made of it */
	struct run out, lists;
	const uint8_t *item;  /* the next one of a list that is not finished; NULL: none */
	uint32_t left;
	struct parallel_fault *faults;
	size_t n_faults, cap_faults;
	/* the stream's: where what has been given ends */
	uint32_t given_at;
	uint64_t given_items;
};

/* Input of a restored state. */
struct parallel_old {
	struct run in;
	uint64_t index, items;
};

struct parallel {
	struct op_inst *self;
	struct parallel_use *use;
	enum parallel_work work;
	const struct op_expr *expr;
	struct expr_run *plain; /* for what the stream does alone */
	struct pool_user user;
	bool exact;           /* splits are told apart: nobody pulls ahead */
	bool ordered;
	struct run kept;      /* op_fault's elements, which are in place already */
	struct parallel_job *lent; /* its results are with the caller */
	pthread_mutex_t lock; /* all below, and the phases */
	pthread_cond_t news;  /* stream: a job is made, a status, or nobody pulls */
	bool alone;           /* the stream does all; nobody else touches the input */
	bool awaited;         /* the stream sleeps */
	bool pulling, pause, full;
	struct expr_vm **vms; /* machines that nobody uses */
	size_t n_vms, cap_vms;
	int64_t time;         /* what now() gives; 0: nothing has begun */
	struct parallel_job *jobs;
	uint32_t window, active, waiting, making; /* slots; not FREE; WAITING; WORKING */
	size_t bytes;         /* of the input of jobs that are not FREE */
	uint64_t head, next;  /* numbers: given next when ordered, cut next */
	struct parallel_input *cur, *spare;
	uint32_t cut;         /* the element of cur where the next job begins */
	uint64_t seen;        /* index of the next element of the input */
	struct parallel_old *old;
	size_t n_old, at_old, cap_old;
	enum status status;   /* what the input came to; ST_OK: goes on */
	struct err err;
	/* What things cost, as it turned out lately; 0: not known. */
	double elem_ns, pull_ns, run_n;
	double run_ns;        /* a run, pulled and evaluated by the stream alone */
	uint64_t known;       /* elements that elem_ns has been seen on */
};

/* parallel_work.c; the lock is held. */
struct parallel_job *parallel_slot(struct parallel *p);
struct parallel_job *parallel_take(struct parallel *p);
void parallel_pull(struct parallel *p);
bool parallel_may_pull(struct parallel *p);
bool parallel_worth(const struct parallel *p);
void parallel_do(struct parallel *p, struct parallel_job *j);
void parallel_let_go(struct parallel *p, struct parallel_input *in);

/* Makes more of the job: some output, until it is over or there is enough. */
void parallel_make(const struct parallel *p, struct expr_vm *vm, struct parallel_job *j);

#endif
