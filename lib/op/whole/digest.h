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
	DIGEST_MANTISSA = 9,                     /* bits of the mantissa that count */
	DIGEST_PAGE = 1 << DIGEST_MANTISSA,      /* number of buckets for one exponent and sign */
	DIGEST_PAGES = 2 * 2048,
	DIGEST_PART = 1 << 20                    /* so many numbers, and some more, can always be saved */
};

/* Zero is a valid empty digest, except that `most` must be set. */
struct digest {
	size_t most;              /* how many numbers are kept one by one */
	double *v;
	size_t n, cap;
	/* NULL: exact. Else DIGEST_PAGES pages, from the lowest numbers on */
	uint64_t **pages;
	size_t n_pages;           /* how many pages there are */
	uint64_t total;           /* count of all numbers */
	double least, greatest;
};

void digest_clear(struct digest *d); /* keeps `most` */
void digest_add(struct digest *d, double x); /* x must not be nan */
/* Adds all numbers of another digest; if that is approximate, d becomes so, too. */
void digest_join(struct digest *d, const struct digest *from);
size_t digest_size(const struct digest *d); /* memory used, for limits */
/* Makes the quantiles approximate from now on, which takes less memory for many numbers. */
void digest_squeeze(struct digest *d);
bool digest_exact(const struct digest *d);
/* The q-th quantile, q in [0, 1], interpolated between neighbours as in numpy; 0 when empty.
 * Each call sorts the numbers a little more, so ascending q are the fastest. */
double digest_quantile(struct digest *d, double q);
/* Saves the digest; false: it is too large to be saved. */
bool digest_save(const struct digest *d, struct buf *out);
void digest_restore(struct digest *d, struct state_in *in);

#endif
