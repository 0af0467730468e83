// SPDX-License-Identifier: MIT
//
// The two float conversions that the C library has no fast form of.
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "value/num.h"

extern "C" size_t
num_shortest(double v, char *out)
{
	auto r = std::to_chars(out, out + NUM_FLOAT_MAX, v, std::chars_format::scientific);
	return static_cast<size_t>(r.ptr - out);
}

extern "C" size_t
num_shortest_fixed(double v, char *out)
{
	auto r = std::to_chars(out, out + NUM_FLOAT_MAX, v, std::chars_format::fixed);
	return static_cast<size_t>(r.ptr - out);
}

// from_chars leaves the value alone when it is out of range, and does not say
// to which side: the decimal exponent of the first digit does.
static bool
num_is_tiny(const char *s, const char *end)
{
	long point = 0;
	bool digit = false, dot = false;

	for (; s < end && *s != 'e' && *s != 'E'; s++) {
		if (*s == '.') {
			dot = true;
		} else if (*s >= '0' && *s <= '9') {
			digit = digit || *s != '0';
			point += dot ? (digit ? 0 : -1) : digit;
		}
	}
	if (s < end) {
		bool minus = s + 1 < end && s[1] == '-';
		long e = 0;

		for (s += 1; s < end; s++)
			if (*s >= '0' && *s <= '9' && e < 1000000000)
				e = e * 10 + (*s - '0');
		point += minus ? -e : e;
	}
	return point < 0;
}

extern "C" bool
num_parse_float(const char *s, size_t n, double *out)
{
	const char *end = s + n;
	double v = 0;

	if (n > 1 && *s == '+' && s[1] != '-' && s[1] != '+')
		s++;
	auto r = std::from_chars(s, end, v);
	if (r.ptr != end || s == end)
		return false;
	if (r.ec == std::errc::result_out_of_range) {
		if (!num_is_tiny(s, end))
			return false;
		v = *s == '-' ? -0.0 : 0.0;
	} else if (r.ec != std::errc()) {
		return false;
	}
	*out = v;
	return true;
}
