/* SPDX-License-Identifier: MIT */
#include "host/work/large.h"

#include "host/chunk.h"
#include "op/facts.h"
#include "op/op.h"
#include "value/dtype.h"
#include "value/type.h"

/* The least that an element of the type takes; a length that is not known counts as one. */
static double
large_bytes(const struct type *t)
{
	double n = 0;

	if (t->kind == TYPE_TENSOR) {
		n = (double)dtype_size(t->dtype);
		for (int i = 0; i < t->n_dims; i++)
			n *= t->dims[i] < 0 ? 1 : (double)t->dims[i];
	}
	for (size_t i = 0; t->kind == TYPE_RECORD && i < t->n_fields; i++)
		n += large_bytes(t->fields[i].type);
	return n;
}

/* Bytes of the files for each element that the source gives; 0: not known. */
static double
large_read(const struct op_node *n, const struct split_list *units)
{
	double bytes = 0;
	int64_t elements;

	while (n->n_in)
		n = n->in[0];
	elements = op_elements_of(n);
	for (size_t i = 0; i < units->n; i++)
		bytes += units->v[i].kind == SPLIT_FILE ? (double)units->v[i].weight : 0;
	return elements > 0 && elements != INT64_MAX ? bytes / (double)elements : 0;
}

bool
large_elements(const struct plan *p, const struct split_list *units)
{
	return (p->type && large_bytes(p->type) >= CHUNK_OWN) || large_read(p->top, units) >= CHUNK_OWN;
}
