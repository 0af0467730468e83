/* SPDX-License-Identifier: MIT
 *
 * The interpreter: one function, so that registers and the place in the code
 * stay in the processor's registers from one element to the next. Jumps go
 * through a table of labels, each instruction having a jump of its own to
 * predict. The common cases of numbers and fields are done in place, all else
 * is a call (arith.c, seq.c, fn_*.c).
 */
#include "expr/run/machine.h"

#include <string.h>

#include "expr/ast.h"
#include "expr/fn.h"
#include "expr/run/arith.h"
#include "expr/run/seq.h"

enum {
	MACHINE_SHARE_MIN = 512 /* longer parts of an element are passed on, not copied */
};

static enum status
machine_not_test(struct expr_vm *vm, unsigned op, const struct val *a)
{
	if (op == AST_OPS)
		return vm_fault(vm, "the condition of ?: is %s, not a test",
				val_kind_name(a->kind));
	return vm_fault(vm, "`%s` of %s, which is not true or false", ast_ops[op].sign,
			val_kind_name(a->kind));
}

static enum status
machine_field(struct expr_vm *vm, struct val *d, const struct val *a, const struct val_key *key)
{
	if (a->kind != VAL_NIL)
		return vm_fault(vm, "%s has no fields: `%.*s` is asked of it",
				val_kind_name(a->kind),
				(int)(key->name_len < 100 ? key->name_len : 100),
				(const char *)key->enc + key->len - key->name_len);
	*d = val_nil();
	return ST_OK;
}

static enum status
machine_match(struct expr_vm *vm, struct val *d, const struct val *a, const struct ins *ins)
{
	int rc;

	if (a->kind != VAL_TEXT && a->kind != VAL_BYTES)
		return vm_fault(vm, "`%s` of %s, which is not text",
				ins->op == CODE_MATCH ? "~" : "!~", val_kind_name(a->kind));
	struct pattern_state *s = vm->states[ins->c];
	if (!s)
		s = vm->states[ins->c] = pattern_state_new(vm->x->patterns[ins->c]);
	rc = pattern_test(s, a->p, a->n);
	if (rc < 0)
		return vm_fault(vm, "%s", pattern_fault(rc));
	*d = val_bool(rc == (ins->op == CODE_MATCH));
	return ST_OK;
}

static enum status
machine_loop_begin(struct expr_vm *vm, const struct val *a, struct vm_loop *loop)
{
	if (a->kind != VAL_LIST)
		return vm_fault(vm, "%s has no items to go through", val_kind_name(a->kind));
	loop->left = val_count(a, &loop->at);
	loop->kept = 0;
	loop->mark = scratch_mark(&vm->scratch);
	buf_reset(&loop->made);
	buf_reset(&loop->keys);
	return ST_OK;
}

static enum status
machine_loop_next(struct expr_vm *vm, struct val *d, struct vm_loop *loop)
{
	const uint8_t *p = loop->at;

	if (vm_steps(vm, 1))
		return ST_DATA;
	scratch_release(&vm->scratch, loop->mark);
	loop->left--;
	loop->at = mp_past(p);
	val_load(p, d);
	return ST_OK;
}

static enum status
machine_keep(struct expr_vm *vm, struct vm_loop *loop, const struct val *v)
{
	if (val_depth(v) >= MP_DEPTH_MAX)
		return vm_fault(vm, "lists and records are nested more than %d deep",
				MP_DEPTH_MAX);
	if (loop->made.len + val_size(v) > SCRATCH_VALUE_MAX)
		return vm_fault(vm, "a list of more than %d MiB is too large",
				SCRATCH_VALUE_MAX >> 20);
	val_put(v, &loop->made);
	loop->kept++;
	return ST_OK;
}

static enum status
machine_keep_if(struct expr_vm *vm, struct vm_loop *loop, const struct val *test,
		const struct val *v)
{
	if (test->kind != VAL_BOOL)
		return vm_fault(vm, "filter needs a test, not %s", val_kind_name(test->kind));
	return test->b ? machine_keep(vm, loop, v) : ST_OK;
}

static enum status
machine_keep_key(struct expr_vm *vm, struct vm_loop *loop, const struct val *key,
		 const struct val *v)
{
	val_put(key, &loop->keys);
	return machine_keep(vm, loop, v);
}

/* Gives back memory above the usual, after a large element. */
static void
machine_trim(struct expr_vm *vm)
{
	scratch_trim(&vm->scratch);
	if (vm->tmp.cap > SCRATCH_KEEP)
		buf_clear(&vm->tmp);
	if (vm->tmp2.cap > SCRATCH_KEEP)
		buf_clear(&vm->tmp2);
	for (int i = 0; i < vm->x->n_loops; i++) {
		if (vm->loops[i].made.cap > SCRATCH_KEEP)
			buf_clear(&vm->loops[i].made);
		if (vm->loops[i].keys.cap > SCRATCH_KEEP)
			buf_clear(&vm->loops[i].keys);
	}
}

