/* SPDX-License-Identifier: MIT */
#include "value/num.h"

#include <math.h>
#include <string.h>

static const char num_pairs[201] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

const double num_tens[NUM_TENS + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

static inline unsigned
num_digits(uint64_t v)
{
	/* number of digits by bit length, one too many where a power of ten lies between */
	static const uint64_t pow10[20] = {
		0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000,
		10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000,
		1000000000000000, 10000000000000000, 100000000000000000,
		1000000000000000000, 10000000000000000000u,
	};
	unsigned guess = ((64u - (unsigned)__builtin_clzll(v | 1)) * 1233) >> 12;

	return guess + (v >= pow10[guess]);
}

char *
num_print_uint(uint64_t v, char *out)
{
	char *end = out + num_digits(v), *p = end;

	while (v >= 100) {
		unsigned two = (unsigned)(v % 100) * 2;

		v /= 100;
		p -= 2;
		memcpy(p, num_pairs + two, 2);
	}
	if (v >= 10)
		memcpy(p - 2, num_pairs + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
	return end;
}

char *
num_print_int(int64_t v, char *out)
{
	if (v >= 0)
		return num_print_uint((uint64_t)v, out);
	*out = '-';
	return num_print_uint(0 - (uint64_t)v, out + 1);
}

/* Most floats that people write have few decimals. If v is i / 10^6 for an i
 * of at most 15 digits, that decimal is the shortest: no two decimals of 15
 * digits are the same double, and the division of two exact doubles is
 * correctly rounded, as reading the text back is. */
static size_t
num_print_short(double v, char *out)
{
	double a = fabs(v);
	char *p = out;

	if (!(a < 1e9)) /* also for nan */
		return 0;
	uint64_t i = (uint64_t)(a * 1e6 + 0.5);
	if ((double)i / 1e6 != a)
		return 0;
	if (i < 100 && i) /* below 1e-4 an exponent is needed */
		return 0;
	if (signbit(v))
		*p++ = '-';
	p = num_print_uint(i / 1000000, p);
	unsigned rest = (unsigned)(i % 1000000);
	*p++ = '.';
	memcpy(p, num_pairs + rest / 10000 * 2, 2);
	memcpy(p + 2, num_pairs + rest / 100 % 100 * 2, 2);
	memcpy(p + 4, num_pairs + rest % 100 * 2, 2);
	p += 6;
	while (p[-1] == '0' && p[-2] != '.')
		p--;
	return (size_t)(p - out);
}

/* prints d0.d1d2.. times ten to the exp, without an exponent */
static char *
num_print_fixed(const char *d, int n, int exp, char *p)
{
	if (exp < 0) {
		*p++ = '0';
		*p++ = '.';
		for (int k = -1; k > exp; k--)
			*p++ = '0';
		memcpy(p, d, (size_t)n);
		return p + n;
	}
	for (int k = 0; k <= exp; k++)
		*p++ = k < n ? d[k] : '0';
	*p++ = '.';
	if (n <= exp + 1) {
		*p++ = '0';
		return p;
	}
	memcpy(p, d + exp + 1, (size_t)(n - exp - 1));
	return p + (n - exp - 1);
}

size_t
num_print_float(double v, char *out)
{
	char text[NUM_FLOAT_MAX], digits[NUM_FLOAT_MAX];
	size_t len = num_print_short(v, out);
	const char *s = text;
	char *p = out;
	int n = 0, exp = 0;

	if (len)
		return len;
	if (fabs(v) >= 1e-4 && fabs(v) <= 0x1p53) {
		len = num_shortest_fixed(v, out);
		if (!memchr(out, '.', len)) {
			memcpy(out + len, ".0", 2);
			len += 2;
		}
		return len;
	}
	if (!isfinite(v)) {
		const char *word = isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";

		len = strlen(word);
		memcpy(out, word, len);
		return len;
	}
	len = num_shortest(v, text);
	if (*s == '-')
		*p++ = *s++;
	const char *mantissa = s;
	for (; *s != 'e'; s++)
		if (*s != '.')
			digits[n++] = *s;
	s++;
	bool minus = *s++ == '-';
	for (; s < text + len; s++)
		exp = exp * 10 + (*s - '0');
	exp = minus ? -exp : exp;
	if (exp >= -4 && exp < 16) {
		p = num_print_fixed(digits, n, exp, p);
	} else { /* the form it has: 1e+22, 1.5e-07 */
		size_t rest = (size_t)(text + len - mantissa);

		memcpy(p, mantissa, rest);
		p += rest;
	}
	return (size_t)(p - out);
}
