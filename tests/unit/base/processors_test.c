/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/processors.h"

static int64_t
of_8(const char *text)
{
	int64_t n = 0;

	return processors_read(text, strlen(text), 8, &n) ? n : -1;
}

static void
a_number_of_threads_may_be_said_by_the_processors(void **state)
{
	(void)state;
	assert_int_equal(of_8("50%"), 4);
	assert_int_equal(of_8("12.5%"), 1);
	assert_int_equal(of_8("30%"), 2);
	assert_int_equal(of_8("0%"), 1);
	assert_int_equal(of_8("300%"), 24);
	assert_int_equal(of_8("+2"), 10);
	assert_int_equal(of_8("-2"), 6);
	assert_int_equal(of_8("-8"), 1);
	assert_int_equal(of_8("-100"), 1);
	assert_int_equal(of_8("0"), 8);
}

static void
other_texts_are_no_such_numbers(void **state)
{
	static const char *const others[] = { "", "4", "+", "-", "%", "+x", "-0x", "+-2", "-50%", "+50%", "x%", "1e9%",
					      "+99999999999", "+ 2", "nan%", "inf%" };

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		assert_int_equal(of_8(others[i]), -1);
}
