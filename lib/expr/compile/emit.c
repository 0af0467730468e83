/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expr/compile/compile.h"
#include "expr/run/machine.h"

enum {
	EMIT_CODE_MAX = 500 * 1000,
	EMIT_FOLD_MAX = 20 * 1000 * 1000, /* limit for the registers set up for folding, in total */
	EMIT_FOLD_STEPS = 100 * 1000,
	EMIT_FOLD_SCRATCH = 1024 * 1024,
	EMIT_FOLD_BYTES = 64 * 1024 /* larger values are not folded, but made when needed */
};

bool
compile_fault(struct compile *c, const struct expr_ast *a, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(c->e, ST_DATA, "%s", text);
	if (c->env->text)
		err_place(c->e, c->env->file, c->env->text, c->env->text_len, a->mark,
			  a->mark_len);
	return false;
}

size_t
emit(struct compile *c, enum code_op op, int d, int a, int b, int32_t n)
{
	struct expr *x = c->x;

	x->code = mem_grow(x->code, &x->cap_code, x->n_code + 1, sizeof *x->code);
	x->guards = mem_grow(x->guards, &x->cap_guards, x->n_code + 1, sizeof *x->guards);
	x->guards[x->n_code] = 0;
	x->code[x->n_code] = (struct ins){
		.op = (uint8_t)op, .d = (int16_t)d, .a = (int16_t)a, .b = (int16_t)b, .c = n
	};
	return x->n_code++;
}

void
emit_land(struct compile *c, size_t at)
{
	c->x->code[at].c = (int32_t)(c->x->n_code - at);
}

void
emit_guard(struct compile *c, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (!c->x->guards[i])
			c->x->guards[i] = (int32_t)(c->x->n_code - i);
}

bool
emit_room(struct compile *c, const struct expr_ast *a)
{
	const struct expr *x = c->x;

	if (c->next < CODE_REGS_MAX && x->n_consts < CODE_REGS_MAX && x->n_code < EMIT_CODE_MAX
	    && x->n_loops < CODE_LOOPS_MAX)
		return true;
	return compile_fault(c, a, "this expression is too large");
}

static uint8_t *
emit_own(struct compile *c, const void *p, size_t n)
{
	struct expr *x = c->x;

	x->owned = mem_grow(x->owned, &x->cap_owned, x->n_owned + 1, sizeof *x->owned);
	x->owned[x->n_owned] = mem_dup(p, n ? n : 1);
	return x->owned[x->n_owned++];
}

int
emit_const(struct compile *c, struct val v)
{
	struct expr *x = c->x;

	x->consts = mem_grow(x->consts, &x->cap_consts, x->n_consts + 1, sizeof *x->consts);
	x->consts[x->n_consts++] = v;
	return -(int)x->n_consts;
}

int
emit_const_encoded(struct compile *c, const uint8_t *p, size_t n)
{
	struct val v = { 0 };

	val_load(p, &v);
	if (v.kind >= VAL_TEXT) {
		val_load(emit_own(c, p, n), &v);
		if (v.kind >= VAL_LIST)
			v.n = (uint32_t)n;
	}
	return emit_const(c, v);
}

int
emit_nil(struct compile *c)
{
	for (size_t i = 0; i < c->x->n_consts; i++)
		if (c->x->consts[i].kind == VAL_NIL)
			return -1 - (int)i;
	return emit_const(c, val_nil());
}

static void
emit_key_into(struct compile *c, struct val_key *k, const void *name, size_t n)
{
	struct buf b = { 0 };
	uint8_t *p = buf_room(&b, n + MP_HEAD_MAX);
	size_t len = (size_t)(mp_put_text(p, name, (uint32_t)n) - p);

	val_key_init(k, emit_own(c, p, len), (uint32_t)len);
	buf_clear(&b);
}

int32_t
emit_key(struct compile *c, const char *name, size_t n)
{
	struct expr *x = c->x;

	for (size_t i = 0; i < x->n_keys && i < 256; i++)
		if (x->keys[i].name_len == n
		    && !memcmp(x->keys[i].enc + x->keys[i].len - n, name, n))
			return (int32_t)i;
	x->keys = mem_grow(x->keys, &x->cap_keys, x->n_keys + 1, sizeof *x->keys);
	emit_key_into(c, &x->keys[x->n_keys], name, n);
	return (int32_t)x->n_keys++;
}

int32_t
emit_shape(struct compile *c, const struct expr_ast *record)
{
	struct expr *x = c->x;
	struct shape s = { .n = record->n / 2 };

	s.keys = mem_array(s.n + 1, sizeof *s.keys);
	for (uint32_t i = 0; i < s.n; i++) {
		const char *name = "";
		size_t n = 0;

		ast_lit_text(record->kids[2 * i], &name, &n);
		emit_key_into(c, &s.keys[i], name, n);
	}
	x->shapes = mem_grow(x->shapes, &x->cap_shapes, x->n_shapes + 1, sizeof *x->shapes);
	x->shapes[x->n_shapes] = s;
	return (int32_t)x->n_shapes++;
}

/* Runs the code from `start` on; its value goes to out. */
static bool
emit_run(struct compile *c, size_t start, struct buf *out)
{
	struct expr part = *c->x;
	static const uint8_t nil = 0xc0;
	struct elem none = { &nil, NULL, 1, 0 };
	struct val v = { 0 };
	uint32_t from = 0;

	part.code += start;
	part.guards += start;
	memset(part.uses, 0, sizeof part.uses);
	struct expr_vm *vm = expr_vm_new(&part, 0);
	vm->limit = EMIT_FOLD_STEPS;
	vm->scratch.most = EMIT_FOLD_SCRATCH;
	bool ok = !machine_run(vm, MACHINE_ONE, &none, 1, &from, NULL, &v) && v.kind != VAL_REGEX
		&& val_size(&v) <= EMIT_FOLD_BYTES;
	if (ok)
		val_put(&v, out);
	expr_vm_free(&vm);
	return ok;
}

void
emit_fold(struct compile *c, size_t start, int dst, struct operand *o)
{
	struct expr *x = c->x;
	struct buf value = { 0 };

	if (o->deps || x->n_code == start || o->type->kind == TYPE_NEVER)
		return;
	if (x->n_code == start + 1 && x->code[start].op == CODE_MOVE && x->code[start].a < 0)
		return;
	c->fold_cost += x->n_consts + (size_t)x->n_regs;
	if (c->fold_cost > EMIT_FOLD_MAX)
		return;
	emit(c, CODE_RET, 0, o->reg, 0, 0);
	bool ok = emit_run(c, start, &value);
	x->n_code--;
	/* Code that fails stays, and fails when it is reached, if ever. */
	if (ok) {
		x->n_code = start;
		o->reg = emit_const_encoded(c, value.data, value.len);
		if (dst != COMPILE_ANY) {
			emit(c, CODE_MOVE, dst, o->reg, 0, 0);
			o->reg = dst;
		}
	}
	buf_clear(&value);
}
