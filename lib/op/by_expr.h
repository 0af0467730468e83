/* SPDX-License-Identifier: MIT
 *
 * What operators with an expression share: types of expressions, and running
 * one over whole runs with the policy for elements that fail.
 */
#ifndef OP_BY_EXPR_H
#define OP_BY_EXPR_H

#include "op/op.h"

/* The error at the operator's place in the spec; gives ST_DATA. */
enum status typed_fail(const struct op_typing *t, const struct op_node *n, struct err *e,
		       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Compiles an expression over the input's elements that must give a bool. */
enum status typed_test(struct op_node *n, struct op_typing *t, struct op_expr *ex, struct err *e);
/* Compiles one with a state: finds the type that holds both init and results. */
enum status typed_fold(struct op_node *n, struct op_typing *t, struct op_expr *ex,
		       const struct buf *init, const struct type **type, struct err *e);
/* Whether each element gives one: no skip() in it, and no policy that drops. */
bool typed_one_each(const struct op_node *n, const struct op_expr *ex);

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
void by_expr_save(const struct by_expr *b, struct buf *out);
enum status by_expr_restore(struct op_inst *self, struct by_expr *b, const uint8_t *p, size_t n,
			    struct err *e);

#endif
