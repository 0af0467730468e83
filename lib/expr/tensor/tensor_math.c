/* SPDX-License-Identifier: MIT
 *
 * Operators on tensors, number by number. The two sides are brought to one
 * dtype and one shape in blocks that stay in the cache:
 *
 *	side --tensor_feed_get--> block of the common dtype --kernel--> result
 *
 * How a side gets its blocks depends on its shape beside the result's: as it
 * lies, one block used again and again (a plain number; [3] beside
 * [224,224,3]), or gathered. The answers of a tensor of bytes against a number
 * are worked out once for the 256 bytes there are, and then looked up.
 */
#include <string.h>

#include "expr/ast.h"
#include "expr/tensor/kernel.h"
#include "expr/tensor/tensor_val.h"
#include "value/dtype.h"

enum { TENSOR_TABLE = 256, TENSOR_TABLE_MIN = 1024 /* tensor size from which a table pays */ };

enum tensor_way { TENSOR_FLAT, TENSOR_FIXED, TENSOR_CYCLE, TENSOR_GATHER };

/* One of the two operands of an operation. */
struct tensor_feed {
	enum tensor_way way;
	enum dtype from, to;
	const uint8_t *data;
	uint64_t period;                 /* FIXED, CYCLE: numbers until the side repeats */
	size_t size;                     /* size of one number of `from` */
	const uint64_t *dims;            /* GATHER: shape of the result */
	int n_dims;
	uint64_t step[TYPE_DIMS_MAX];    /* step in bytes; 0: repeated along this axis */
	uint8_t raw[KERNEL_BLOCK * 8], block[KERNEL_BLOCK * 8];
};

struct tensor_side {
	const struct val *v;
	bool plain;       /* a plain number instead of a tensor */
	struct tensor t;
};

static bool
tensor_side_init(struct expr_vm *vm, struct tensor_side *s, const struct val *v)
{
	s->v = v;
	s->plain = !tensor_is(v);
	memset(s->t.dims, 0, sizeof s->t.dims);
	s->t.n_dims = 0;
	s->t.count = 1;
	return s->plain || tensor_of(vm, v, &s->t) == ST_OK;
}

static void
tensor_gather_init(struct tensor_feed *f, const struct tensor *t, const struct tensor *out)
{
	uint64_t step = f->size;

	f->way = TENSOR_GATHER;
	f->dims = out->dims;
	f->n_dims = out->n_dims;
	memset(f->step, 0, sizeof f->step);
	for (int k = 1; k <= t->n_dims; k++) {
		uint64_t n = t->dims[t->n_dims - k];

		f->step[out->n_dims - k] = n == 1 ? 0 : step;
		step *= n;
	}
}

/* Whether t's shape equals the last axes of out's, with axes of length 1 before them. */
static bool
tensor_is_end_of(const struct tensor *t, const struct tensor *out)
{
	int k = 1;

	while (k <= t->n_dims && t->dims[t->n_dims - k] == out->dims[out->n_dims - k])
		k++;
	for (; k <= t->n_dims; k++)
		if (t->dims[t->n_dims - k] != 1)
			return false;
	return true;
}

static void
tensor_feed_init(struct tensor_feed *f, const struct tensor_side *s, const struct tensor *out,
		 enum dtype to)
{
	f->to = f->from = to;
	f->period = 1;
	if (s->plain) {
		f->way = TENSOR_FIXED;
		f->size = dtype_size(to);
		f->data = f->raw;
		tensor_put(to, s->v, f->raw);
		return;
	}
	f->from = s->t.dtype;
	f->size = dtype_size(f->from);
	f->data = s->t.data;
	f->period = s->t.count;
	if (s->t.count == out->count)
		f->way = TENSOR_FLAT;
	else if (!tensor_is_end_of(&s->t, out))
		tensor_gather_init(f, &s->t, out);
	else
		f->way = s->t.count <= KERNEL_BLOCK ? TENSOR_FIXED : TENSOR_CYCLE;
}

/* Fills the block of a FIXED side with as many whole periods as fit `n`. */
static void
tensor_feed_fix(struct tensor_feed *f, size_t n)
{
	size_t each = dtype_size(f->to), have = f->period;

	if (f->way != TENSOR_FIXED)
		return;
	kernel_cast(f->to, f->block, f->from, f->data, have);
	while (have < n) {
		size_t more = have < n - have ? have : n - have;

		memcpy(f->block + have * each, f->block, more * each);
		have += more;
	}
}

