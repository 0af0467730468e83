/* SPDX-License-Identifier: MIT
 *
 * Slices of .npy files by index. A file's tag says that its bytes are to be swapped.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/gate.h"
#include "op/file/file_npy.h"
#include "value/dtype.h"

enum status
file_npy_look(struct op_inst *self, struct file_at *a, const char *path, struct file_at_where *where,
	      struct err *e)
{
	struct file_npy *f = self->state;
	struct npy before = f->head;
	struct stat info;
	enum status st = file_npy_head_at(path, true, &f->head, e);

	if (st == ST_OK)
		st = file_npy_start(self, f, e);
	if (st != ST_OK) {
		f->head = before; /* elements are made as this head says */
		return st;
	}
	f->want = f->head;
	f->typed = true;
	a->size = f->slice;
	if (gate_stat(path, &info))
		return err_errno(e, "cannot read it");
	if (f->slice && ((uint64_t)info.st_size - f->head.head) / f->slice < f->head.dims[0])
		return file_npy_cut_off(e);
	where->base = f->head.head;
	where->count = f->head.dims[0];
	where->tag = f->head.swapped;
	return ST_OK;
}

static uint8_t *
npy_made_tensor(struct op_inst *self, unsigned tag, uint8_t *p, uint8_t *data)
{
	const struct file_npy *f = self->state;

	(void)p;
	if (tag)
		npy_swap(data, (size_t)f->count, dtype_size(f->head.dtype));
	return data + f->slice;
}

static uint8_t *
npy_made_number(struct op_inst *self, unsigned tag, uint8_t *p, uint8_t *data)
{
	const struct file_npy *f = self->state;
	uint64_t one;

	memcpy(&one, data, f->slice);
	if (tag)
		npy_swap((uint8_t *)&one, 1, f->slice);
	return dtype_put(f->head.dtype, (uint8_t *)&one, p);
}

enum status
file_npy_at(struct op_inst *self, const uint64_t *index, uint32_t *k, struct run *out, struct err *e)
{
	struct file_npy *f = self->state;

	return file_at_give(self, &f->at, f->tensor, f->tensor_len,
			    f->tensor_len ? npy_made_tensor : npy_made_number, index, k, out, e);
}

void
file_npy_close(struct op_inst *self)
{
	struct file_npy *f = self->state;

	file_at_close(&f->at);
	file_source_close(self);
}
