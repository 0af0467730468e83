/* SPDX-License-Identifier: MIT
 *
 * What an expression is compiled into: an array of instructions over registers.
 *
 *	registers   ... const 1 | const 0 | x | s | i | xx | temporaries ...
 *	number      ...   -2    |   -1    | 0 | 1 | 2 | 3  | 4 ...
 *
 * Instructions name registers relative to x, so constants need no loading.
 * Jumps go forwards, except those of loops over the items of a list, which end
 * with the list and are counted (VM_STEPS): every expression ends.
 */
#ifndef EXPR_CODE_H
#define EXPR_CODE_H

#include <stdint.h>

#include "expr/expr.h"
#include "expr/val.h"
#include "value/type.h"

enum { CODE_REGS_MAX = 30000, CODE_LOOPS_MAX = 1000, CODE_FIRST_TEMP = EXPR_NAMES };

/* ORDER code_op: the jump table in machine_run has the same order. */
#define CODE_OPS(X) \
	X(RET)      /* the result is a */ \
	X(MOVE)     /* d = a */ \
	X(FIELD)    /* d = a . key c */ \
	X(INDEX)    /* d = a[b] */ \
	X(SLICE)    /* d = a[b:c] */ \
	X(ADD) X(SUB) X(MUL) X(DIV) X(FLOOR) X(MOD) X(POW) X(NEG) X(NOT) \
	X(EQ) X(NE) X(LT) X(LE) X(GT) X(GE) X(IN) X(CAT) \
	X(MATCH) X(NMATCH) /* d = a ~ pattern c */ \
	X(JUMP)     /* jump by c instructions */ \
	X(JFALSE)   /* jump by c if a is false; d: enum ast_op for the message */ \
	X(JTRUE) \
	X(JVALUE)   /* jump by c if a is not nil */ \
	X(TEST)     /* a must be a bool; d: enum ast_op */ \
	X(LIST)     /* d = [a, a + 1, ...], c of them */ \
	X(RECORD)   /* d = {keys of shape c: a, a + 1, ...} */ \
	X(CALL)     /* d = function of use c (a, a + 1, ...), n of them */ \
	X(LOOP)     /* begin loop c, over the list a */ \
	X(NEXT)     /* d = the next item of loop b; at the end jump by c */ \
	X(KEEP)     /* add a to the result of loop c */ \
	X(KEEPIF)   /* add b to it if a is true */ \
	X(KEEPKEY)  /* add b to it, with the key a */ \
	X(MADE)     /* d = the list that loop c made */ \
	X(SORTED)   /* d = that list, in the order of its keys */ \
	X(FAIL)     /* fail with the text a */ \
	X(SKIP)

#define CODE_ENUM(name) CODE_##name,
enum code_op { CODE_OPS(CODE_ENUM) CODE_COUNT };
#undef CODE_ENUM

struct ins {
	uint8_t op;
	uint8_t n;
	int16_t d, a, b;
	int32_t c;
};

/* The encoded keys of a record literal, one after the other. */
struct shape {
	uint32_t n;
	struct val_key *keys;
};

struct pattern;
struct fn_use;
struct column_plan;

struct expr {
	struct ins *code;
	/* for each instruction: how far to jump when it fails; 0: it fails */
	int32_t *guards;
	size_t n_code, cap_code, cap_guards;
	struct val *consts;
	size_t n_consts, cap_consts;
	struct val_key *keys;
	size_t n_keys, cap_keys;
	struct shape *shapes;
	size_t n_shapes, cap_shapes;
	struct pattern **patterns;
	size_t n_patterns, cap_patterns;
	struct fn_use *uses_of; /* uses of functions, one for each call in the code */
	size_t n_uses, cap_uses;
	uint8_t **owned;        /* memory that constants and keys point to */
	size_t n_owned, cap_owned;
	int n_regs;             /* number of registers from x on */
	int n_loops;
	const struct type *type;
	struct val result;      /* the value, when constant */
	bool constant;
	bool uses[EXPR_NAMES];
	unsigned traits;        /* enum expr_trait */
	struct json_rules json; /* for to_json and str */
	bool skips_nulls;       /* an element that fails because of null is dropped, as by skip() */
	bool whole;             /* x is used other than by its fields */
	const char **fields;    /* fields of x that are used, lent from the keys */
	size_t n_fields, cap_fields;
	struct column_plan *columns; /* plan for many elements at once; NULL: not possible */
	uint32_t part;          /* the whole expression is a field of x: number of its key, plus 1; else 0 */
	int quick;              /* the whole expression is x ~ patterns[0]: 1; x !~: -1; else 0 */
};

#endif
