/* SPDX-License-Identifier: MIT
 *
 * Functions: a tensor out of the bytes of an .npy file.
 */
#include <string.h>

#include "expr/fn.h"
#include "expr/tensor/tensor_val.h"
#include "value/dtype.h"
#include "value/format/npy.h"

/* Turns column-major order, first axis fastest, into row-major order. */
static void
npy_turn(const struct tensor *t, size_t each, const uint8_t *from, uint8_t *to)
{
	uint64_t at[TYPE_DIMS_MAX] = { 0 }, step[TYPE_DIMS_MAX], place = 0;

	for (int i = 0; i < t->n_dims; i++)
		step[i] = i ? step[i - 1] * t->dims[i - 1] : 1;
	for (uint64_t n = 0; n < t->count; n++) {
		memcpy(to + n * each, from + place * each, each);
		for (int i = t->n_dims - 1; i >= 0; i--) {
			place += step[i];
			if (++at[i] < t->dims[i])
				break;
			place -= at[i] * step[i];
			at[i] = 0;
		}
	}
}

static enum status
npy_load(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct npy head;
	struct tensor t = { 0 };
	struct val made;
	struct err e = { 0 };
	uint8_t *data;

	(void)n;
	switch (npy_head(a->p, a->n, &head, &e)) {
	case ST_OK:
		break;
	case ST_END:
		return vm_fault(vm, "npy_load(): the array is cut off");
	default:
		return vm_fault(vm, "npy_load(): %s", e.text);
	}
	uint64_t size = dtype_size(head.dtype);
	t.dtype = head.dtype;
	t.n_dims = head.n_dims;
	for (int i = 0; i < head.n_dims; i++) {
		t.dims[i] = head.dims[i];
		if (__builtin_mul_overflow(size, head.dims[i], &size))
			return vm_fault(vm, "npy_load(): the array is too large");
	}
	if (size > a->n - head.head)
		return vm_fault(vm, "npy_load(): the array is cut off");
	if (tensor_make(vm, &made, &t, &data))
		return ST_DATA;
	if (head.fortran)
		npy_turn(&t, dtype_size(t.dtype), a->p + head.head, data);
	else if (size)
		memcpy(data, a->p + head.head, size);
	if (head.swapped)
		npy_swap(data, t.count, dtype_size(t.dtype));
	*out = made;
	return ST_OK;
}

const struct fn fn_npy[] = {
	{ "npy_load", "b", "any", NULL, npy_load, .args = "bytes",
	  .brief = "the tensor in the bytes of an .npy file, as written by numpy.save",
	  .example = "npy_load(unhex(\"00\")) ?? \"no array\"", .output = "no array" },
	{ 0 }
};
