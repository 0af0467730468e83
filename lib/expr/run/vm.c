/* SPDX-License-Identifier: MIT
 *
 * The machine as its users see it: expr_vm_new, expr_map, expr_filter, ...
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "expr/column.h"
#include "expr/run/filter.h"
#include "expr/machine.h"
#include "expr/vm.h"
#include "value/csv/csv.h"
#include "value/format/textform.h"
#include "value/json/json.h"

struct expr_vm *
expr_vm_new(const struct expr *x, uint64_t seed)
{
	struct expr_vm *vm = mem_zalloc(sizeof *vm);
	static const uint8_t nil = 0xc0;

	vm->x = x;
	vm->seed = seed;
	vm->limit = MACHINE_STEPS;
	scratch_init(&vm->scratch, SCRATCH_ALL_MAX);
	vm->regs = mem_array(x->n_consts + (size_t)x->n_regs, sizeof *vm->regs);
	vm->r = vm->regs + x->n_consts;
	for (size_t i = 0; i < x->n_consts; i++)
		vm->r[-1 - (ptrdiff_t)i] = x->consts[i];
	for (unsigned i = 0; i < EXPR_NAMES; i++)
		val_load(&nil, &vm->r[i]);
	vm->loops = mem_array((size_t)x->n_loops + 1, sizeof *vm->loops);
	vm->states = mem_array(x->n_patterns + 1, sizeof(*vm->states));
	vm->ins = x->code;
	return vm;
}

void
expr_vm_free(struct expr_vm **vmp)
{
	struct expr_vm *vm = *vmp;

	if (!vm)
		return;
	for (int i = 0; i < vm->x->n_loops; i++) {
		buf_clear(&vm->loops[i].made);
		buf_clear(&vm->loops[i].keys);
	}
	for (size_t i = 0; i < vm->x->n_patterns; i++)
		pattern_state_free(&vm->states[i]);
	if (vm->json)
		json_free(&vm->json);
	if (vm->csv)
		csv_free(&vm->csv);
	if (vm->form)
		textform_clear(vm->form);
	mem_free(vm->form);
	scratch_clear(&vm->scratch);
	buf_clear(&vm->tmp);
	buf_clear(&vm->tmp2);
	buf_clear(&vm->out[0]);
	buf_clear(&vm->out[1]);
	mem_free(vm->columns);
	mem_free(vm->loops);
	mem_free(vm->states);
	mem_free(vm->regs);
	mem_free(vm);
	*vmp = NULL;
}

void
expr_vm_set(struct expr_vm *vm, enum expr_name name, const uint8_t *p, size_t len)
{
	(void)len;
	val_load(p, &vm->r[name]);
}

void
expr_vm_set_index(struct expr_vm *vm, int64_t i)
{
	vm->index = i;
}

void
expr_vm_set_time(struct expr_vm *vm, int64_t ns)
{
	vm->now_ns = ns;
}

/* The clock is read once, so that all elements see one time. */
int64_t
vm_now(struct expr_vm *vm)
{
	if (!vm->now_ns)
		vm->now_ns = clock_wall_ns();
	return vm->now_ns;
}

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

/* Two buffers in turns: what was lent last time may be this time's state. */
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
