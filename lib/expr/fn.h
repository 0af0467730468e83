/* SPDX-License-Identifier: MIT
 *
 * Functions of expressions, as rows: name, signature, type, code, and the
 * documentation with an example that the tests run. Rows live in fn_*.c,
 * grouped by what they work on; fn.c joins them.
 *
 * A signature has one letter per argument:
 *	a any   i int   n number   t text   b bytes   s text or bytes   l list
 *	r record   q text, bytes or list   c one of those or a record   o bool
 *	v scalar (text, number, bool)   h int, text or bytes   k text or list
 *	p pattern: a regular expression or a text   f pattern or any value
 *	R a regular expression (a constant text will do)
 *	e an expression with `it`, for each item of the list before
 *	T a tensor   N number or tensor   L list or tensor   C one of c or a tensor
 *	U number, bool or tensor   M what a tensor is made of   D list, int or text
 * `?`: what follows may be left out; `*`: the letter before, any number of times.
 */
#ifndef EXPR_FN_H
#define EXPR_FN_H

#include "base/err.h"
#include "expr/expr.h"
#include "expr/val.h"
#include "value/type.h"

enum { FN_ARGS_MAX = 250 };

enum fn_special {
	FN_PLAIN, FN_MAP, FN_FILTER, FN_ANY, FN_ALL, FN_SORTED, FN_FAIL, FN_SKIP
};
enum fn_flag {
	FN_VARIES = 1, /* may differ for equal arguments */
	FN_DRAWS = 2   /* draws random numbers from the vm */
};

typedef enum status fn_call(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n);
/* Gives the type of the result for the types of the arguments. */
typedef const struct type *fn_type(struct types *t, const struct type *const *a, unsigned n);

/* Checks the arguments where constants matter, or types that are wrong only together: gives
 * the type, or NULL, and why says the reason. */
struct fn_arg {
	const struct type *type;
	const struct val *value; /* NULL: differs between elements */
};
enum { FN_WHY = 300 };
typedef const struct type *fn_check(struct types *t, const struct fn_arg *a, unsigned n,
				    char why[FN_WHY]);

struct fn {
	const char *name, *sig;
	const char *result;     /* the type as a text, which type_parse reads; NULL: use `type` */
	fn_type *type;
	fn_call *call;          /* NULL: the compiler handles it */
	uint8_t special, flags;
	const char *args, *brief, *example, *output;
	fn_check *check;        /* used in place of `result` and `type` */
};

const struct fn *fn_find(const char *name, size_t n);
const struct fn *fn_at(size_t i); /* alphabetical; NULL at the end */

/* Kinds (VAL_BIT) that the k-th argument may have; 0: there is no such argument. */
unsigned fn_accepts(const struct fn *f, unsigned k);
char fn_letter(const struct fn *f, unsigned k); /* 0: there is no such argument */
unsigned fn_least(const struct fn *f);          /* number of arguments it needs */
/* The words for a letter in messages: "text or bytes". */
const char *fn_letter_words(char letter);

enum { FN_MASKS = 8 };
/* One use of a function in compiled code: the kinds that each argument may have; the last
 * entry applies to all further arguments. */
struct fn_use {
	const struct fn *f;
	unsigned accepts[FN_MASKS];
};
void fn_use_init(struct fn_use *u, const struct fn *f);
/* Sets the error for an argument of the wrong kind. */
enum status fn_kind_fault(struct expr_vm *vm, const struct fn *f, const struct val *a, unsigned n);

/* Gives bytes as lower-case hexadecimal digits. */
enum status fn_hex(struct expr_vm *vm, const uint8_t *bytes, size_t n, struct val *out);

/* The functions themselves: a file fn_NAME.c has one group, `const struct fn fn_NAME[]`,
 * which ends with a row without a name. Nothing else lists them. */

/* Values of `type`: the type of the first argument, or that of its items. */
fn_type fn_type_first, fn_type_item, fn_type_list;

#endif
