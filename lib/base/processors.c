/* SPDX-License-Identifier: MIT */
#include "base/processors.h"

#include "base/str.h"

static int64_t
processors_within(int64_t n)
{
	return n < 1 ? 1 : n > INT32_MAX ? INT32_MAX : n;
}

bool
processors_read(const char *text, size_t n, int64_t all, int64_t *out)
{
	double share;
	int64_t more;

	if (n > 1 && text[n - 1] == '%') {
		if (text[0] == '+' || text[0] == '-' || !str_float(text, n - 1, &share) || !(share >= 0 && share <= 1e6))
			return false;
		*out = processors_within((int64_t)((double)all * share / 100));
		return true;
	}
	if (n == 1 && text[0] == '0') {
		*out = processors_within(all);
		return true;
	}
	if (n < 2 || (text[0] != '+' && text[0] != '-') || text[1] < '0' || text[1] > '9' ||
	    !str_int(text + 1, n - 1, &more) || more > INT32_MAX)
		return false;
	*out = processors_within(text[0] == '+' ? all + more : all - more);
	return true;
}
