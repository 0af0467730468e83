/* SPDX-License-Identifier: MIT
 *
 * Arrays in .npy files, slice by slice along their first axis: numbers where that
 * is the only one, else tensors.
 */
#ifndef OP_FILE_NPY_H
#define OP_FILE_NPY_H

#include "op/file_source.h"
#include "value/npy.h"
#include "value/tensor.h"

struct file_npy {
	struct file_source src;
	/* from planning: what every file must hold */
	bool typed;
	struct npy want;
	/* of the file at hand */
	bool known;
	struct npy head;
	size_t slice;         /* bytes */
	uint64_t count;       /* numbers of a slice */
	uint8_t tensor[TENSOR_HEAD_MAX];
	size_t tensor_len;    /* 0: numbers */
};

enum status file_npy_typing(struct op_node *n, struct op_typing *t, const struct type **type,
			    struct err *e);
int64_t file_npy_cardinality(const struct op_node *n, const int64_t *in);
enum status file_npy_open(struct op_inst *self, struct err *e);
enum status file_npy_next(struct op_inst *self, struct run *out, struct err *e);

#endif
