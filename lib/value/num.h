/* SPDX-License-Identifier: MIT
 *
 * Numbers as text, fast. A float is printed with the fewest digits that read
 * back as the same float, always recognisable as one: 1.0, 0.1, 1e+22, -1.5e-07,
 * fixed from 1e-4 to below 1e16; nan, inf, -inf.
 */
#ifndef VALUE_NUM_H
#define VALUE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NUM_INT_MAX = 20, NUM_FLOAT_MAX = 32 }; /* most bytes of each */

/* Write to out, without a NUL; the uint and int ones give the end, the float
 * one the length. */
char *num_print_uint(uint64_t v, char *out);
char *num_print_int(int64_t v, char *out);
size_t num_print_float(double v, char *out);

/* Reads the whole text as a decimal float ("1", "-.5e3", "nan", "inf") or fails; a number too
 * large for a double fails, one too small is 0. */
bool num_parse_float(const char *s, size_t n, double *out);

/* The part of num_print_float that needs C++: digits and exponent of a finite number, as
 * d[.ddd]e[+-]dd; gives the length. */
size_t num_shortest(double v, char *out);

#ifdef __cplusplus
}
#endif

#endif
