/* SPDX-License-Identifier: MIT */
#include "expr/run/column.h"

#include <string.h>

#include "base/mem.h"

/* For planning: the column of each register, and the kind of its values. */
struct column_map {
	const struct expr *x;
	struct column_plan *p;
	int16_t temps[COLUMN_OPS]; /* columns of the registers from CODE_FIRST_TEMP on */
	uint8_t kinds[COLUMN_MOST];
};

static int
column_fresh(struct column_map *m, enum column_kind kind)
{
	if (m->p->n_cols == COLUMN_MOST)
		return -1;
	m->kinds[m->p->n_cols] = (uint8_t)kind;
	return m->p->n_cols++;
}

/* The column of a register that is read, or -1. */
static int
column_of(struct column_map *m, int reg)
{
	if (reg == EXPR_X)
		return 0;
	if (reg == EXPR_I)
		return 1;
	if (reg >= CODE_FIRST_TEMP && reg < CODE_FIRST_TEMP + COLUMN_OPS)
		return m->temps[reg - CODE_FIRST_TEMP];
	if (reg >= 0)
		return -1;
	const struct val *v = &m->x->consts[-1 - reg];
	if (v->kind != VAL_INT && v->kind != VAL_FLOAT)
		return -1;
	int col = column_fresh(m, v->kind == VAL_INT ? COLUMN_INT : COLUMN_FLOAT);
	if (col >= 0)
		m->p->consts[col] = *v;
	return col;
}

static bool
column_add(struct column_map *m, unsigned op, unsigned kind, int d, int a, int b)
{
	if (m->p->n_ops == COLUMN_OPS || d < 0)
		return false;
	m->p->ops[m->p->n_ops++] = (struct column_op){
		(uint8_t)op, (uint8_t)kind, (uint8_t)d, (uint8_t)a, (uint8_t)b
	};
	return true;
}

static bool
column_to_float(struct column_map *m, int *col)
{
	int from = *col;

	if (m->kinds[from] == COLUMN_FLOAT)
		return true;
	if (m->p->consts[from].kind == VAL_INT) {
		m->p->consts[from] = val_float((double)m->p->consts[from].i);
		m->kinds[from] = COLUMN_FLOAT;
		return true;
	}
	*col = column_fresh(m, COLUMN_FLOAT);
	return column_add(m, CODE_MOVE, COLUMN_INT, *col, from, from);
}

static bool
column_plan_ins(struct column_map *m, const struct ins *ins)
{
	int a = column_of(m, ins->a), b = column_of(m, ins->b), d;
	bool compares = ins->op >= CODE_EQ && ins->op <= CODE_GE;

	if (a < 0 || b < 0 || m->kinds[a] == COLUMN_BOOL || m->kinds[b] == COLUMN_BOOL)
		return false;
	bool mixed = m->kinds[a] != m->kinds[b];
	bool floats = m->kinds[a] == COLUMN_FLOAT || m->kinds[b] == COLUMN_FLOAT;
	switch (ins->op) {
	case CODE_DIV:
		break;
	case CODE_FLOOR:
	case CODE_MOD:
		if (floats)
			return false;
		break;
	case CODE_ADD:
	case CODE_SUB:
	case CODE_MUL:
		break;
	default:
		/* comparing an int with a float exactly is left to the machine */
		if (!compares || mixed)
			return false;
	}
	if (floats && (!column_to_float(m, &a) || !column_to_float(m, &b)))
		return false;
	d = column_fresh(m, compares ? COLUMN_BOOL
			 : floats || ins->op == CODE_DIV ? COLUMN_FLOAT : COLUMN_INT);
	if (ins->d < CODE_FIRST_TEMP || ins->d >= CODE_FIRST_TEMP + COLUMN_OPS)
		return false;
	m->temps[ins->d - CODE_FIRST_TEMP] = (int16_t)d;
	return column_add(m, ins->op, floats ? COLUMN_FLOAT : COLUMN_INT, d, a, b);
}

struct column_plan *
column_plan_new(const struct expr *x, const struct type *type)
{
	struct column_plan *p;
	size_t n = x->n_code - 1;

	if (!type || type->nullable || (type->kind != TYPE_INT && type->kind != TYPE_FLOAT)
	    || n == 0 || n > COLUMN_OPS || x->code[n].op != CODE_RET || !x->uses[EXPR_X])
		return NULL;
	p = mem_zalloc(sizeof *p);
	struct column_map m = { .x = x, .p = p };
	for (size_t i = 0; i < COLUMN_OPS; i++)
		m.temps[i] = -1;
	p->x_kind = type->kind == TYPE_INT ? COLUMN_INT : COLUMN_FLOAT;
	column_fresh(&m, (enum column_kind)p->x_kind);
	column_fresh(&m, COLUMN_INT);
	bool ok = true;
	for (size_t i = 0; ok && i < n; i++)
		ok = !x->guards[i] && column_plan_ins(&m, &x->code[i]);
	int result = ok ? column_of(&m, x->code[n].a) : -1;
	if (result < 0) {
		mem_free(p);
		return NULL;
	}
	p->result = (uint8_t)result;
	p->kind = m.kinds[result];
	return p;
}

