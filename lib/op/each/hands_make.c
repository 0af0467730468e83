/* SPDX-License-Identifier: MIT
 * What is done with a job.
 */
#include "base/mem.h"
#include "op/each/hands_inner.h"
#include "value/mp.h"

enum {
	HANDS_FAULTS = 64,   /* in one step, for each takes 3 kB */
	HANDS_GIVE = 16384,  /* items in one step */
	HANDS_BYTES = 8 * RUN_BYTES
};

/* The element at j->at failed. False: it ends the stream. */
static bool
hands_fault(const struct hands *p, struct hands_job *j, const struct err *e)
{
	enum op_policy policy = p->self->node->on_error;

	if (j->n_faults == j->cap_faults)
		j->faults = mem_grow(j->faults, &j->cap_faults, j->n_faults + 1, sizeof *j->faults);
	j->faults[j->n_faults++] = (struct hands_fault){ j->at, *e };
	if (policy == OP_KEEP)
		run_push(&j->out, j->in.e[j->at]);
	j->failed = policy != OP_KEEP && policy != OP_SKIP;
	return !j->failed;
}

static void
hands_make_run(const struct hands *p, struct expr_vm *vm, struct hands_job *j)
{
	by_expr_fn *fn = p->work == HANDS_FILTER ? expr_filter : expr_map;
	struct err e = { 0 };
	enum status st;

	while (j->at < j->in.n && j->n_faults < HANDS_FAULTS) {
		expr_vm_set_index(vm, (int64_t)(j->index + j->at));
		st = fn(vm, &j->in, &j->at, &j->out, &e);
		if (st == ST_AGAIN)
			return;
		if (st == ST_OK)
			j->at = j->in.n;
		else if (st == ST_SKIP || hands_fault(p, j, &e))
			j->at++;
		else
			return;
	}
}

/* The list of the element at j->at. ST_SKIP: go on with the next element. */
static enum status
hands_list(const struct hands *p, struct expr_vm *vm, struct hands_job *j)
{
	struct err e = { 0 };
	enum status st;
	struct mp m;

	expr_vm_set_index(vm, (int64_t)(j->index + j->at));
	st = expr_eval(vm, &j->in.e[j->at], &j->lists, &e);
	if (st == ST_SKIP)
		return st;
	if (st == ST_OK) {
		const struct elem *list = &j->lists.e[j->lists.n - 1];

		mp_head(list->p, list->p + list->len, &m);
		if (m.kind != MP_LIST)
			st = err_set(&e, ST_DATA, "the expression gave no list");
	}
	if (st != ST_OK)
		return hands_fault(p, j, &e) ? ST_SKIP : st;
	const struct elem *list = &j->lists.e[j->lists.n - 1];
	j->item = m.p;
	j->left = m.n;
	for (uint64_t k = 0; k < j->items && j->left; k++, j->left--)
		j->item = mp_skip(j->item, list->p + list->len); /* given before a restore */
	return ST_OK;
}

static void
hands_give_items(struct hands_job *j)
{
	const struct elem *list = &j->lists.e[j->lists.n - 1];
	const uint8_t *end = list->p + list->len;
	uint32_t pos = j->in.e[j->at].pos;

	for (; j->left && j->out.n < HANDS_GIVE; j->left--, j->items++) {
		const uint8_t *to = mp_skip(j->item, end);

		run_push(&j->out, (struct elem){ j->item, list->block, (uint32_t)(to - j->item), pos });
		j->item = to;
	}
}

static void
hands_make_items(const struct hands *p, struct expr_vm *vm, struct hands_job *j)
{
	size_t bytes = 0;

	if (!j->item)
		run_reset(&j->lists);
	for (; j->at < j->in.n; j->at++) {
		if (bytes > HANDS_BYTES || j->out.n >= HANDS_GIVE || j->n_faults >= HANDS_FAULTS)
			return;
		enum status st = j->item ? ST_OK : hands_list(p, vm, j);

		if (st == ST_OK) {
			bytes += j->lists.e[j->lists.n - 1].len;
			hands_give_items(j);
			if (j->left)
				return;
		} else if (st != ST_SKIP) {
			return;
		}
		j->item = NULL;
		j->items = 0;
	}
}

void
hands_make(const struct hands *p, struct expr_vm *vm, struct hands_job *j)
{
	run_reset(&j->out);
	j->n_faults = 0;
	if (p->work == HANDS_ITEMS)
		hands_make_items(p, vm, j);
	else
		hands_make_run(p, vm, j);
	j->over = j->failed || j->at >= j->in.n;
}