static void
tensor_feed_gather(struct tensor_feed *f, uint64_t i, size_t n)
{
	uint64_t at[TYPE_DIMS_MAX], rest = i;
	const uint8_t *p = f->data;

	for (int k = f->n_dims - 1; k >= 0; k--) {
		at[k] = rest % f->dims[k];
		rest /= f->dims[k];
		p += at[k] * f->step[k];
	}
	for (size_t j = 0; j < n; j++) {
		memcpy(f->raw + j * f->size, p, f->size);
		for (int k = f->n_dims - 1; k >= 0; k--) {
			p += f->step[k];
			if (++at[k] < f->dims[k])
				break;
			p -= f->step[k] * at[k];
			at[k] = 0;
		}
	}
}

static const uint8_t *
tensor_feed_get(struct tensor_feed *f, uint64_t i, size_t n)
{
	size_t each = dtype_size(f->to), done = 0;

	switch (f->way) {
	case TENSOR_FIXED:
		return f->block;
	case TENSOR_FLAT:
		if (f->from == f->to)
			return f->data + i * f->size;
		kernel_cast(f->to, f->block, f->from, f->data + i * f->size, n);
		return f->block;
	case TENSOR_CYCLE:
		for (i %= f->period; done < n; i = 0) {
			size_t part = f->period - i < n - done ? f->period - i : n - done;

			kernel_cast(f->to, f->block + done * each, f->from, f->data + i * f->size, part);
			done += part;
		}
		return f->block;
	default:
		tensor_feed_gather(f, i, n);
		kernel_cast(f->to, f->block, f->from, f->raw, n);
		return f->block;
	}
}

/* Length of the blocks, in whole periods. */
static size_t
tensor_block(const struct tensor_feed *a, const struct tensor_feed *b)
{
	uint64_t x = a->way == TENSOR_FIXED ? a->period : 1, y = b->way == TENSOR_FIXED ? b->period : 1;
	uint64_t p = x > y ? x : y; /* one of them is 1, or both are equal */

	return KERNEL_BLOCK - KERNEL_BLOCK % p;
}

/* An operation in the kernels' terms. */
struct tensor_job {
	enum kernel_op op;
	const char *sign;
	bool swap;           /* a > b is computed as b < a */
	enum dtype in, out;  /* dtype to compute in, and dtype of the result */
};

static const struct { uint8_t op, swap, sign; } tensor_jobs[CODE_COUNT] = {
	[CODE_ADD] = { KERNEL_ADD, 0, AST_ADD }, [CODE_SUB] = { KERNEL_SUB, 0, AST_SUB },
	[CODE_MUL] = { KERNEL_MUL, 0, AST_MUL }, [CODE_DIV] = { KERNEL_DIV, 0, AST_DIV },
	[CODE_FLOOR] = { KERNEL_FLOOR, 0, AST_FLOOR }, [CODE_MOD] = { KERNEL_MOD, 0, AST_MOD },
	[CODE_POW] = { KERNEL_POW, 0, AST_POW }, [CODE_EQ] = { KERNEL_EQ, 0, AST_EQ },
	[CODE_NE] = { KERNEL_NE, 0, AST_NE }, [CODE_LT] = { KERNEL_LT, 0, AST_LT },
	[CODE_LE] = { KERNEL_LE, 0, AST_LE }, [CODE_GT] = { KERNEL_LT, 1, AST_GT },
	[CODE_GE] = { KERNEL_LE, 1, AST_GE }
};

/* Checks what the kernels do not: operations without an answer among the ints. */
static enum status
tensor_check_block(struct expr_vm *vm, const struct tensor_job *job, const uint8_t *b, size_t n)
{
	if (dtype_is_float(job->in))
		return ST_OK;
	if ((job->op == KERNEL_FLOOR || job->op == KERNEL_MOD) && kernel_any_zero(job->in, b, n))
		return vm_fault(vm, "division by zero (a tensor of floats gives inf or nan)");
	if (job->op == KERNEL_POW && kernel_any_negative(job->in, b, n))
		return vm_fault(vm, "a negative power of an int is not an int (cast(x, \"f64\") has one)");
	return ST_OK;
}

static enum status
tensor_run(struct expr_vm *vm, const struct tensor_job *job, struct tensor_feed *a,
	   struct tensor_feed *b, uint8_t *d, uint64_t count)
{
	size_t block = tensor_block(a, b), each = dtype_size(job->out);
	bool check = job->op >= KERNEL_FLOOR && job->op <= KERNEL_POW;

