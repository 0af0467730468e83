/* SPDX-License-Identifier: MIT
 *
 * Tensors: MessagePack ext of type MP_EXT_TENSOR, with the contents
 *
 *	u8 version = 1 | u8 dtype | u8 dims | u8 pad | dims x u64 LE | pad x 0 | data LE
 *
 * pad makes data begin at a multiple of 8 from the first byte of the contents.
 * Data is in row-major order; a bool is a byte, f16 and bf16 are two.
 */
#ifndef VALUE_TENSOR_H
#define VALUE_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "value/json_rules.h"
#include "value/type.h"

enum {
	TENSOR_VERSION = 1,
	TENSOR_HEAD_MAX = 6 + 4 + 8 * TYPE_DIMS_MAX + 4 /* before the data, ext head included */
};

struct tensor {
	enum dtype dtype;
	int n_dims; /* 0: a single number */
	uint64_t dims[TYPE_DIMS_MAX];
	uint64_t count;      /* numbers: product of dims */
	const uint8_t *data; /* lent; not aligned unless the contents were */
	size_t size;         /* size of the data: count times the dtype's size */
};

/* Reads the contents of an ext. False: it is not a known tensor, or its sizes do not agree. */
bool tensor_read(const uint8_t *p, size_t n, struct tensor *t);
/* Writes ext head and header; gives the place of the data, or NULL when the whole would not
 * fit an ext (4 GiB). Needs TENSOR_HEAD_MAX bytes of room; computes t->count and t->size from
 * dims. */
uint8_t *tensor_put_head(uint8_t *p, struct tensor *t);
/* Prints the tensor as nested JSON lists, without spaces. One without numbers is []. */
bool tensor_print(const struct tensor *t, const struct json_rules *rules, struct buf *out);

#endif