static inline enum status
machine_call(struct expr_vm *vm, const struct fn_use *u, struct val *out, const struct val *a,
	     unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		if (!(u->accepts[k < FN_MASKS ? k : FN_MASKS - 1] & VAL_BIT(a[k].kind)))
			return fn_kind_fault(vm, u->f, a, n);
	return u->f->call(vm, out, a, n);
}

/* Whether a value is a whole part of the element, with its head. */
static bool
machine_is_part(const struct elem *e, const struct val *v, const uint8_t **p, uint32_t *n)
{
	switch (v->kind) {
	case VAL_TEXT:
	case VAL_BYTES:
		if (!v->head)
			return false;
		*p = v->p - v->head;
		*n = v->n + v->head;
		break;
	case VAL_LIST:
	case VAL_RECORD:
	case VAL_EXT:
		*p = v->p;
		*n = val_span(v);
		break;
	default:
		return false;
	}
	return (uintptr_t)*p - (uintptr_t)e->p < e->len;
}

static enum status
machine_emit(struct expr_vm *vm, struct run *out, const struct elem *e, const struct val *v)
{
	const uint8_t *p;
	uint32_t n;
	uint8_t *at;

	/* made in that place already (tensor_make) */
	if (v->kind == VAL_EXT && out->arena && v->p == out->arena->data + out->arena->len) {
		run_done(out, out->arena->data + out->arena->len + v->n, e->pos);
		return ST_OK;
	}
	if (machine_is_part(e, v, &p, &n)) {
		if (n >= MACHINE_SHARE_MIN || n == e->len) {
			run_push(out, (struct elem){ p, e->block, n, e->pos });
			return ST_OK;
		}
		at = run_room(out, n);
		memcpy(at, p, n);
		run_done(out, at + n, e->pos);
		return ST_OK;
	}
	if (v->kind == VAL_REGEX)
		return vm_fault(vm, "a regular expression is not a value");
	at = run_room(out, val_size(v));
	run_done(out, val_encode(v, at), e->pos);
	return ST_OK;
}

