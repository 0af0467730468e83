/* SPDX-License-Identifier: MIT */
#include "op/intake.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "op/facts.h"

static void
intake_walk(struct intake *t, const struct op_node *n)
{
	/* Not recursive down the chain, which may be long. */
	for (; n->desc->kind == OP_TRANSFORM && n->n_in; n = n->in[0]) {
		t->holds |= (n->desc->flags & OP_WHOLE) != 0;
		/* A program could end early, but most read all that they are given. */
		if (n->desc->times || (n->desc->flags & (OP_CUTS | OP_EXEC)) == OP_CUTS)
			t->tells = false;
	}
	if (n->desc->kind == OP_SOURCE) {
		t->leaf = mem_grow(t->leaf, &t->cap, t->n + 1, sizeof *t->leaf);
		t->leaf[t->n++] = n;
	}
	for (size_t k = 0; n->desc->kind == OP_COMBINE && k < n->n_in; k++)
		intake_walk(t, n->in[k]);
}

void
intake_find(struct intake *t, const struct op_node *top)
{
	*t = (struct intake){ .tells = true };
	intake_walk(t, top);
}

void
intake_clear(struct intake *t)
{
	mem_free(t->leaf);
	*t = (struct intake){ 0 };
}

/* Bytes of the files that a source reads; 0: unknown. */
static uint64_t
intake_bytes(const struct op_node *n)
{
	struct split_list units = { 0 };
	struct stat input;
	struct err e;
	uint64_t sum = 0;

	if (op_is_local(n))
		return fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode) ? (uint64_t)input.st_size : 0;
	bool known = n->desc->list && n->desc->list(n, &units, &e) == ST_OK;
	for (size_t i = 0; i < units.n && known; i++) {
		known = units.v[i].kind == SPLIT_FILE;
		sum += units.v[i].weight;
	}
	split_list_clear(&units);
	return known ? sum : 0;
}

uint64_t
intake_elements(const struct op_node *n)
{
	int64_t count = op_elements_of(n);

	return count < 0 || count == INT64_MAX ? 0 : (uint64_t)count;
}

static uint64_t
intake_sum(const struct intake *t, uint64_t (*of)(const struct op_node *))
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		uint64_t one = of(t->leaf[i]);

		if (!one)
			return 0;
		sum += one;
	}
	return sum;
}

void
intake_total(const struct intake *t, uint64_t *bytes, uint64_t *elements)
{
	*bytes = intake_sum(t, intake_bytes);
	*elements = intake_sum(t, intake_elements);
}
