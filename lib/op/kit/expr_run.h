/* SPDX-License-Identifier: MIT
 *
 * Running an operator's expression over whole runs, with the policy for elements
 * that fail.
 */
#ifndef KIT_EXPR_RUN_H
#define KIT_EXPR_RUN_H

#include "op/op.h"
#include "op/state.h"
#include "op/typed.h"

struct expr_run {
	struct expr_vm *vm;
	uint64_t seen; /* number of elements in earlier runs: the index of the next element */
};

typedef enum status expr_run_fn(struct expr_vm *vm, const struct run *in, uint32_t *from,
				struct run *out, struct err *err);

void expr_run_open(struct op_inst *self, struct expr_run *b, const struct op_expr *ex);
void expr_run_close(struct expr_run *b);
/* Runs expr_map or expr_filter over the run. */
enum status expr_run_all(struct op_inst *self, struct expr_run *b, expr_run_fn *fn,
			 const struct run *in, struct run *out, struct err *e);
/* Evaluates one element, under on_error: ST_OK and the value (lent until the next call);
 * ST_SKIP: go on with the next element; else the error to return. */
enum status expr_run_one(struct op_inst *self, struct expr_run *b, const struct run *in, uint32_t i,
			 struct run *out, const uint8_t **p, size_t *len, struct err *e);
/* op_fault for a mistake that a retry cannot mend: ST_OK, or the error. */
enum status expr_run_wrong(struct op_inst *self, const struct run *in, uint32_t i, struct run *out,
			   struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
extern const struct state_kind expr_run_state; /* for state rows of a struct expr_run */
void expr_run_save(const struct expr_run *b, struct buf *out);
enum status expr_run_restore(struct op_inst *self, struct expr_run *b, const uint8_t *p, size_t n,
			     struct err *e);

#endif
