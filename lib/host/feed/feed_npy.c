/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_npy.h"

#include <string.h>

#include "value/format/npy.h"

enum status
feed_npy_check(const struct columns *c, struct err *e)
{
	struct buf type = { 0 };

	if (c->n == 1 && !c->v[0].n_path && c->v[0].kind == COLUMN_FIXED && c->v[0].n_dims < TYPE_DIMS_MAX)
		return npy_has(c->v[0].dtype, e);
	if (c->n == 1 && !c->v[0].n_path)
		column_type(&c->v[0], &type);
	err_set(e, ST_DATA, "--as npy is for numbers and tensors, and the elements are %s",
		type.len ? (char *)type.data : "records");
	err_help(e, "choose one field with `map .NAME`, or use --as msgpack");
	buf_clear(&type);
	return ST_DATA;
}

void
feed_npy_put(const struct columns *c, const uint8_t *slot, uint64_t first, uint64_t n, struct buf *out)
{
	const struct column *col = &c->v[0];
	bool whole = c->whole && n == 1;
	struct npy a = { .dtype = col->dtype, .n_dims = col->n_dims };

	if (whole)
		memcpy(a.dims, col->dims, (size_t)col->n_dims * sizeof *col->dims);
	else
		a.n_dims = column_shape(col, n, a.dims);
	out->len += npy_put_head(&a, buf_room(out, NPY_HEAD_PUT));
	column_rows(col, slot, first, n, buf_room(out, n * col->size));
	out->len += n * col->size;
}
