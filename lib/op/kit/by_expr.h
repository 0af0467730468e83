/* SPDX-License-Identifier: MIT
 *
 * Running an operator's expression over whole runs, with the policy for elements
 * that fail.
 */
#ifndef KIT_BY_EXPR_H
#define KIT_BY_EXPR_H

#include "op/op.h"
#include "op/state.h"
#include "op/typed.h"

struct by_expr {
	struct expr_vm *vm;
	uint64_t seen; /* elements of earlier runs: the index of the next */
};

typedef enum status by_expr_fn(struct expr_vm *vm, const struct run *in, uint32_t *from,
			       struct run *out, struct err *err);

void by_expr_open(struct op_inst *self, struct by_expr *b, const struct op_expr *ex);
void by_expr_close(struct by_expr *b);
/* Runs expr_map or expr_filter over the run. */
enum status by_expr_run(struct op_inst *self, struct by_expr *b, by_expr_fn *fn,
			const struct run *in, struct run *out, struct err *e);
/* One element, with the policy: ST_OK and the value (lent until the next),
 * ST_SKIP: go on with the next element, else the error to return. */
enum status by_expr_one(struct op_inst *self, struct by_expr *b, const struct run *in, uint32_t i,
			struct run *out, const uint8_t **p, size_t *len, struct err *e);
/* op_fault for a mistake that trying again cannot mend: ST_OK, or the error. */
enum status by_expr_wrong(struct op_inst *self, const struct run *in, uint32_t i, struct run *out,
			  struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
extern const struct state_kind by_expr_state; /* for rows: struct by_expr */
void by_expr_save(const struct by_expr *b, struct buf *out);
enum status by_expr_restore(struct op_inst *self, struct by_expr *b, const uint8_t *p, size_t n,
			    struct err *e);

#endif
