/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <string.h>

#include "value/csv/csv_inner.h"
#include "value/mp.h"
#include "value/num.h"

enum {
	NUMBER_SHORT = 16   /* with a point, this many bytes are an int below 2^53 */
};

/* Reads 1 to 8 digits at once. */
static inline bool
number_digits8(const uint8_t *p, size_t n, uint64_t *out)
{
	uint64_t x;

	memcpy(&x, p, 8);
	/* The last digit moves to the top byte, with zeros before the first. */
	x = le64toh(x) << (64 - 8 * n);
	x |= 0x3030303030303030u >> 8 * (n - 1) >> 8;
	if (((x & 0xf0f0f0f0f0f0f0f0u) | ((x + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4)
	    != 0x3333333333333333u)
		return false;
	x -= 0x3030303030303030u;
	x = x * 10 + (x >> 8);
	*out = ((x & 0x000000ff000000ffu) * 0x000f424000000064u
		+ ((x >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >> 32;
	return true;
}

/* Reads digits from p on; clears *fits when they exceed 64 bits. */
static inline const uint8_t *
number_digits(const uint8_t *p, const uint8_t *end, uint64_t *v, bool *fits)
{
	for (; p < end && (unsigned)(*p - '0') < 10; p++)
		if (__builtin_mul_overflow(*v, 10u, v) || __builtin_add_overflow(*v, *p - '0', v))
			*fits = false;
	return p;
}

/* Reads the usual form of a float: [-]digits.digits, short enough not to overflow. NULL: it is
 * in another form. */
static uint8_t *
number_decimal(uint8_t *w, const uint8_t *p, size_t n, bool minus)
{
	const uint8_t *end = p + n;
	struct num_plain x;

	if (num_plain_read(p + minus, end, &x) != end || !x.places)
		return NULL;
	return mp_put_float(w, num_quotient(x.all, x.places, minus));
}

static uint8_t *
number_float(uint8_t *w, const uint8_t *p, size_t n)
{
	double v;

	return num_parse_float((const char *)p, n, &v) ? mp_put_float(w, v) : NULL;
}

static uint8_t *
number_int(uint8_t *w, uint64_t v, bool minus)
{
	if (!minus)
		return mp_put_uint(w, v);
	if (v > (uint64_t)INT64_MAX + 1)
		return NULL;
	/* -0 is not an int. */
	return v ? mp_put_int(w, (int64_t)(0 - v)) : mp_put_float(w, -0.0);
}

/* Reads longer numbers, and those with a point or an exponent. */
static uint8_t *
number_other(uint8_t *w, const uint8_t *p, size_t n, bool minus)
{
	const uint8_t *end = p + n, *q = p + minus, *whole = q;
	uint64_t v = 0;
	bool fits = true;
	uint8_t *decimal;

	if (n <= NUMBER_SHORT && (decimal = number_decimal(w, p, n, minus)))
		return decimal;
	q = number_digits(q, end, &v, &fits);
	if (q == whole || (q - whole > 1 && *whole == '0'))
		return NULL;
	if (q == end)
		return fits ? number_int(w, v, minus) : NULL;
	if (*q == '.') {
		const uint8_t *point = q++;

		q = number_digits(q, end, &v, &fits);
		size_t places = (size_t)(q - point - 1);
		if (!places)
			return NULL;
		if (q == end && fits && v < UINT64_C(1) << 53 && places <= NUM_TENS)
			return mp_put_float(w, num_quotient(v, places, minus));
	}
	if (q < end && (*q | 0x20) == 'e') {
		q++;
		if (q < end && (*q == '+' || *q == '-'))
			q++;
		const uint8_t *exponent = q;
		q = number_digits(q, end, &v, &fits);
		if (q == exponent)
			return NULL;
	}
	return q == end ? number_float(w, p, n) : NULL;
}

uint8_t *
csv_put_number(uint8_t *w, const uint8_t *p, size_t n)
{
	uint64_t v;

	if ((unsigned)(*p - '0') < 10) {
		if (n <= 8 && (*p != '0' || n == 1) && number_digits8(p, n, &v))
			return mp_put_uint(w, v);
		return number_other(w, p, n, false);
	}
	if (*p == '-')
		return number_other(w, p, n, true);
	if (n == 4 && !memcmp(p, "true", 4))
		return mp_put_bool(w, true);
	if (n == 5 && !memcmp(p, "false", 5))
		return mp_put_bool(w, false);
	return NULL;
}
