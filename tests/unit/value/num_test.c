/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "value/num.h"

static void
ints_print_as_printf_does(void **state)
{
	struct rng r = { 1, 0 };
	char mine[32], theirs[32];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t v = rng_next(&r) >> rng_below(&r, 64);

		if (i < 60) { /* powers of ten and their neighbours */
			v = 1;
			for (int k = 0; k < i / 3; k++)
				v *= 10;
			v = v - 1 + (uint64_t)(i % 3);
		}
		*num_print_uint(v, mine) = '\0';
		snprintf(theirs, sizeof theirs, "%" PRIu64, v);
		assert_string_equal(mine, theirs);
		*num_print_int((int64_t)v, mine) = '\0';
		snprintf(theirs, sizeof theirs, "%" PRId64, (int64_t)v);
		assert_string_equal(mine, theirs);
	}
	*num_print_int(INT64_MIN, mine) = '\0';
	assert_string_equal(mine, "-9223372036854775808");
}

static void
prints(double v, const char *want)
{
	char out[NUM_FLOAT_MAX + 1];

	out[num_print_float(v, out)] = '\0';
	assert_string_equal(out, want);
}

static void
floats_print_short_and_recognisable(void **state)
{
	(void)state;
	prints(0, "0.0");
	prints(-0.0, "-0.0");
	prints(1, "1.0");
	prints(-1.5, "-1.5");
	prints(0.1, "0.1");
	prints(0.1 + 0.2, "0.30000000000000004");
	prints(100000, "100000.0");
	prints(123456.789, "123456.789");
	prints(1e15, "1000000000000000.0");
	prints(1e16, "1e+16");
	prints(1e22, "1e+22");
	prints(1.5e-7, "1.5e-07");
	prints(0.0001, "0.0001");
	prints(0.00001, "1e-05");
	prints(0.000123456789, "0.000123456789");
	prints(1.7976931348623157e308, "1.7976931348623157e+308");
	prints(5e-324, "5e-324");
	prints(9007199254740993.0, "9007199254740992.0");
	prints(1234567890.123, "1234567890.123");
	prints(NAN, "nan");
	prints(INFINITY, "inf");
	prints(-INFINITY, "-inf");
}

/* Reads back the same, and no %.{n}g of fewer digits does. */
static void
floats_are_shortest_that_read_back(void **state)
{
	struct rng r = { 2, 0 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		char out[NUM_FLOAT_MAX + 1], less[400];
		double v, back;
		int digits = 0;
		uint64_t u = rng_next(&r);

		if (i % 4 == 0)
			v = (double)(int64_t)rng_below(&r, 1000000000) / (i % 8 ? 1000.0 : 1e6);
		else if (i % 4 == 1)
			v = rng_unit(&r) * 1e6;
		else if (i % 4 == 2) /* around the ends of those without an exponent */
			v = ldexp(rng_unit(&r) - 0.5, (int)rng_below(&r, 76) - 16);
		else
			memcpy(&v, &u, 8);
		if (!isfinite(v))
			continue;
		size_t n = num_print_float(v, out);
		assert_true(n <= NUM_FLOAT_MAX);
		out[n] = '\0';
		assert_true(strtod(out, NULL) == v);
		assert_true(num_parse_float(out, n, &back) && back == v);
		assert_non_null(strpbrk(out, ".e"));
		const char *s = out + strspn(out, "-0.");
		for (; *s && *s != 'e'; s++)
			digits += *s >= '0' && *s <= '9';
		if (strstr(out, ".0") && !strstr(out, ".0e"))
			continue; /* whole: has zeros for the form's sake */
		if (digits > 1) {
			snprintf(less, sizeof less, "%.*g", digits - 1, v);
			assert_true(strtod(less, NULL) != v);
		}
	}
}

static void
floats_parse_whole_or_not(void **state)
{
	static const struct { const char *text; double v; } good[] = {
		{ "1", 1 }, { "-2.5e3", -2500 }, { ".5", .5 }, { "+7", 7 }, { "1e-999", 0 },
		{ "0.0000001e-400", 0 }, { "1e308", 1e308 }, { "inf", INFINITY }, { "5.", 5 },
		{ "0.00000000000000000000000000000000000000000000000000000001e310", 1e254 }
	};
	static const char *const bad[] = { "", "-", "+", "1x", " 1", "1 ", "1e", "1e999", "-1e999", "0x10",
		"--1", "+-1", "1000000000000000000000e400", "." };
	double v;

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		assert_true(num_parse_float(good[i].text, strlen(good[i].text), &v));
		assert_true(v == good[i].v);
	}
	assert_true(num_parse_float("nan", 3, &v) && isnan(v));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		v = 42;
		assert_false(num_parse_float(bad[i], strlen(bad[i]), &v));
		assert_true(v == 42);
	}
}
