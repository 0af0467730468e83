/* SPDX-License-Identifier: MIT
 *
 * What a test asks of single fields, so that a part of the data can be left out whose least and greatest values are
 * known:
 *
 *	.a > 10 and "b" <= .b and .c in [1, 2] and f(.d)   -->   .a > 10, .b >= "b", .c in [1, 2]
 *
 * An element for which a test fails is an error, which must not get lost with the part. So the conditions are those
 * at the beginning of a conjunction, up to the first that is something else, and a part is left out only if none of
 * them up to the one that is never true can fail.
 */
#ifndef EXPR_CONDITION_H
#define EXPR_CONDITION_H

#include "expr/ast.h"
#include "expr/expr.h"

enum { CONDITIONS_MAX = 64 };

struct condition {
	const struct expr_ast *ast; /* lent by the test */
	const char *field;          /* lent by the test */
	uint8_t op;                 /* AST_EQ to AST_IN, with the field on the left */
	bool drops_nulls;           /* where it would fail because of null, the element is dropped */
	uint8_t *value;             /* the constant, encoded */
	size_t len;
};

struct conditions {
	struct condition v[CONDITIONS_MAX];
	size_t n;
};

/* The values that a field has in a part of the data. */
struct condition_limits {
	enum {
		CONDITION_UNKNOWN,  /* nothing is known, not even its type */
		CONDITION_BOOL, CONDITION_INT, CONDITION_FLOAT, CONDITION_TEXT, CONDITION_BYTES
	} kind;                     /* that of all values but null */
	const uint8_t *least, *greatest; /* encoded; NULL: not known. No value but null and nan is outside */
	size_t least_len, greatest_len;
	int64_t n, nulls;           /* number of values and of nulls among them; nulls -1: not known */
};

/* Adds the conditions of a test. False: it asks more than they say, so that those of a test behind it must not be
 * added. The rules are those by which the test was compiled. */
bool conditions_find(const struct expr_ast *test, bool drops_nulls, const struct json_rules *json,
		     struct conditions *out);
/* Whether one condition fails for some of the elements; excludes: can fail for none, and is true of none. */
bool condition_can_fail(const struct condition *c, const struct condition_limits *l);
bool condition_excludes(const struct condition *c, const struct condition_limits *l);
/* Whether none of the elements can pass, nor fail: `limits` has one for each condition. */
bool conditions_exclude(const struct conditions *c, const struct condition_limits *limits);
/* Prints them in the words of the test, joined by `and`. */
void conditions_print(const struct conditions *c, struct buf *out);
void conditions_free(struct conditions **c);

#endif
