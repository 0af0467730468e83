/* SPDX-License-Identifier: MIT
 * npy: arrays of .npy files, slice by slice along the first axis.
 */
#include "op/file/file_npy.h"

static const struct param npy_params[] = {
	{ "files", PARAM_WORDS, offsetof(struct file_npy, src.names), .flags = PARAM_REST | PARAM_PATH | PARAM_URL,
	  .help = "names, patterns (*, ?, [a-z], {a,b}, **) and addresses (https://, s3://); `-` is standard input" },
	FILE_SOURCE_NUMBERED(struct file_npy, src),
	{ 0 }
};

const struct op_desc op_npy = {
	.name = "npy",
	.brief = "reads slices of numpy's .npy arrays along their first axis",
	.doc = "An array with no axis or one axis gives numbers; an array with more axes gives "
	       "tensors with one axis less. The element type is known before the run, from the "
	       "header of the first file; the other files must have the same. Numbers of either "
	       "byte order can be read; structured types, text, complex numbers and arrays in "
	       "Fortran order are refused. An array of shape (3, 0) gives 3 empty tensors. Large "
	       "uncompressed files are divided into splits.",
	.kind = OP_SOURCE,
	.params = npy_params,
	.state_size = sizeof(struct file_npy),
	.typing = file_npy_typing,
	.check = file_source_check,
	.list = file_source_list_cut,
	.cardinality = file_npy_cardinality,
	.indexed = file_npy_indexed,
	.open = file_npy_open,
	.next = file_npy_next,
	.at = file_npy_at,
	.pass = file_npy_pass,
	.close = file_npy_close,
	.save = file_source_save,
	.restore = file_source_restore,
	.example = "npy grid.npy",
	.output = "[0.0,0.25,0.5]\n[0.75,1.0,1.25]\n",
};
