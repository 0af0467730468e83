/* SPDX-License-Identifier: MIT
 *
 * Sums of numbers, and of their squares, without rounding: the same numbers give the same, in
 * whatever order and in however many parts they are added. A sum is a fixed-point number as wide
 * as its terms need, in two's complement, and is rounded once, when it is asked for.
 *
 *	8 bytes   place and number of the limbs of each sum, and whether nan or infinity was added
 *	8 each    limbs of the sum, lowest first; limb k has the weight 2 ** (64 * k)
 *	8 each    limbs of the sum of squares, if that is wanted
 *
 * The bytes are the caller's, and are what is saved and sent. No bytes are the sum 0.
 */
#ifndef WHOLE_WIDE_SUM_H
#define WHOLE_WIDE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value/mp.h"

enum {
	WIDE_HEAD = 8,
	/* The smallest float is 2 ** -1074, the largest below 2 ** 1024; one limb on top has the sign, and
	 * what 2 ** 63 terms carry. */
	WIDE_LOWEST = -17, WIDE_LIMBS = 35, WIDE_SQUARE_LIMBS = 68,
	WIDE_MOST = WIDE_HEAD + (WIDE_LIMBS + WIDE_SQUARE_LIMBS) * 8 /* bytes */
};

/* Adds a number, an int or a float, to the sum of `len` bytes at p; squares: its square, too, which is
 * then asked for each time. Gives the new length. If that is more than `cap`, nothing was added: the caller makes
 * room for that many bytes and asks again. */
size_t wide_add(uint8_t *p, size_t len, size_t cap, const struct mp *number, bool squares);
/* Adds another such sum, of n bytes at q, for which wide_valid holds; as wide_add. */
size_t wide_join(uint8_t *p, size_t len, size_t cap, const uint8_t *q, size_t n);
/* Whether these bytes, from elsewhere, are a sum; squares: with or without that of squares. */
bool wide_valid(const uint8_t *p, size_t len, bool squares);
/* The float nearest to the sum; infinity and nan as in IEEE 754. */
double wide_round(const uint8_t *p, size_t len);
/* The sum of ints plus one more, if that fits; false: it does not. */
bool wide_int(const uint8_t *p, size_t len, int64_t more, int64_t *out);
/* The standard deviation of the n > 0 numbers; nan if one of them is not finite. */
double wide_stddev(const uint8_t *p, size_t len, uint64_t n);

#endif
