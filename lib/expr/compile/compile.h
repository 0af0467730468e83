/* SPDX-License-Identifier: MIT
 *
 * Tree to code, in one walk that finds the types on its way. Internal to
 * compile*.c, emit.c and rule.c. compile.c and compile_call.c call each other, for an
 * argument of a call is an expression.
 */
#ifndef COMPILE_COMPILE_H
#define COMPILE_COMPILE_H

#include "expr/ast.h"
#include "expr/code.h"
#include "expr/expr.h"
#include "expr/fn.h"

enum { COMPILE_ANY = INT16_MIN /* no particular register: the value may stay where it is */ };

/* Dependencies of a value; 0: it is the same for all elements. */
enum compile_dep { DEP_ELEMENT = 1, DEP_ITEM = 2, DEP_VARIES = 4 };

struct compile {
	struct expr *x;
	const struct expr_env *env;
	struct err *e;
	int next;               /* the first free register */
	const struct type *it;  /* type of the item; NULL: there is no item here */
	int it_reg;
	uint64_t fold_cost;
};

struct operand {
	int reg;
	unsigned deps;
	const struct type *type;
};

/* Compiles a node; its value goes to register dst, or stays where it is (COMPILE_ANY). False:
 * the error is set. */
bool compile_node(struct compile *c, const struct expr_ast *a, int dst, struct operand *out);
bool compile_call(struct compile *c, const struct expr_ast *a, int dst, struct operand *out);
/* The register for a result: dst, or the one at `base`; all registers above are freed. */
int compile_result(struct compile *c, int base, int dst);
/* Adds a regular expression, or a constant text as one; gives its number, or -1. */
int compile_pattern(struct compile *c, const struct expr_ast *a);

/* Building code (emit.c). */
bool compile_fault(struct compile *c, const struct expr_ast *a, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
size_t emit(struct compile *c, enum code_op op, int d, int a, int b, int32_t n);
/* Makes the jump at `at` lead to the next instruction. */
void emit_land(struct compile *c, size_t at);
/* Makes failures in [from, to) lead to the next instruction, unless they are caught nearer. */
void emit_guard(struct compile *c, size_t from, size_t to);
/* whether the limits are kept so far */
bool emit_room(struct compile *c, const struct expr_ast *a);
/* Gives the register of a constant. */
int emit_const(struct compile *c, struct val v);
/* Gives the register of an encoded constant, which is copied. */
int emit_const_encoded(struct compile *c, const uint8_t *p, size_t n);
int emit_nil(struct compile *c);
int32_t emit_key(struct compile *c, const char *name, size_t n);
int32_t emit_shape(struct compile *c, const struct expr_ast *record);
/* Runs the code from `start` on now, when its value depends on nothing, and puts a constant in
 * its place. */
void emit_fold(struct compile *c, size_t start, int dst, struct operand *o);

/* Types (rule.c). NULL: the error is set. */
const struct type *rule_binary(struct compile *c, const struct expr_ast *a, const struct type *l,
			       const struct type *r);
const struct type *rule_unary(struct compile *c, const struct expr_ast *a, const struct type *t);
const struct type *rule_field(struct compile *c, const struct expr_ast *a, const struct type *t);
const struct type *rule_index(struct compile *c, const struct expr_ast *a, const struct type *t,
			      const struct type *i);
bool rule_test(struct compile *c, const struct expr_ast *a, const char *whose,
	       const struct type *t);
const struct type *rule_coalesce(struct compile *c, const struct type *l, const struct type *r);
/* Kinds (VAL_BIT) that a value of the type may have. */
unsigned rule_kinds(const struct type *t);
/* Writes the type's name, cut to fit. */
const char *rule_name(const struct type *t, char out[64]);

#endif
