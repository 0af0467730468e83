/* SPDX-License-Identifier: MIT
 *
 * Sums of floats without rounding: whoever adds the same numbers, in whatever
 * order and in however many parts, gets the same. The sum is kept as floats
 * that do not overlap (Shewchuk 1997), and is rounded once, when it is asked for.
 */
#ifndef WHOLE_EXACT_SUM_H
#define WHOLE_EXACT_SUM_H

#include <stddef.h>
#include <stdint.h>

enum {
	EXACT_SUM_MOST = 2200 * sizeof(double), /* bytes: floats that do not overlap are fewer */
	EXACT_SUM_ROOM = 2 * sizeof(double)     /* bytes that an addition or two may add */
};

/* Adds x to the sum of `len` bytes at p, which has room for another double; gives the new length.
 * Infinity and nan are as in IEEE 754, and so is a sum beyond all floats. */
size_t exact_sum_add(uint8_t *p, size_t len, double x);
/* Adds an integer; with room for EXACT_SUM_ROOM bytes. */
size_t exact_sum_add_int(uint8_t *p, size_t len, int64_t i);
/* The float nearest to the sum; 0 if nothing was added. */
double exact_sum_round(const uint8_t *p, size_t len);

#endif
