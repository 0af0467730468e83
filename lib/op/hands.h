/* SPDX-License-Identifier: MIT
 *
 * Many hands: evaluates an expression over the runs of an operator's input on
 * several threads, for map, filter and flat_map with parallel=N.
 *
 *	hand 1: [ pull ][ evaluate          ]        one at a time pulls the next run,
 *	hand 2:         [ pull ][ evaluate        ]  then evaluates it, while another
 *	                                             hand pulls
 *	stream:    gives the jobs' results, in the order of their input
 *
 * So nothing that is made waits for input that is not there yet, and what stands
 * before the operator runs on the hands, one at a time. Results are the same as
 * without hands, for an expression sees the element, its index and random numbers
 * drawn by that index, never the thread. Policies for elements that fail are
 * applied on the hands, and told by the stream's thread, in order.
 *
 * A saved state has the input of the jobs that have not been given, from the
 * first element (or item) that was not: a restored chain evaluates them again.
 */
#ifndef OP_HANDS_H
#define OP_HANDS_H

#include "op/by_expr.h"

struct hands;

enum { HANDS_MOST = 256 };

enum hands_work { HANDS_MAP, HANDS_FILTER, HANDS_ITEMS };

/* In the operator's state. */
struct hands_use {
	int64_t parallel;   /* 1: no hands */
	bool ordered;
	struct hands *pool; /* NULL: no hands */
	struct op_ctx ctx;  /* of what stands before: the same with another stop */
	atomic_bool stop;
};

#define HANDS_ROWS(type, field) \
	{ "parallel", PARAM_INT, offsetof(type, field.parallel), "1", \
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = HANDS_MOST, \
	  .help = "how many threads evaluate it; auto: one for each processor" }, \
	{ "ordered", PARAM_BOOL, offsetof(type, field.ordered), "true", .flags = PARAM_KEY_ONLY, \
	  .help = "false: results are given as threads finish" }

/* At open: takes hands when parallel= asks for them, false otherwise. Threads
 * begin with the first call of hands_next. */
bool hands_open(struct op_inst *self, struct hands_use *u, const struct op_expr *ex,
		enum hands_work work);
void hands_close(struct hands_use *u);
enum status hands_next(struct op_inst *self, struct hands_use *u, struct run *out, struct err *e);
void hands_save(struct op_inst *self, struct hands_use *u, struct buf *out);
enum status hands_restore(struct op_inst *self, struct hands_use *u, const uint8_t *p, size_t n,
			  struct err *e);

#endif
