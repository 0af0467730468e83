/* SPDX-License-Identifier: MIT
 * What is done with a job.
 */
#include "base/mem.h"
#include "op/each/parallel_inner.h"
#include "value/mp.h"

enum {
	PARALLEL_FAULTS = 64,   /* most failures in one step: each takes 3 kB */
	PARALLEL_GIVE = 16384,  /* most items in one step */
	PARALLEL_BYTES = 8 * RUN_BYTES
};

/* Records the failure of the element at j->at. False: it ends the stream. */
static bool
parallel_fault(const struct parallel *p, struct parallel_job *j, const struct err *e)
{
	enum op_policy policy = p->self->node->on_error;

	if (j->n_faults == j->cap_faults)
		j->faults = mem_grow(j->faults, &j->cap_faults, j->n_faults + 1, sizeof *j->faults);
	j->faults[j->n_faults++] = (struct parallel_fault){ j->at, *e };
	if (policy == OP_KEEP)
		run_push(&j->out, j->in.e[j->at]);
	j->failed = policy != OP_KEEP && policy != OP_SKIP;
	return !j->failed;
}

static void
parallel_make_run(const struct parallel *p, struct expr_vm *vm, struct parallel_job *j)
{
	expr_run_fn *fn = p->work == PARALLEL_FILTER ? expr_filter : expr_map;
	struct err e = { 0 };
	enum status st;

	while (j->at < j->in.n && j->n_faults < PARALLEL_FAULTS) {
		expr_vm_set_index(vm, (int64_t)(j->index + j->at));
		st = fn(vm, &j->in, &j->at, &j->out, &e);
		if (st == ST_AGAIN)
			return;
		if (st == ST_OK)
			j->at = j->in.n;
		else if (st == ST_SKIP || parallel_fault(p, j, &e))
			j->at++;
		else
			return;
	}
}

/* Evaluates the list of the element at j->at. ST_SKIP: go on with the next element. */
static enum status
parallel_list(const struct parallel *p, struct expr_vm *vm, struct parallel_job *j)
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
			st = err_set(&e, ST_DATA, "the expression did not give a list");
	}
	if (st != ST_OK)
		return parallel_fault(p, j, &e) ? ST_SKIP : st;
	const struct elem *list = &j->lists.e[j->lists.n - 1];
	j->item = m.p;
	j->left = m.n;
	for (uint64_t k = 0; k < j->items && j->left; k++, j->left--)
		j->item = mp_skip(j->item, list->p + list->len); /* items given before a restore */
	return ST_OK;
}

static void
parallel_give_items(struct parallel_job *j)
{
	const struct elem *list = &j->lists.e[j->lists.n - 1];
	const uint8_t *end = list->p + list->len;
	uint32_t pos = j->in.e[j->at].pos;

	for (; j->left && j->out.n < PARALLEL_GIVE; j->left--, j->items++) {
		const uint8_t *to = mp_skip(j->item, end);

		run_push(&j->out, (struct elem){ j->item, list->block, (uint32_t)(to - j->item), pos });
		j->item = to;
	}
}

static void
parallel_make_items(const struct parallel *p, struct expr_vm *vm, struct parallel_job *j)
{
	size_t bytes = 0;

	if (!j->item)
		run_reset(&j->lists);
	for (; j->at < j->in.n; j->at++) {
		if (bytes > PARALLEL_BYTES || j->out.n >= PARALLEL_GIVE ||
		    j->n_faults >= PARALLEL_FAULTS)
			return;
		enum status st = j->item ? ST_OK : parallel_list(p, vm, j);

		if (st == ST_OK) {
			bytes += j->lists.e[j->lists.n - 1].len;
			parallel_give_items(j);
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
parallel_make(const struct parallel *p, struct expr_vm *vm, struct parallel_job *j)
{
	run_reset(&j->out);
	j->n_faults = 0;
	if (p->work == PARALLEL_ITEMS)
		parallel_make_items(p, vm, j);
	else
		parallel_make_run(p, vm, j);
	j->over = j->failed || j->at >= j->in.n;
}