/* Makes all columns of a machine, and fills the constant ones. */
static union column *
column_new(const struct column_plan *p)
{
	union column *cols = mem_array(p->n_cols, sizeof *cols);

	for (unsigned c = 0; c < p->n_cols; c++)
		for (unsigned k = 0; k < COLUMN_LEN; k++) {
			if (p->consts[c].kind == VAL_INT)
				cols[c].i[k] = p->consts[c].i;
			else if (p->consts[c].kind == VAL_FLOAT)
				cols[c].f[k] = p->consts[c].f;
		}
	return cols;
}

/* Loads x from n elements; false: one of them is of another kind. */
static bool
column_load_ints(const struct elem *e, uint32_t n, int64_t *out)
{
	bool ok = true;

	for (uint32_t k = 0; k < n; k++) {
		const uint8_t *p = e[k].p;
		uint8_t c = *p;

		if (c < 0x80 || c >= 0xe0) {
			out[k] = (int8_t)c;
		} else if (c == 0xce) {
			out[k] = mp_u32(p + 1);
		} else if (c == 0xcd) {
			out[k] = mp_u16(p + 1);
		} else {
			struct val v = { 0 };

			val_load(p, &v);
			ok = ok && v.kind == VAL_INT;
			out[k] = v.i;
		}
	}
	return ok;
}

static bool
column_load_floats(const struct elem *e, uint32_t n, double *out)
{
	for (uint32_t k = 0; k < n; k++) {
		if (*e[k].p != 0xcb)
			return false;
		out[k] = mp_f64(e[k].p + 1);
	}
	return true;
}

/* Computes one operation; gives whether something was out of the ordinary. */
static bool
column_ints(unsigned op, uint32_t n, const int64_t *a, const int64_t *b, int64_t *d)
{
	bool odd = false;

	switch (op) {
	case CODE_ADD:
		for (uint32_t k = 0; k < n; k++)
			odd |= __builtin_add_overflow(a[k], b[k], &d[k]);
		break;
	case CODE_SUB:
		for (uint32_t k = 0; k < n; k++)
			odd |= __builtin_sub_overflow(a[k], b[k], &d[k]);
		break;
	case CODE_MUL:
		for (uint32_t k = 0; k < n; k++)
			odd |= __builtin_mul_overflow(a[k], b[k], &d[k]);
		break;
	case CODE_FLOOR:
	case CODE_MOD:
		for (uint32_t k = 0; k < n; k++) {
			if (b[k] <= 0)
				return true;
			int64_t q, r;
			if ((uint64_t)(a[k] | b[k]) <= UINT32_MAX) { /* much faster */
				q = (uint32_t)a[k] / (uint32_t)b[k];
				r = (uint32_t)a[k] % (uint32_t)b[k];
			} else {
				q = a[k] / b[k];
				r = a[k] % b[k];
			}
			d[k] = op == CODE_MOD ? r + (r < 0 ? b[k] : 0) : q - (r < 0);
		}
		break;
	}
	return odd;
}

/* Divides ints that are exact as floats. */
static bool
column_divide(uint32_t n, const int64_t *a, const int64_t *b, double *d)
{
	const uint64_t exact = 1ull << 53;
	bool odd = false;

	for (uint32_t k = 0; k < n; k++) {
		odd |= b[k] == 0 || (uint64_t)a[k] + exact > 2 * exact || (uint64_t)b[k] + exact > 2 * exact;
		d[k] = (double)a[k] / (double)b[k];
	}
	return odd;
}

static bool
column_floats(unsigned op, uint32_t n, const double *a, const double *b, double *d)
{
	bool odd = false;

	switch (op) {
	case CODE_ADD:
		for (uint32_t k = 0; k < n; k++)
			d[k] = a[k] + b[k];
		break;
	case CODE_SUB:
		for (uint32_t k = 0; k < n; k++)
			d[k] = a[k] - b[k];
		break;
	case CODE_MUL:
		for (uint32_t k = 0; k < n; k++)
			d[k] = a[k] * b[k];
		break;
	case CODE_DIV:
		for (uint32_t k = 0; k < n; k++) {
			odd |= b[k] == 0;
			d[k] = a[k] / b[k];
		}
		break;
	}
	return odd;
}

