/* SPDX-License-Identifier: MIT
 *
 * Many threads: evaluates an expression over the runs of an operator's input on
 * threads of the pool, for map, filter and flat_map with parallel=N.
 *
 *	pool:    [ pull a run ][ block ]           one at a time pulls the next run; runs
 *	pool:                  [ block ][ block ]  are cut into blocks by what an element
 *	                                           costs, and a thread takes one at a time
 *	stream:  gives the blocks' results, in the order of their input; evaluates one
 *	         itself, or pulls, when no thread of the pool is at it
 *
 * What costs so little that handing it over would not pay, the stream does alone
 * as without parallel=, and looks from run to run whether that is still so.
 *
 * Nothing that is made waits for input that is not there yet, and what stands
 * before the operator runs on one thread at a time. Results are the same as
 * without threads, for an expression sees the element, its index and random numbers
 * drawn by that index, never the thread. Policies for elements that fail are
 * applied where they are made, and told by the stream's thread, in order.
 *
 * A saved state has the input of the blocks that have not been given, from the
 * first element (or item) that was not: a restored chain evaluates them again.
 */
#ifndef EACH_PARALLEL_H
#define EACH_PARALLEL_H

#include "op/kit/expr_run.h"

struct parallel;

enum { PARALLEL_MOST = 256 };

enum parallel_work { PARALLEL_MAP, PARALLEL_FILTER, PARALLEL_ITEMS };

/* Part of the state of an operator with parallel=. */
struct parallel_use {
	int64_t parallel;    /* 1: no threads */
	bool ordered;
	struct parallel *threads; /* NULL: none */
	struct op_ctx ctx;   /* context of the inputs: the chain's, with a stop of its own */
	atomic_bool stop;
};

#define PARALLEL_ROWS(type, field) \
	{ "parallel", PARAM_INT, offsetof(type, field.parallel), "1", \
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = PARALLEL_MOST, \
	  .help = "number of threads of the pool that evaluate it; auto: the threads " \
		  "it can spare" }, \
	{ "ordered", PARAM_BOOL, offsetof(type, field.ordered), "true", .flags = PARAM_KEY_ONLY, \
	  .help = "false: pass results on in the order in which threads finish" }

/* Called from open, after expr_run_open: uses threads when parallel= asks for them. */
void parallel_open(struct op_inst *self, struct parallel_use *u, const struct op_expr *ex,
		   struct expr_run *alone, enum parallel_work work);
void parallel_close(struct parallel_use *u);
enum status parallel_next(struct op_inst *self, struct parallel_use *u, struct run *out,
			  struct err *e);
/* Saves the state when there are threads. False: the operator saves its own state after what
 * is in out, as it does without threads. */
bool parallel_save(struct op_inst *self, struct parallel_use *u, struct buf *out);
/* Restores the state when it was saved with threads; *st is the result. False: *p is the
 * operator's own state. */
bool parallel_restore(struct op_inst *self, struct parallel_use *u, const uint8_t **p, size_t *n,
		      enum status *st, struct err *e);

#endif
