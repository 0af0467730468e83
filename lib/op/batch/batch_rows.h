/* SPDX-License-Identifier: MIT
 *
 * Batches and their rows. One way: the values of many elements become a list,
 * or a tensor with a new first axis. The other way: a list or a tensor is read
 * row by row; a row of a tensor of one axis is a plain number.
 */
#ifndef BATCH_BATCH_ROWS_H
#define BATCH_BATCH_ROWS_H

#include "base/err.h"
#include "op/op.h"
#include "value/tensor.h"
#include "value/type.h"

enum batch_rows_as {
	BATCH_ROWS_AUTO,   /* tensors become a tensor, anything else a list; as ORDER of `as=` */
	BATCH_ROWS_LIST,
	BATCH_ROWS_TENSOR  /* numbers and bools become a tensor, too */
};

/* Puts values together in two rounds, each over all values:
 * begin, look ..., size, head, put ... */
struct batch_rows {
	enum batch_rows_as as;
	uint64_t n;
	uint64_t tensors, ints, floats, bools; /* how many values of each kind */
	struct tensor first;   /* the first tensor */
	bool differ;           /* some tensor has another dtype or shape than the first */
	struct tensor other;   /* the tensor that differs */
	size_t bytes;          /* size of all values, encoded */
	bool tensor;           /* the result is a tensor (batch_rows_size) */
	struct tensor out;
};

void batch_rows_begin(struct batch_rows *r, enum batch_rows_as as);
void batch_rows_look(struct batch_rows *r, const uint8_t *p, size_t len);
/* Upper bound for the bytes of the result; 0: the values cannot be put together, or not within
 * `max` bytes. */
size_t batch_rows_size(struct batch_rows *r, size_t max, struct err *e);
uint8_t *batch_rows_head(struct batch_rows *r, uint8_t *w);
/* Writes the next value; gives the end. NULL: a number does not fit i64. */
uint8_t *batch_rows_put(const struct batch_rows *r, uint8_t *w, const uint8_t *p, size_t len,
			struct err *e);

/* The type that n values of type x become (n below 0: unknown). */
const struct type *batch_rows_typing(struct types *t, enum batch_rows_as as, const struct type *x,
				     int64_t n);
/* Whether values of type x can become a tensor. */
bool batch_rows_fits_tensor(const struct type *x);
/* The type of a row of values of type x; NULL: they have no rows. */
const struct type *batch_rows_item(struct types *t, const struct type *x);

/* The rows of a list or a tensor, being read. */
struct batch_rows_in {
	const uint8_t *at;     /* list: the next item */
	const uint8_t *end;
	uint64_t left;
	bool tensor;
	struct tensor t, item; /* item: one row of t, with data at the next row */
};

/* Begins with the value at p; false: it is neither a list nor a tensor with an axis. */
bool batch_rows_open(struct batch_rows_in *r, const uint8_t *p, const uint8_t *end);
void batch_rows_skip(struct batch_rows_in *r);
/* Lends the next row where it lies, for a list; gives its length. 0: it is a row of a tensor,
 * which has to be made. */
size_t batch_rows_lend(const struct batch_rows_in *r, const uint8_t **p);
/* Upper bound for the bytes of the next row, and the row itself, which steps to the next. */
size_t batch_rows_next_size(const struct batch_rows_in *r);
uint8_t *batch_rows_next(struct batch_rows_in *r, uint8_t *w);

/* Reads the tensor in an encoded value; false: the value is not a tensor. */
bool batch_rows_tensor(const uint8_t *p, const uint8_t *end, struct tensor *t);

#endif
