/* SPDX-License-Identifier: MIT
 *
 * The machine that runs compiled expressions, as its functions see it.
 */
#ifndef EXPR_MACHINE_H
#define EXPR_MACHINE_H

#include "base/buf.h"
#include "base/err.h"
#include "expr/code.h"
#include "expr/expr.h"
#include "expr/pattern.h"
#include "expr/scratch.h"
#include "expr/val.h"

enum { MACHINE_STEPS = 100 * 1000 * 1000 /* items of lists walked for one element */ };

enum machine_mode { MACHINE_ONE, MACHINE_MAP, MACHINE_FILTER };

/* A loop over a list and the list that it makes. */
struct machine_loop {
	const uint8_t *at;      /* next item */
	uint32_t left, kept;
	struct scratch_mark mark;
	struct buf made;        /* items, encoded, end to end */
	struct buf keys;        /* for sorted */
};

struct csv;
struct json;
struct textform;
union column;

struct expr_vm {
	const struct expr *x;
	struct val *r;          /* register 0, the element */
	struct val *regs;       /* all of them, from the last constant on */
	struct scratch scratch;
	struct machine_loop *loops;
	struct pattern_state **states; /* one per pattern, made when first used */
	int64_t index;          /* of the next element */
	uint64_t seed, drawn;   /* random numbers drawn for this element */
	int64_t limit, steps;   /* for an element, and left of them for this one */
	int64_t now_ns;
	const struct ins *ins;  /* where a slow instruction stands, for guards */
	struct err *e;          /* where the message goes; NULL: nowhere */
	struct run *direct;     /* where tensors that are the result are made; NULL: nowhere */
	struct buf tmp, tmp2;   /* functions build in them */
	struct buf out[2];      /* what expr_value lends, in turns */
	unsigned turn;
	struct json *json;
	struct csv *csv;        /* parse_csv: of the last separator and types */
	uint8_t csv_delim;
	bool csv_text;
	struct textform *form;  /* parse_kv */
	union column *columns;  /* column.h; NULL: none yet */
};

/* The element failed: sets the message unless a ?? catches it. Gives ST_DATA. */
enum status machine_fault(struct expr_vm *vm, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Room for a value being made; NULL: too large, the fault is set. */
uint8_t *machine_room(struct expr_vm *vm, size_t n);
/* Copies vm->tmp to the scratch memory as a text, bytes or an encoded list. */
enum status machine_take_tmp(struct expr_vm *vm, enum val_kind kind, struct val *out);
/* The head of a list or record and then vm->tmp. */
enum status machine_take_items(struct expr_vm *vm, enum val_kind kind, uint32_t n, struct val *out);
/* Charges n steps; a fault when too many were taken for this element. */
enum status machine_steps(struct expr_vm *vm, uint64_t n);
struct pattern_state *machine_pattern(struct expr_vm *vm, const struct pattern *p);

/* Runs for elements in[from..n) until one fails or is skipped, which *from then
 * is. ONE: for one element, the value is in *result. */
enum status machine_run(struct expr_vm *vm, enum machine_mode mode, const struct elem *in,
			uint32_t n, uint32_t *from, struct run *out, struct val *result);

/* Operators (arith.c, joins.c); op: enum code_op. */
enum status arith_binary(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
			 const struct val *b);
enum status arith_negate(struct expr_vm *vm, struct val *d, const struct val *a);
enum status arith_compare(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
			  const struct val *b);
enum status seq_in(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b);
enum status seq_cat(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b);
enum status seq_index(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b);
enum status seq_slice(struct expr_vm *vm, struct val *d, const struct val *a, const struct val *b,
		      const struct val *c);
enum status seq_list(struct expr_vm *vm, struct val *d, const struct val *items, uint32_t n);
enum status seq_record(struct expr_vm *vm, struct val *d, const struct shape *shape,
		       const struct val *items);
enum status seq_made(struct expr_vm *vm, struct val *d, struct machine_loop *loop, bool sorted);

/* Characters of UTF-8 text; a byte that is not part of one counts as one. */
size_t seq_chars(const uint8_t *p, size_t n);
/* Where the k-th character begins, or the end. */
const uint8_t *seq_char(const uint8_t *p, const uint8_t *end, size_t k);

#endif