	tensor_feed_fix(a, block);
	tensor_feed_fix(b, block);
	for (uint64_t i = 0; i < count; i += block) {
		size_t n = count - i < block ? (size_t)(count - i) : block;
		const uint8_t *x = tensor_feed_get(a, i, n), *y = tensor_feed_get(b, i, n);

		if (check && tensor_check_block(vm, job, y, n))
			return ST_DATA;
		if (job->swap)
			kernel_binary(job->op, job->in, d + i * each, y, x, n);
		else
			kernel_binary(job->op, job->in, d + i * each, x, y, n);
	}
	return ST_OK;
}

/* Whether a table serves (see the head of this file): bytes against a number. If the bytes are
 * divisors, the table would divide by bytes that do not occur. */
static bool
tensor_has_table(const struct tensor_job *job, const struct tensor_side *a,
		 const struct tensor_side *b, const struct tensor *out)
{
	bool costly = job->op >= KERNEL_DIV && job->op <= KERNEL_POW;

	return !a->plain && b->plain && dtype_size(a->t.dtype) == 1 && out->count >= TENSOR_TABLE_MIN
		&& (costly || dtype_size(job->out) >= 4);
}

static enum status
tensor_by_table(struct expr_vm *vm, const struct tensor_job *job, const struct tensor_side *a,
		struct tensor_feed *fa, struct tensor_feed *fb, uint8_t *d, uint64_t count)
{
	uint8_t bytes[TENSOR_TABLE], table[TENSOR_TABLE * 8];

	for (unsigned i = 0; i < TENSOR_TABLE; i++)
		bytes[i] = (uint8_t)i;
	fa->way = TENSOR_FLAT;
	fa->data = bytes;
	if (tensor_run(vm, job, fa, fb, table, TENSOR_TABLE))
		return ST_DATA;
	kernel_lookup(dtype_size(job->out), d, table, a->t.data, count);
	return ST_OK;
}

static bool
tensor_shapes(struct expr_vm *vm, const char *sign, const struct tensor *a,
	      const struct tensor *b, struct tensor *out)
{
	int64_t x[TYPE_DIMS_MAX], y[TYPE_DIMS_MAX], z[TYPE_DIMS_MAX];
	char p[200], q[200];

	for (int i = 0; i < TYPE_DIMS_MAX; i++) {
		x[i] = (int64_t)a->dims[i];
		y[i] = (int64_t)b->dims[i];
	}
	if (!tensor_broadcast(x, a->n_dims, y, b->n_dims, z, &out->n_dims)) {
		vm_fault(vm, "`%s` of tensors of shapes [%s] and [%s]", sign,
			 tensor_dims_print(a->dims, a->n_dims, p),
			 tensor_dims_print(b->dims, b->n_dims, q));
		return false;
	}
	out->count = 1; /* tensor_make checks the size */
	for (int i = 0; i < out->n_dims; i++)
		out->dims[i] = (uint64_t)z[i];
	return true;
}

/* Finds the dtype to compute in; false: the fault is set. A plain int must fit it. */
static bool
tensor_common(struct expr_vm *vm, const char *sign, bool divides, const struct tensor_side *a,
	      const struct tensor_side *b, enum dtype *out)
{
	const struct tensor_side *plain = a->plain ? a : b, *other = a->plain ? b : a;
	uint8_t room[8];

	if (!plain->plain) {
		*out = tensor_promote(a->t.dtype, b->t.dtype);
	} else if (val_is_number(plain->v) || plain->v->kind == VAL_BOOL) {
		*out = tensor_promote_plain(other->t.dtype, plain->v->kind);
	} else {
		vm_fault(vm, "`%s` of %s and %s", sign, val_kind_name(a->v->kind),
			 val_kind_name(b->v->kind));
		return false;
	}
	if (divides && !dtype_is_float(*out))
		*out = DTYPE_F64;
	if (!plain->plain || tensor_put(*out, plain->v, room))
		return true;
	vm_fault(vm, "`%s` of %s and an int that does not fit it (cast(x, \"i64\") makes room)",
		 sign, dtype_name(*out));
	return false;
}

static enum status
tensor_do(struct expr_vm *vm, struct tensor_job *job, struct val *d, const struct tensor_side *a,
	  const struct tensor_side *b)
{
	struct tensor_feed fa, fb;
	struct tensor out = { .dtype = job->out };
	struct val made;
	uint8_t *data;
	bool compares = job->op >= KERNEL_LT;

	if (job->in == DTYPE_BOOL && !compares && job->op != KERNEL_MIN && job->op != KERNEL_MAX)
		return vm_fault(vm, "`%s` of bools (cast(x, \"u8\") makes numbers of them)", job->sign);
	if (!tensor_shapes(vm, job->sign, &a->t, &b->t, &out)
	    || tensor_make(vm, &made, &out, &data) || tensor_charge(vm, out.count))
		return ST_DATA;
	if (out.count) {
		tensor_feed_init(&fa, a, &out, job->in);
		tensor_feed_init(&fb, b, &out, job->in);
		if (tensor_has_table(job, a, b, &out) ? tensor_by_table(vm, job, a, &fa, &fb, data, out.count)
		    : tensor_run(vm, job, &fa, &fb, data, out.count))
			return ST_DATA;
	}
	*d = made;
	return ST_OK;
}