/* Names for the code below. */
#define A (&r[ins->a])
#define B (&r[ins->b])
#define D (&r[ins->d])
#define DISPATCH() goto *labels[ins->op]
#define NEXT_INS() do { ins++; DISPATCH(); } while (0)
#define SLOW(call) do { vm->ins = ins; if (call) goto fault; NEXT_INS(); } while (0)
#define ARITH(name, builtin) \
	op_##name: \
		if (A->kind == VAL_INT && B->kind == VAL_INT) { \
			int64_t w; \
			if (!builtin(A->i, B->i, &w)) { \
				*D = val_int(w); \
				NEXT_INS(); \
			} \
		} \
		SLOW(arith_binary(vm, CODE_##name, D, A, B))
#define COMPARE(name, sign) \
	op_##name: \
		if (A->kind == VAL_INT && B->kind == VAL_INT) { \
			*D = val_bool(A->i sign B->i); \
			NEXT_INS(); \
		} \
		if (A->kind == VAL_FLOAT && B->kind == VAL_FLOAT) { \
			*D = val_bool(A->f sign B->f); \
			NEXT_INS(); \
		} \
		SLOW(arith_compare(vm, CODE_##name, D, A, B))

/* size: a jump table needs one function. */
enum status
machine_run(struct expr_vm *vm, enum machine_mode mode, const struct elem *in, uint32_t n,
	    uint32_t *from, struct run *out, struct val *result)
{
#define CODE_LABEL(name) &&op_##name,
	static const void *const labels[] = { CODE_OPS(CODE_LABEL) };
#undef CODE_LABEL
	const struct expr *x = vm->x;
	const struct ins *const code = x->code, *ins = code;
	struct val *const r = vm->r, tmp;
	const uint8_t *p;
	uint32_t at = *from;

	vm->direct = mode == MACHINE_MAP ? out : NULL;

element:
	if (at >= n) {
		*from = at;
		return ST_OK;
	}
	if (scratch_is_large(&vm->scratch))
		machine_trim(vm);
	scratch_reset(&vm->scratch);
	vm->steps = vm->limit;
	vm->drawn = 0;
	if (x->uses[EXPR_X])
		val_load(in[at].p, r);
	if (x->uses[EXPR_I])
		r[EXPR_I] = val_int(vm->index);
	vm->index++;
	ins = code;
	DISPATCH();

op_RET:
	if (mode == MACHINE_MAP) {
		if (A->kind == VAL_INT) {
			uint8_t *w = run_room(out, MP_INT_MAX);

			run_done(out, mp_put_int(w, A->i), in[at].pos);
		} else {
			vm->ins = ins;
			if (machine_emit(vm, out, &in[at], A))
				goto fault;
			if (run_full(out) && at + 1 < n) {
				*from = at + 1;
				return ST_AGAIN;
			}
		}
	} else if (mode == MACHINE_FILTER) {
		if (A->kind != VAL_BOOL) {
			vm->ins = ins;
			vm_fault(vm, "filter needs a test, not %s", val_kind_name(A->kind));
			goto fault;
		}
		if (A->b)
			run_push(out, in[at]);
	} else {
		*result = *A;
		return ST_OK;
	}
	at++;
	goto element;

op_MOVE:
	*D = *A;
	NEXT_INS();
op_FIELD:
	if (A->kind == VAL_RECORD) {
		p = val_field(A->p, &x->keys[ins->c]);
		if (p)
			val_load(p, D);
		else
			*D = val_nil();
		NEXT_INS();
	}
	SLOW(machine_field(vm, D, A, &x->keys[ins->c]));
op_INDEX:
	SLOW(seq_index(vm, D, A, B));
op_SLICE:
	SLOW(seq_slice(vm, D, A, B, &r[ins->c]));

	ARITH(ADD, __builtin_add_overflow);
	ARITH(SUB, __builtin_sub_overflow);
	ARITH(MUL, __builtin_mul_overflow);
op_DIV:
	SLOW(arith_binary(vm, CODE_DIV, D, A, B));
op_FLOOR:
	SLOW(arith_binary(vm, CODE_FLOOR, D, A, B));
op_MOD:
	if (A->kind == VAL_INT && B->kind == VAL_INT && A->i >= 0 && B->i > 0) {
		*D = val_int((int64_t)(A->u % B->u));
		NEXT_INS();
	}
	SLOW(arith_binary(vm, CODE_MOD, D, A, B));
op_POW:
	SLOW(arith_binary(vm, CODE_POW, D, A, B));
op_NEG:
	SLOW(arith_negate(vm, D, A));
op_NOT:
	if (A->kind == VAL_BOOL) {
		*D = val_bool(!A->b);
		NEXT_INS();
	}
	SLOW(machine_not_test(vm, AST_NOT, A));

op_EQ:
	if ((A->kind == VAL_EXT) | (B->kind == VAL_EXT))
		SLOW(arith_compare(vm, CODE_EQ, D, A, B));
	*D = val_bool(val_equal(A, B));
	NEXT_INS();
op_NE:
	if ((A->kind == VAL_EXT) | (B->kind == VAL_EXT))
		SLOW(arith_compare(vm, CODE_NE, D, A, B));
	*D = val_bool(!val_equal(A, B));
	NEXT_INS();
	COMPARE(LT, <);
	COMPARE(LE, <=);
	COMPARE(GT, >);
	COMPARE(GE, >=);
op_IN:
	SLOW(seq_in(vm, D, A, B));
op_CAT:
	SLOW(seq_cat(vm, D, A, B));
op_MATCH:
op_NMATCH:
	SLOW(machine_match(vm, D, A, ins));

op_JUMP:
	ins += ins->c;
	DISPATCH();
op_JFALSE:
op_JTRUE:
	if (A->kind != VAL_BOOL) {
		vm->ins = ins;
		machine_not_test(vm, (unsigned)ins->d, A);
		goto fault;
	}
	ins += A->b == (ins->op == CODE_JTRUE) ? ins->c : 1;
	DISPATCH();
op_JVALUE:
	ins += A->kind != VAL_NIL ? ins->c : 1;
	DISPATCH();
op_TEST:
	if (A->kind == VAL_BOOL)
		NEXT_INS();
	SLOW(machine_not_test(vm, (unsigned)ins->d, A));

op_LIST:
	SLOW(seq_list(vm, D, A, (uint32_t)ins->c));
op_RECORD:
	SLOW(seq_record(vm, D, &x->shapes[ins->c], A));
op_CALL:
	vm->ins = ins;
	if (machine_call(vm, &x->uses_of[ins->c], &tmp, A, ins->n))
		goto fault;
	*D = tmp;
	NEXT_INS();

op_LOOP:
	SLOW(machine_loop_begin(vm, A, &vm->loops[ins->c]));
op_NEXT:
	if (!vm->loops[ins->b].left) {
		ins += ins->c;
		DISPATCH();
	}
	SLOW(machine_loop_next(vm, D, &vm->loops[ins->b]));
op_KEEP:
	SLOW(machine_keep(vm, &vm->loops[ins->c], A));
op_KEEPIF:
	SLOW(machine_keep_if(vm, &vm->loops[ins->c], A, B));
op_KEEPKEY:
	SLOW(machine_keep_key(vm, &vm->loops[ins->c], A, B));
op_MADE:
	SLOW(seq_made(vm, D, &vm->loops[ins->c], false));
op_SORTED:
	SLOW(seq_made(vm, D, &vm->loops[ins->c], true));

op_FAIL:
	vm->ins = ins;
	if (A->kind == VAL_TEXT && A->n && *A->p)
		vm_fault(vm, "%.*s", (int)(A->n < 500 ? A->n : 500), (const char *)A->p);
	else
		vm_fault(vm, "failed");
	goto fault;
op_SKIP:
	*from = at;
	return ST_SKIP;

fault:
	if (x->guards && x->guards[ins - code]) {
		ins += x->guards[ins - code];
		DISPATCH();
	}
	*from = at;
	return x->skips_nulls && vm_null(vm, &(int){ 0 }) ? ST_SKIP : ST_DATA;
}
