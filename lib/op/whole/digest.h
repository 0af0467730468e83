/* SPDX-License-Identifier: MIT
 *
 * Quantiles of many numbers: exact as long as all of them fit the memory they may
 * take, and then within a thousandth of each value.
 *
 *	numbers   all of them, as they came
 *	buckets   when there are too many: how many there are in each of the ranges that
 *	          a number's first 20 bits without its sign stand for (exponent and 9 bits
 *	          of mantissa). Two neighbours of a range differ by less than 1/512, so its
 *	          middle is within DIGEST_ERROR of each.
 *
 * The same numbers give the same answer, in whatever order they come.
 */
#ifndef WHOLE_DIGEST_H
#define WHOLE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/state.h"

#define DIGEST_ERROR 0.001
enum {
	DIGEST_MANTISSA = 9,                     /* bits of it that count */
	DIGEST_PAGE = 1 << DIGEST_MANTISSA,      /* buckets of one exponent and sign */
	DIGEST_PAGES = 2 * 2048
};

/* Zero is a valid empty digest, but for `most`. */
struct digest {
	size_t most;              /* numbers that are kept one by one */
	double *v;
	size_t n, cap;
	uint64_t **pages;         /* NULL: exact. Then DIGEST_PAGES, from the least on */
	uint64_t total;           /* numbers in all */
	double least, greatest;
};

void digest_clear(struct digest *d); /* keeps `most` */
void digest_add(struct digest *d, double x); /* not nan */
bool digest_exact(const struct digest *d);
/* The q-th quantile, q in [0, 1], between the numbers next to it as numpy's; 0 when
 * empty. Sorts what is kept a little more each time: rising q are found fastest. */
double digest_quantile(struct digest *d, double q);
/* False: what is kept is too much to be saved. */
bool digest_save(const struct digest *d, struct buf *out);
void digest_restore(struct digest *d, struct state_in *in);

#endif