#define COLUMN_COMPARE(type) \
	static void \
	column_compare_##type(unsigned op, uint32_t n, const type *a, const type *b, int64_t *d) \
	{ \
		switch (op) { \
		case CODE_EQ: for (uint32_t k = 0; k < n; k++) d[k] = a[k] == b[k]; break; \
		case CODE_NE: for (uint32_t k = 0; k < n; k++) d[k] = a[k] != b[k]; break; \
		case CODE_LT: for (uint32_t k = 0; k < n; k++) d[k] = a[k] < b[k]; break; \
		case CODE_LE: for (uint32_t k = 0; k < n; k++) d[k] = a[k] <= b[k]; break; \
		case CODE_GT: for (uint32_t k = 0; k < n; k++) d[k] = a[k] > b[k]; break; \
		default: for (uint32_t k = 0; k < n; k++) d[k] = a[k] >= b[k]; break; \
		} \
	}
COLUMN_COMPARE(int64_t)
COLUMN_COMPARE(double)

/* Fills the result's column; false: the machine must evaluate these elements. */
static bool
column_compute(struct expr_vm *vm, const struct elem *e, uint32_t n)
{
	const struct column_plan *p = vm->x->columns;
	union column *cols = vm->columns;

	if (p->x_kind == COLUMN_INT ? !column_load_ints(e, n, cols[0].i)
	    : !column_load_floats(e, n, cols[0].f))
		return false;
	if (vm->x->uses[EXPR_I]) {
		if (vm->index > INT64_MAX - n)
			return false;
		for (uint32_t k = 0; k < n; k++)
			cols[1].i[k] = vm->index + k;
	}
	for (unsigned o = 0; o < p->n_ops; o++) {
		const struct column_op *op = &p->ops[o];
		union column *a = &cols[op->a], *b = &cols[op->b], *d = &cols[op->d];

		if (op->op == CODE_MOVE) {
			for (uint32_t k = 0; k < n; k++)
				d->f[k] = (double)a->i[k];
		} else if (op->op >= CODE_EQ && op->op <= CODE_GE) {
			if (op->kind == COLUMN_INT)
				column_compare_int64_t(op->op, n, a->i, b->i, d->i);
			else
				column_compare_double(op->op, n, a->f, b->f, d->i);
		} else if (op->op == CODE_DIV && op->kind == COLUMN_INT) {
			if (column_divide(n, a->i, b->i, d->f))
				return false;
		} else if (op->kind == COLUMN_INT ? column_ints(op->op, n, a->i, b->i, d->i)
			   : column_floats(op->op, n, a->f, b->f, d->f)) {
			return false;
		}
	}
	return true;
}

static void
column_emit(const union column *c, unsigned kind, const struct elem *e, uint32_t n,
	    struct run *out)
{
	uint8_t *w = run_room(out, (size_t)n * MP_INT_MAX), *start;
	struct block *block = out->arena;

	while (out->cap - out->n < n)
		run_more(out);
	struct elem *to = out->e + out->n;
	for (uint32_t k = 0; k < n; k++) {
		start = w;
		w = kind == COLUMN_INT ? mp_put_int(w, c->i[k])
			: kind == COLUMN_FLOAT ? mp_put_float(w, c->f[k]) : mp_put_bool(w, c->i[k]);
		to[k] = (struct elem){ start, block, (uint32_t)(w - start), e[k].pos };
	}
	out->n += n;
	block->len = (size_t)(w - block->data);
}

static void
column_pass(const union column *c, const struct elem *e, uint32_t n, struct run *out)
{
	while (out->cap - out->n < n)
		run_more(out);
	uint32_t at = out->n;
	for (uint32_t k = 0; k < n; k++) {
		out->e[at] = e[k];
		at += (uint32_t)c->i[k];
	}
	out->n = at;
}

enum status
column_run(struct expr_vm *vm, enum machine_mode mode, const struct run *in, uint32_t *from,
	   struct run *out)
{
	const struct column_plan *p = vm->x->columns;
	enum status st = ST_OK;

	if (!vm->columns)
		vm->columns = column_new(p);
	while (!st && *from < in->n) {
		uint32_t n = in->n - *from < COLUMN_LEN ? in->n - *from : COLUMN_LEN;
		const struct elem *e = in->e + *from;

		if ((mode == MACHINE_FILTER && p->kind != COLUMN_BOOL)
		    || !column_compute(vm, e, n)) {
			st = machine_run(vm, mode, in->e, *from + n, from, out, NULL);
			continue;
		}
		if (mode == MACHINE_MAP)
			column_emit(&vm->columns[p->result], p->kind, e, n, out);
		else
			column_pass(&vm->columns[p->result], e, n, out);
		vm->index += n;
		*from += n;
	}
	return st;
}
