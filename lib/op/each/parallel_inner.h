/* SPDX-License-Identifier: MIT
 *
 * What the files of threads share. A job is a block of input and what has been made
 * of it; a slot of the window goes round:
 *
 *	FREE --cut--> WORKING --> MADE --given, freed--> FREE
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
	uint32_t at;          /* index of the element in its job */
	struct err e;
};

/* A run of input, from which jobs are cut. */
struct parallel_input {
	struct run run;       /* a copy that outlives the pull */
	struct run_part *parts;
	uint64_t index;       /* index of run.e[0] in the stream */
	/* items of its first element's list that were given before a restore */
	uint64_t items;
	uint32_t uses;        /* number of its jobs, plus one while it is `cur` */
	struct parallel_input *next; /* links the spare ones */
};

struct parallel_job {
	enum parallel_phase phase;
	uint64_t number;      /* numbers the jobs in the order of their input */
	struct parallel_input *input;
	struct run in;        /* its block of the input; lent */
	uint64_t index;       /* index of in.e[0] in the stream */
	size_t bytes;
	/* owned by the thread that makes the job, and by the stream once MADE */
	uint32_t at;          /* index of the element to go on with */
	uint64_t items;       /* items of that element's list given so far */
	bool failed;          /* the last fault ends the stream */
	bool over;            /* everything has been made */
	struct run out, lists;
	const uint8_t *item;  /* the next item of an unfinished list; NULL: none */
	uint32_t left;
	struct parallel_fault *faults;
	size_t n_faults, cap_faults;
	/* owned by the stream: how far the results have been given */
	uint32_t given_at;
	uint64_t given_items;
};

/* Input that a restored state held. */
struct parallel_old {
	struct run in;
	uint64_t index, items;
};

struct parallel {
	struct op_inst *self;
	struct parallel_use *use;
	enum parallel_work work;
	const struct op_expr *expr;
	struct expr_run *plain; /* evaluates runs when the stream works alone */
	struct pool_user user;
	bool ordered;
	/* takes the elements that op_fault passes on, which are in place already */
	struct run kept;
	struct parallel_job *lent; /* the job whose results the caller has */
	pthread_mutex_t lock; /* guards everything below, and the jobs' phases */
	/* wakes the stream: a job is made, a status is set, or pulling has ended */
	pthread_cond_t news;
	bool alone;           /* the stream does all the work; nobody else touches the input */
	bool awaited;         /* the stream is waiting for news */
	bool pulling, pause, full;
	struct expr_vm **vms; /* machines that are not in use */
	size_t n_vms, cap_vms;
	int64_t time;         /* the time that now() gives; 0: nothing has begun */
	struct parallel_job *jobs;
	/* number of slots; of jobs that are not FREE; WAITING; WORKING */
	uint32_t window, active, waiting, making;
	size_t bytes;         /* size of the input of jobs that are not FREE */
	uint64_t head, next;  /* job numbers: to be given next when ordered; to be cut next */
	struct parallel_input *cur, *spare;
	uint32_t cut;         /* index in cur at which the next job begins */
	uint64_t seen;        /* index in the stream of the next input element */
	struct parallel_old *old;
	size_t n_old, at_old, cap_old;
	enum status status;   /* status of the input; ST_OK: there is more */
	struct err err;
	/* Measured costs; 0: not known yet. */
	double elem_ns, pull_ns, run_n;
	double run_ns;        /* cost of pulling and evaluating a run, by the stream alone */
	uint64_t known;       /* number of elements that elem_ns is based on */
};

/* parallel_work.c; called with the lock held. */
struct parallel_job *parallel_slot(struct parallel *p);
struct parallel_job *parallel_take(struct parallel *p);
void parallel_pull(struct parallel *p);
bool parallel_may_pull(struct parallel *p);
bool parallel_worth(const struct parallel *p);
void parallel_do(struct parallel *p, struct parallel_job *j);
void parallel_let_go(struct parallel *p, struct parallel_input *in);

/* Makes some output of the job, until it is finished or there is enough for one run. */
void parallel_make(const struct parallel *p, struct expr_vm *vm, struct parallel_job *j);

#endif
