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

/* Powers of ten that are exact as doubles. */
enum { NUM_TENS = 22 };
extern const double num_tens[NUM_TENS + 1];

/* A number as most are written: [digits] or [digits.digits]. */
struct num_plain {
	uint64_t all;          /* the number without its point, if it has few enough digits */
	size_t digits, places; /* number of digits; how many after the point, 0: there is no point */
};

/* Reads one from p to `end`, or to the first byte that is no part of it if end is NULL.
 * Gives where it ends; NULL: it has no digits, begins with a 0 too many, or its point has
 * no digits behind it. */
static inline const uint8_t *
num_plain_read(const uint8_t *p, const uint8_t *end, struct num_plain *out)
{
	const uint8_t *start = p, *point;
	uint64_t all = 0;

	for (; (!end || p < end) && (uint8_t)(*p - '0') < 10; p++)
		all = all * 10 + (uint8_t)(*p - '0');
	out->digits = (size_t)(p - start);
	out->places = 0;
	if (p == start || (*start == '0' && p > start + 1))
		return NULL;
	if ((!end || p < end) && *p == '.') {
		for (point = ++p; (!end || p < end) && (uint8_t)(*p - '0') < 10; p++)
			all = all * 10 + (uint8_t)(*p - '0');
		if (p == point)
			return NULL;
		out->places = (size_t)(p - point);
		out->digits += out->places;
	}
	out->all = all;
	return p;
}

/* all / 10^places. What the text rounds to if all is at most 2^53 and places at most
 * NUM_TENS: both are exact then, and a division rounds correctly. */
static inline double
num_quotient(uint64_t all, size_t places, bool minus)
{
	double v = (double)all / num_tens[places];

	return minus ? -v : v;
}

/* The parts of num_print_float that need C++: the digits of a finite number as d[.ddd]e[+-]dd, and as d[.ddd], which
 * is for those from 1e-4 to 2^53; give the length. */
size_t num_shortest(double v, char *out);
size_t num_shortest_fixed(double v, char *out);

#ifdef __cplusplus
}
#endif

#endif
