/* SPDX-License-Identifier: MIT
 *
 * The header of .npy files, versions 1 to 3:
 *
 *	\x93NUMPY | u8 major | u8 minor | u16 or u32 length | a Python dict as text
 *	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Numbers and bools of 1 to 8 bytes are read, of either byte order. Structured types, text,
 * complex numbers, times and objects are refused by name. numpy has no bf16.
 */
#ifndef FORMAT_NPY_H
#define FORMAT_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/type.h"

enum {
	NPY_FIXED = 12,           /* bytes after which the header's length is known */
	NPY_HEAD_MAX = 64 * 1024,
	NPY_HEAD_PUT = 512        /* most bytes that npy_put_head writes */
};

struct npy {
	enum dtype dtype;
	bool swapped;             /* big endian */
	bool fortran;             /* Fortran order, where it matters: two axes are longer than 1, none is 0 */
	int n_dims;
	uint64_t dims[TYPE_DIMS_MAX];
	size_t head;              /* bytes before the data */
};

/* Reads the header at p. ST_END: more than n bytes are needed; ST_DATA: bad. */
enum status npy_head(const uint8_t *p, size_t n, struct npy *out, struct err *e);
/* Number of values in one slice along the first axis; false: too many. */
bool npy_slice(const struct npy *a, uint64_t *count);
/* Writes a header; gives its size, which is the same whatever the first length is, so that the
 * length can be filled in when it is known. */
size_t npy_put_head(const struct npy *a, uint8_t *p);
/* ST_DATA, with the remedy, for a dtype that numpy does not have. */
enum status npy_has(enum dtype d, struct err *e);
/* Reverses the bytes of n numbers of `size` bytes. */
void npy_swap(uint8_t *p, size_t n, size_t size);

#endif
