/* SPDX-License-Identifier: MIT
 *
 * Expressions: a small, total, typed, pure language over one element.
 *
 *	text --expr_parse--> expr_ast --expr_compile--> expr --expr_run--> values
 *
 * An expr_ast is a plain tree, printable (expr_print gives the canonical text:
 * fewest brackets, parameters replaced by their values; parsing it again gives
 * the same tree). A compiled struct expr is immutable and may be shared by
 * threads; a struct expr_vm is one thread's working memory for it.
 *
 * Names: x the element (.name is x.name), s the state, i the index, xx the outer
 * element in an inner pipeline. Which of them exist, and their types, the
 * caller says in struct expr_env; another name is an error with a hint.
 *
 * Nothing is allocated per element when values are numbers, tests or slices of
 * the element. Values are read in place from the encoded element.
 */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/elem.h"
#include "value/type.h"
#include "value/json_rules.h"

struct expr_ast;
struct expr;
struct expr_vm;
struct needles;

/* The text being parsed; offsets in trees and errors count from `text`. */
struct expr_src {
	const char *file; /* for errors: "<arg>" */
	const char *text;
	size_t len;
	size_t at;        /* in: where to begin; out: first byte after the expression */
	bool newline_ends;/* a newline at bracket depth 0 ends the expression (unless
	                     the next line continues it: see lang) */
	/* @name, @{name}, $name: appends the parameter's encoded value to out;
	 * NULL or false: no such parameter (names lists suggestions). */
	bool (*param)(void *arg, const char *name, size_t n, struct buf *out);
	const char *(*param_name)(void *arg, size_t i);
	void *arg;
	unsigned depth;   /* internal */
};

/* Parses the longest expression at src->at. On an error, e has its place. Gives. */
struct expr_ast *expr_parse(struct expr_src *src, struct err *e);
/* Makes x ~ pattern. Takes, gives. */
struct expr_ast *expr_match_of(struct expr_ast *pattern);
void expr_ast_free(struct expr_ast **a);
void expr_print(const struct expr_ast *a, struct buf *out);
/* Structure as an indented tree, for --print=tree. */
void expr_print_tree(const struct expr_ast *a, int indent, struct buf *out);
bool expr_ast_equal(const struct expr_ast *a, const struct expr_ast *b);
/* The place in the source text. */
void expr_ast_place(const struct expr_ast *a, size_t *at, size_t *len);

enum expr_name { EXPR_X, EXPR_S, EXPR_I, EXPR_XX, EXPR_NAMES };

struct expr_env {
	const struct type *types[EXPR_NAMES]; /* NULL: the name does not exist here */
	struct types *arena;                  /* owner of the types that compiling makes */
	const char *file, *text;              /* for errors; text of `text_len` bytes */
	size_t text_len;
	struct json_rules json;               /* for to_json and str */
	bool skips_nulls;                     /* an element that fails because of null is dropped, as by skip() */
};

/* Checks types and compiles. ST_DATA with place and help: a field that a closed record lacks,
 * or an operation on the wrong type. Gives. */
struct expr *expr_compile(const struct expr_ast *a, const struct expr_env *env, struct err *e);
void expr_free(struct expr **x);
const struct type *expr_type(const struct expr *x);
/* Whether the value is the same for all elements; if so, puts it into out. */
bool expr_constant(const struct expr *x, struct buf *out);
/* The top-level fields of x that the expression reads: fills names (lent from the expr) and
 * returns their number, or -1 when it uses x as a whole. At most `max`. */
int expr_fields(const struct expr *x, const char **names, int max);
/* Traits of an expression beyond giving a value that depends on its element alone. The
 * compiler notes them; nothing else looks for them in the tree or the text. */
enum expr_trait {
	EXPR_VARIES = 1, /* another pass may give another value: rand(), now() */
	EXPR_SKIPS = 2,  /* skip(): an element may give none */
	EXPR_COUNTS = 4, /* i: the value depends on how many elements came before */
	EXPR_DRAWS = 8,  /* rand(): the value depends on a seed and on how often it was asked */
	EXPR_TIMED = 16  /* now(): also the same element, made again, may get another value */
};
unsigned expr_traits(const struct expr *x);
/* For a test of x alone: texts (needle.h) of which each text or bytes value holds one for which the test is true or
 * fails; lent. NULL: none are known. */
const struct needles *expr_needles(const struct expr *x);
/* One thread's working memory. Values of s, i, xx are set before runs. */
struct expr_vm *expr_vm_new(const struct expr *x, uint64_t seed);
void expr_vm_free(struct expr_vm **vm);
void expr_vm_set(struct expr_vm *vm, enum expr_name name, const uint8_t *p, size_t len); /* lent until changed */
/* index of the next element; increases by itself */
void expr_vm_set_index(struct expr_vm *vm, int64_t i);

/* Sets what now() gives, in ns since 1970; otherwise the clock is read at the first now(). */
void expr_vm_set_time(struct expr_vm *vm, int64_t ns);

/* Evaluates one element, and appends the encoded value to out's arena as an element with
 * e->pos. ST_OK; ST_SKIP: skip() was called; ST_DATA: it failed, and err says why (nothing is
 * appended). */
enum status expr_eval(struct expr_vm *vm, const struct elem *e, struct run *out, struct err *err);
/* Evaluates whole runs in a loop inside the machine: from e[*from] on, until the run ends or
 * an element fails or is skipped; *from is then that element's index (the caller applies its
 * policy and calls again with *from + 1). ST_AGAIN: the results are so large that the caller
 * should pass them on before continuing with *from. */
enum status expr_map(struct expr_vm *vm, const struct run *in, uint32_t *from,
		     struct run *out, struct err *err);
/* Like expr_map, for tests: passes the elements for which the test is true on to out. A value
 * that is not a bool is an error. */
enum status expr_filter(struct expr_vm *vm, const struct run *in, uint32_t *from,
			struct run *out, struct err *err);
/* Evaluates and lends the encoded value until the next call: for keys, states. */
enum status expr_value(struct expr_vm *vm, const struct elem *e, const uint8_t **p,
		       size_t *len, struct err *err);
/* For an expression that is a field of x, as .name: lends the part of the element that is its value, as expr_value
 * would give it, and counts the element. false: nothing was done, and expr_value is to be asked. */
bool expr_part(struct expr_vm *vm, const struct elem *e, const uint8_t **p, size_t *len);

/* The functions, for help, completion and the manual: rows until name NULL. */
struct expr_fn_doc {
	const char *name, *args, *brief;     /* "slice", "text|list, from[, to]", "..." */
	const char *example, *output;        /* an expression, and what it prints: run by the tests */
};
const struct expr_fn_doc *expr_functions(void);

#endif
