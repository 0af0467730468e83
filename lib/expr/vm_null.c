/* SPDX-License-Identifier: MIT
 *
 * A fault because of null: which operand it was, and which field that came from. Asked
 * only after a fault, so nothing is noted while elements are evaluated.
 */
#include <stdio.h>
#include <string.h>

#include "expr/fn.h"
#include "expr/vm.h"

enum { NULL_PATH_MAX = 200, NULL_PARTS_MAX = 8 };

/* Whether the register is null, and so what the fault is about. */
static bool
null_is(const struct expr_vm *vm, int reg, int *out)
{
	if (vm->r[reg].kind != VAL_NIL)
		return false;
	*out = reg;
	return true;
}

static bool
null_argument(const struct expr_vm *vm, int *reg)
{
	const struct ins *ins = vm->ins;
	const struct fn_use *u = &vm->x->uses_of[ins->c];

	for (int k = 0; k < ins->n; k++)
		if (!(u->accepts[k < FN_MASKS ? k : FN_MASKS - 1] & VAL_BIT(VAL_NIL)) && null_is(vm, ins->a + k, reg))
			return true;
	return false;
}

bool
vm_null(const struct expr_vm *vm, int *reg)
{
	const struct ins *ins = vm->ins;

	switch ((enum code_op)ins->op) {
	case CODE_ADD: case CODE_SUB: case CODE_MUL: case CODE_DIV: case CODE_FLOOR: case CODE_MOD: case CODE_POW:
	case CODE_LT: case CODE_LE: case CODE_GT: case CODE_GE: case CODE_CAT: case CODE_INDEX:
		return null_is(vm, ins->a, reg) || null_is(vm, ins->b, reg);
	case CODE_IN:
		return null_is(vm, ins->b, reg);
	case CODE_NEG: case CODE_NOT: case CODE_SLICE: case CODE_MATCH: case CODE_NMATCH: case CODE_JFALSE:
	case CODE_JTRUE: case CODE_TEST: case CODE_LOOP: case CODE_KEEPIF: case CODE_RET:
		return null_is(vm, ins->a, reg);
	case CODE_CALL:
		return null_argument(vm, reg);
	default:
		return false;
	}
}

/* Whether an instruction before `to` may lead to one behind `from`, up to `to`, past `from`. */
static bool
null_is_passed(const struct expr *x, ptrdiff_t from, ptrdiff_t to)
{
	for (ptrdiff_t i = 0; i < from; i++) {
		const struct ins *ins = &x->code[i];
		bool jumps = ins->op == CODE_JUMP || ins->op == CODE_JFALSE || ins->op == CODE_JTRUE
			|| ins->op == CODE_JVALUE || ins->op == CODE_NEXT;
		ptrdiff_t at = jumps ? i + ins->c : 0, guard = x->guards ? i + x->guards[i] : 0;

		if ((at > from && at <= to) || (guard > from && guard <= to))
			return true;
	}
	return false;
}

static bool
null_writes(const struct ins *ins, int reg)
{
	switch ((enum code_op)ins->op) {
	case CODE_RET: case CODE_JUMP: case CODE_JFALSE: case CODE_JTRUE: case CODE_JVALUE: case CODE_TEST:
	case CODE_LOOP: case CODE_KEEP: case CODE_KEEPIF: case CODE_KEEPKEY: case CODE_FAIL: case CODE_SKIP:
		return false;
	default:
		return ins->d == reg;
	}
}

/* The instruction before `at` that gave the register its value; -1: unknown, or none. */
static ptrdiff_t
null_writer(const struct expr *x, ptrdiff_t at, int reg)
{
	ptrdiff_t i = at - 1;

	while (i >= 0 && !null_writes(&x->code[i], reg))
		i--;
	return i >= 0 && !null_is_passed(x, i, at) ? i : -1;
}

/* Writes where the register's value at an instruction came from: .a.b, s.a; false: not from a
 * field of a name. */
static bool
null_path(const struct expr *x, ptrdiff_t at, int reg, char path[NULL_PATH_MAX])
{
	const struct val_key *parts[NULL_PARTS_MAX];
	size_t n = 0, len = 0;

	while (reg >= CODE_FIRST_TEMP && n < NULL_PARTS_MAX) {
		at = null_writer(x, at, reg);
		if (at < 0 || x->code[at].op != CODE_FIELD)
			return false;
		parts[n++] = &x->keys[x->code[at].c];
		reg = x->code[at].a;
	}
	if (reg < 0 || reg >= CODE_FIRST_TEMP || reg == EXPR_I)
		return false;
	static const char *const names[] = { [EXPR_X] = "", [EXPR_S] = "s", [EXPR_XX] = "xx" };
	len = (size_t)snprintf(path, NULL_PATH_MAX, "%s", n ? names[reg] : reg == EXPR_X ? "x" : names[reg]);
	while (n-- && len < NULL_PATH_MAX) {
		const struct val_key *k = parts[n];

		len += (size_t)snprintf(path + len, NULL_PATH_MAX - len, ".%.*s", (int)k->name_len,
					(const char *)k->enc + k->len - k->name_len);
	}
	return len < NULL_PATH_MAX;
}

void
vm_null_say(struct expr_vm *vm, int reg)
{
	const struct expr *x = vm->x;
	ptrdiff_t at = vm->ins - x->code, from = null_writer(x, at, reg);
	char path[NULL_PATH_MAX], text[ERR_TEXT];
	bool known = null_path(x, at, reg, path);
	const struct ins *field = known && from >= 0 ? &x->code[from] : NULL;

	if (field) {
		const struct val *of = &vm->r[field->a];
		bool none = field->a < CODE_FIRST_TEMP && of->kind == VAL_RECORD
			&& !val_field(of->p, &x->keys[field->c]);

		snprintf(text, sizeof text, "%s", vm->e->text);
		if (none)
			err_set(vm->e, ST_DATA, "%s: the element has no field `%s`", text, path + (*path == '.'));
		else
			err_set(vm->e, ST_DATA, "%s: `%s` is null", text, path);
	}
	if (!known)
		snprintf(path, sizeof path, "...");
	err_help(vm->e, "`(%s ?? VALUE)` puts a value in its place; nulls=skip leaves such elements out", path);
}