/* A plain int outside the dtype is greater or less than all numbers of it. */
static bool
tensor_beyond(const struct tensor_side *s, struct tensor_side *wide, enum dtype other,
	      struct val *room)
{
	uint8_t bytes[8];
	enum dtype t = other == DTYPE_BOOL ? DTYPE_I64 : other;

	*wide = *s;
	if (!s->plain || (s->v->kind != VAL_INT && s->v->kind != VAL_BIG) || tensor_put(t, s->v, bytes))
		return false;
	*room = val_float(s->v->kind == VAL_INT && s->v->i < 0 ? -1e30 : 1e30);
	wide->v = room;
	return true;
}

enum status
tensor_binary(struct expr_vm *vm, unsigned op, struct val *d, const struct val *a,
	      const struct val *b)
{
	struct tensor_job job = { .op = tensor_jobs[op].op, .sign = ast_ops[tensor_jobs[op].sign].sign,
				  .swap = tensor_jobs[op].swap };
	struct tensor_side x, y, wide_x, wide_y;
	struct val room;
	enum dtype t;

	if (!tensor_side_init(vm, &x, a) || !tensor_side_init(vm, &y, b))
		return ST_DATA;
	if (op == CODE_EQ || op == CODE_NE) {
		const struct val *plain = x.plain ? a : b;

		/* No tensor equals a text, nil or a list. */
		if ((x.plain || y.plain) && !val_is_number(plain) && plain->kind != VAL_BOOL) {
			*d = val_bool(op == CODE_NE);
			return ST_OK;
		}
	}
	if (op >= CODE_EQ && op <= CODE_GE) {
		tensor_beyond(&x, &wide_x, y.t.dtype, &room);
		tensor_beyond(&y, &wide_y, x.t.dtype, &room);
		x = wide_x;
		y = wide_y;
	}
	if (!tensor_common(vm, job.sign, op == CODE_DIV, &x, &y, &t))
		return ST_DATA;
	job.in = t;
	job.out = tensor_promote_op(op, t);
	return tensor_do(vm, &job, d, &x, &y);
}

enum status
tensor_most(struct expr_vm *vm, bool least, struct val *d, const struct val *a,
	    const struct val *b)
{
	struct tensor_job job = { .op = least ? KERNEL_MIN : KERNEL_MAX, .sign = least ? "min" : "max" };
	struct tensor_side x, y;

	if (!tensor_side_init(vm, &x, a) || !tensor_side_init(vm, &y, b)
	    || !tensor_common(vm, job.sign, false, &x, &y, &job.in))
		return ST_DATA;
	job.out = job.in;
	return tensor_do(vm, &job, d, &x, &y);
}

enum status
tensor_unary(struct expr_vm *vm, unsigned op, const char *name, struct val *d,
	     const struct val *a)
{
	struct tensor t, out;
	struct val made;
	uint8_t *data, block[KERNEL_BLOCK * 8];

	if (tensor_of(vm, a, &t))
		return ST_DATA;
	if (t.dtype == DTYPE_BOOL)
		return vm_fault(vm, "%s of bools (cast(x, \"u8\") makes numbers of them)", name);
	out = t;
	if (op >= KERNEL_SQRT && !dtype_is_float(t.dtype))
		out.dtype = DTYPE_F64;
	if (tensor_make(vm, &made, &out, &data) || (op >= KERNEL_SQRT && tensor_charge(vm, 4 * t.count)))
		return ST_DATA;
	for (uint64_t i = 0; i < t.count; i += KERNEL_BLOCK) {
		size_t n = t.count - i < KERNEL_BLOCK ? (size_t)(t.count - i) : KERNEL_BLOCK;
		const uint8_t *s = t.data + i * dtype_size(t.dtype);

		if (t.dtype != out.dtype) {
			kernel_cast(out.dtype, block, t.dtype, s, n);
			s = block;
		}
		kernel_unary((enum kernel_unary)op, out.dtype, data + i * dtype_size(out.dtype), s, n);
	}
	*d = made;
	return ST_OK;
}
