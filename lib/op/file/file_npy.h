/* SPDX-License-Identifier: MIT
 *
 * Arrays in .npy files, slice by slice along their first axis: numbers where that
 * is the only one, else tensors.
 */
#ifndef FILE_FILE_NPY_H
#define FILE_FILE_NPY_H

#include "op/file/file_at.h"
#include "op/file/file_source.h"
#include "value/format/npy.h"
#include "value/tensor.h"

struct file_npy {
	struct file_source src;
	/* known from planning: what every file must hold */
	bool typed;
	struct npy want;
	/* the current file */
	bool known;
	struct npy head;
	size_t slice;         /* size of a slice in bytes */
	uint64_t count;       /* how many numbers a slice has */
	uint8_t tensor[TENSOR_HEAD_MAX];
	size_t tensor_len;    /* length of the tensor's head; 0: slices are numbers */
	struct file_at at;    /* used when read by index */
};

enum status file_npy_typing(struct op_node *n, struct op_typing *t, const struct type **type,
			    struct err *e);
int64_t file_npy_indexed(const struct op_node *n); /* -1 when a file is compressed */
int64_t file_npy_cardinality(const struct op_node *n, const int64_t *in);
enum status file_npy_open(struct op_inst *self, struct err *e);
enum status file_npy_next(struct op_inst *self, struct run *out, struct err *e);
uint64_t file_npy_pass(struct op_inst *self, uint64_t n);
enum status file_npy_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out,
			struct err *e);
void file_npy_close(struct op_inst *self);

/* Shared by file_npy.c and npy_at.c. Reads only the header of the file at path. */
enum status file_npy_head_at(const char *path, bool as_is, struct npy *head, struct err *e);
/* Begins a file whose header is known. */
enum status file_npy_start(struct op_inst *self, struct file_npy *f, struct err *e);
enum status file_npy_cut_off(struct err *e);
enum status file_npy_look(struct op_inst *self, struct file_at *a, const char *path,
			  struct file_at_where *where, struct err *e); /* the file_at_look of npy */

#endif
