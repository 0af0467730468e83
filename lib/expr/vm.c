/* SPDX-License-Identifier: MIT */
#include "expr/vm.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "value/csv/csv.h"
#include "value/format/textform.h"
#include "value/json/json.h"
#include "value/json/json_print.h"

struct expr_vm *
expr_vm_new(const struct expr *x, uint64_t seed)
{
	struct expr_vm *vm = mem_zalloc(sizeof *vm);
	static const uint8_t nil = 0xc0;

	vm->x = x;
	vm->seed = seed;
	vm->limit = VM_STEPS;
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
vm_fault(struct expr_vm *vm, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int reg;

	/* A ?? catches the failure: the message would not be read. */
	if (!vm->e || (vm->x->guards && vm->x->guards[vm->ins - vm->x->code]))
		return ST_DATA;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(vm->e, ST_DATA, "%s", text);
	if (vm_null(vm, &reg))
		vm_null_say(vm, reg);
	return ST_DATA;
}

enum status
vm_steps_fault(struct expr_vm *vm)
{
	return vm_fault(vm, "this takes more than %d steps", VM_STEPS);
}

uint8_t *
vm_room(struct expr_vm *vm, size_t n)
{
	/* Making large values takes time, too, and loops may make many. */
	if (n > 4096 && vm_steps(vm, n >> 6))
		return NULL;
	uint8_t *p = scratch_room(&vm->scratch, n);

	if (!p)
		vm_fault(vm, "a value of %zu MiB is too large (most is %d)", n >> 20,
			 SCRATCH_VALUE_MAX >> 20);
	return p;
}

bool
vm_json(struct expr_vm *vm, const char *name, bool bare)
{
	const uint8_t *p = vm->tmp2.data;
	size_t n = vm->tmp2.len;
	bool caught = !vm->e || (vm->x->guards && vm->x->guards[vm->ins - vm->x->code]);
	struct err *e = caught ? NULL : vm->e;

	if ((bare ? text_write : json_write)(p, n, &vm->x->json, &vm->tmp, e) == ST_OK)
		return true;
	if (e)
		err_wrap(e, "%s()", name);
	return false;
}

enum status
vm_take_tmp(struct expr_vm *vm, enum val_kind kind, struct val *out)
{
	size_t n = vm->tmp.len;
	uint8_t *p = vm_room(vm, n);

	if (!p)
		return ST_DATA;
	if (n)
		memcpy(p, vm->tmp.data, n);
	scratch_done(&vm->scratch, p + n);
	*out = val_whole(kind, p, n);
	return ST_OK;
}

enum status
vm_take_items(struct expr_vm *vm, enum val_kind kind, uint32_t n, struct val *out)
{
	uint8_t *p = vm_room(vm, vm->tmp.len + MP_HEAD_MAX);

	if (!p)
		return ST_DATA;
	uint8_t *at = kind == VAL_LIST ? mp_put_list_head(p, n) : mp_put_record_head(p, n);
	if (vm->tmp.len)
		memcpy(at, vm->tmp.data, vm->tmp.len);
	at += vm->tmp.len;
	scratch_done(&vm->scratch, at);
	*out = val_whole(kind, p, (size_t)(at - p));
	return ST_OK;
}

struct pattern_state *
vm_pattern(struct expr_vm *vm, const struct pattern *p)
{
	size_t k = 0;

	while (vm->x->patterns[k] != p)
		k++;
	if (!vm->states[k])
		vm->states[k] = pattern_state_new(p);
	return vm->states[k];
}
