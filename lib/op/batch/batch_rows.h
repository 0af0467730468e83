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
	BATCH_ROWS_AUTO,   /* tensors to a tensor, anything else to a list; ORDER of `as=` */
	BATCH_ROWS_LIST,
	BATCH_ROWS_TENSOR  /* numbers and bools too */
};

/* First all values are looked at, then they are written:
 * begin, look ..., size, head, put ... */
struct batch_rows {
	enum batch_rows_as as;
	uint64_t n;
	uint64_t tensors, ints, floats, bools; /* how many of each */
	struct tensor first;   /* of the tensors */
	bool differ;           /* some tensor has another dtype or shape */
	struct tensor other;   /* that one */
	size_t bytes;          /* of all values, encoded */
	bool tensor;           /* what it will be (batch_rows_size) */
	struct tensor out;
};

void batch_rows_begin(struct batch_rows *r, enum batch_rows_as as);
void batch_rows_look(struct batch_rows *r, const uint8_t *p, size_t len);
/* Most bytes of the result; 0: they cannot be put together, or not in `max` bytes. */
size_t batch_rows_size(struct batch_rows *r, size_t max, struct err *e);
uint8_t *batch_rows_head(struct batch_rows *r, uint8_t *w);
/* The next value. NULL: a number does not fit i64. */
uint8_t *batch_rows_put(const struct batch_rows *r, uint8_t *w, const uint8_t *p, size_t len,
			struct err *e);

/* What values of type x become, n of them (below 0: unknown). */
const struct type *batch_rows_typing(struct types *t, enum batch_rows_as as, const struct type *x,
				     int64_t n);
/* Whether they can become a tensor. */
bool batch_rows_fits_tensor(const struct type *x);
/* What the rows of values of type x are; NULL: it has none. */
const struct type *batch_rows_item(struct types *t, const struct type *x);

/* Reading. */
struct batch_rows_in {
	const uint8_t *at;     /* list: the next item */
	const uint8_t *end;
	uint64_t left;
	bool tensor;
	struct tensor t, item; /* item: one row of t, data at the next */
};

/* Of the value at p; false: neither a list nor a tensor with an axis. */
bool batch_rows_open(struct batch_rows_in *r, const uint8_t *p, const uint8_t *end);
void batch_rows_skip(struct batch_rows_in *r);
/* A list's next item lies in it: gives its length and where; 0: it is a tensor's. */
size_t batch_rows_lend(const struct batch_rows_in *r, const uint8_t **p);
/* Most bytes of the next row, and the row itself; goes on to the next. */
size_t batch_rows_next_size(const struct batch_rows_in *r);
uint8_t *batch_rows_next(struct batch_rows_in *r, uint8_t *w);

/* The tensor in an encoded value; false: it is none. */
bool batch_rows_tensor(const uint8_t *p, const uint8_t *end, struct tensor *t);

#endif
