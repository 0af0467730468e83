/* SPDX-License-Identifier: MIT */
#include "op/whole/exact_sum.h"

#include <math.h>
#include <string.h>

static double
exact_get(const uint8_t *p, size_t at)
{
	double x;

	memcpy(&x, p + at, sizeof x);
	return x;
}

static size_t
exact_put(uint8_t *p, size_t at, double x)
{
	memcpy(p + at, &x, sizeof x);
	return at + sizeof x;
}

size_t
exact_sum_add(uint8_t *p, size_t len, double x)
{
	size_t to = 0;

	/* A sum that is not finite stays so, and stands alone. */
	if (len && !isfinite(exact_get(p, 0)))
		return isfinite(x) ? len : exact_put(p, 0, exact_get(p, 0) + x);
	if (!isfinite(x))
		return exact_put(p, 0, x);
	/* Without branches (Knuth), since neither which is larger nor which low part is 0 can be foretold. */
	for (size_t at = 0; at < len; at += sizeof x) {
		double y = exact_get(p, at), high = x + y, part = high - x, low = (x - (high - part)) + (y - part);

		exact_put(p, to, low);
		to += low != 0 ? sizeof low : 0;
		x = high;
	}
	if (!isfinite(x)) /* beyond all floats */
		return exact_put(p, 0, x);
	exact_put(p, to, x);
	return to + (x != 0 || !to ? sizeof x : 0);
}

size_t
exact_sum_add_int(uint8_t *p, size_t len, int64_t i)
{
	const int64_t exact = (int64_t)1 << 53, part = (int64_t)1 << 32;

	if (i >= -exact && i <= exact)
		return exact_sum_add(p, len, (double)i);
	len = exact_sum_add(p, len, (double)(i % part));
	return exact_sum_add(p, len, (double)(i - i % part));
}

double
exact_sum_round(const uint8_t *p, size_t len)
{
	double high, low = 0;

	if (!len)
		return 0;
	len -= sizeof high;
	high = exact_get(p, len);
	while (len && low == 0) {
		double x = high, y = exact_get(p, len -= sizeof y);

		high = x + y;
		low = y - (high - x);
	}
	/* Half a unit is rounded to even, unless the numbers that are left say where to. */
	if (len && low != 0 && (exact_get(p, len - sizeof low) < 0) == (low < 0)) {
		double twice = low * 2, next = high + twice;

		if (next - high == twice)
			high = next;
	}
	return high + 0.0; /* a sum of -0.0 is 0.0 */
}
