/* SPDX-License-Identifier: MIT
 *
 * One thread's working memory for a compiled expression (struct expr_vm), and what
 * functions and operators ask of it: a fault, room for a value, steps to charge,
 * the state of a pattern, the time.
 */
#ifndef EXPR_VM_H
#define EXPR_VM_H

#include "base/buf.h"
#include "base/err.h"
#include "expr/code.h"
#include "expr/expr.h"
#include "expr/pattern.h"
#include "expr/scratch.h"
#include "expr/val.h"

enum { VM_STEPS = 100 * 1000 * 1000 /* most items of lists walked for one element */ };

/* A loop over a list, and the list that it makes. */
struct vm_loop {
	const uint8_t *at;      /* next item */
	uint32_t left, kept;
	struct scratch_mark mark;
	struct buf made;        /* items made so far, encoded, end to end */
	struct buf keys;        /* keys, for sorted */
};

struct csv;
struct json;
struct textform;
union column;

struct expr_vm {
	const struct expr *x;
	struct val *r;          /* register 0, the element */
	struct val *regs;       /* all registers, from the last constant on */
	struct scratch scratch;
	struct vm_loop *loops;
	struct pattern_state **states; /* one per pattern, made when it is first used */
	int64_t index;          /* index of the next element */
	uint64_t seed, drawn;   /* seed, and random numbers drawn for this element */
	int64_t limit, steps;   /* steps for an element, and how many are left for this one */
	int64_t now_ns;
	const struct ins *ins;  /* the current instruction of a slow kind, for guards */
	struct err *e;          /* receives the message; NULL: nobody wants it */
	struct run *direct;     /* receives tensors that are the result; NULL: not possible */
	struct buf tmp, tmp2;   /* functions build their results in these */
	struct buf out[2];      /* values that expr_value lends, in turns */
	unsigned turn;
	struct json *json;
	struct csv *csv;        /* parse_csv: reader for the last separator and types */
	uint8_t csv_delim;
	bool csv_text;
	struct textform *form;  /* used by parse_kv */
	union column *columns;  /* columns of column.h; NULL: none yet */
};

/* Fails the element: sets the message unless a ?? catches it. Gives ST_DATA. */
enum status vm_fault(struct expr_vm *vm, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* After a fault in vm->ins: whether it failed because of null, and the register that holds it. */
bool vm_null(const struct expr_vm *vm, int *reg);
/* Adds to the fault's message where the null came from, and what can be done. */
void vm_null_say(struct expr_vm *vm, int reg);
/* Charges n steps; a fault when this element has used too many. */
enum status vm_steps_fault(struct expr_vm *vm);
static inline enum status
vm_steps(struct expr_vm *vm, uint64_t n)
{
	return n > VM_STEPS || (vm->steps -= (int64_t)n) < 0 ? vm_steps_fault(vm) : ST_OK;
}
/* Room for a value being made; NULL: too large, the fault is set. */
uint8_t *vm_room(struct expr_vm *vm, size_t n);
/* Prints the value in vm->tmp2 into vm->tmp as JSON, or bare as text_write does, by the rules of the
 * expression. False: these refuse it, and the fault of function `name` is set. */
bool vm_json(struct expr_vm *vm, const char *name, bool bare);
/* Copies vm->tmp to the scratch memory as a text, bytes or an encoded list. */
enum status vm_take_tmp(struct expr_vm *vm, enum val_kind kind, struct val *out);
/* Makes a value of the head of a list or record, and vm->tmp. */
enum status vm_take_items(struct expr_vm *vm, enum val_kind kind, uint32_t n, struct val *out);
struct pattern_state *vm_pattern(struct expr_vm *vm, const struct pattern *p);
int64_t vm_now(struct expr_vm *vm); /* ns since 1970, the same at every call */

#endif
