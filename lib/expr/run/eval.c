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

/* Whether the value at p, loaded and encoded again, would be the same bytes; false also in doubt. */
static bool
eval_is_shortest(const uint8_t *p)
{
	uint8_t c = *p;

	if (c < 0xc4 || c >= 0xdc || c == 0xcb)
		return true;
	switch (c) {
	case 0xcc: return p[1] >= 0x80;
	case 0xcd: return mp_u16(p + 1) > UINT8_MAX;
	case 0xce: return mp_u32(p + 1) > UINT16_MAX;
	case 0xd9: return p[1] > 31;
	case 0xda: return mp_u16(p + 1) > UINT8_MAX;
	default: return false;
	}
}

bool
expr_part(struct expr_vm *vm, const struct elem *e, const uint8_t **p, size_t *len)
{
	static const uint8_t nil[] = { 0xc0 };
	const struct expr *x = vm->x;
	uint8_t c = *e->p;

	if (!x->part || !((c & 0xf0) == 0x80 || c >= 0xde) || c >= 0xe0)
		return false;
	const uint8_t *field = val_field(e->p, &x->keys[x->part - 1]);
	if (!field)
		field = nil;
	else if (!eval_is_shortest(field))
		return false;
	vm->index++;
	*p = field;
	*len = (size_t)(mp_past(field) - field);
	return true;
}
