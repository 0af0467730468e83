/* SPDX-License-Identifier: MIT
 *
 * The machine as its users see it: expr_map, expr_filter, expr_eval, expr_value.
 * Whole runs go to the quickest way that the expression allows.
 */
#include "expr/run/column.h"
#include "expr/run/filter.h"

enum status
expr_map(struct expr_vm *vm, const struct run *in, uint32_t *from, struct run *out,
	 struct err *err)
{
	vm->e = err;
	if (vm->x->columns)
		return column_run(vm, MACHINE_MAP, in, from, out);
	return machine_run(vm, MACHINE_MAP, in->e, in->n, from, out, NULL);
}

enum status
expr_filter(struct expr_vm *vm, const struct run *in, uint32_t *from, struct run *out,
	    struct err *err)
{
	vm->e = err;
	if (vm->x->quick)
		return filter_run(vm, in, from, out);
	if (vm->x->columns)
		return column_run(vm, MACHINE_FILTER, in, from, out);
	return machine_run(vm, MACHINE_FILTER, in->e, in->n, from, out, NULL);
}

static enum status
vm_one(struct expr_vm *vm, const struct elem *e, struct val *v, struct err *err)
{
	uint32_t from = 0;

	vm->e = err;
	return machine_run(vm, MACHINE_ONE, e, 1, &from, NULL, v);
}

enum status
expr_eval(struct expr_vm *vm, const struct elem *e, struct run *out, struct err *err)
{
	struct val v;
	enum status st = vm_one(vm, e, &v, err);

	if (st)
		return st;
	uint8_t *p = run_room(out, val_size(&v));
	run_done(out, val_encode(&v, p), e->pos);
	return ST_OK;
}

/* Two buffers alternate, since the value lent last may be the next state. */
enum status
expr_value(struct expr_vm *vm, const struct elem *e, const uint8_t **p, size_t *len,
	   struct err *err)
{
	struct val v;
	enum status st = vm_one(vm, e, &v, err);

	if (st)
		return st;
	struct buf *b = &vm->out[vm->turn ^= 1];
	if (b->cap > SCRATCH_KEEP && val_size(&v) < SCRATCH_KEEP / 2)
		buf_clear(b);
	buf_reset(b);
	val_put(&v, b);
	*p = b->data;
	*len = b->len;
	return ST_OK;
}
