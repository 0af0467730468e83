/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/late.h"

#define MATH_FNS(F) F(floor) F(cos)

static atomic_uint started;

static const char *
start(void)
{
	atomic_fetch_add(&started, 1);
	return NULL;
}

static const char *
start_badly(void)
{
	return "it has no key";
}

static void *
get(void *arg)
{
	struct err e = { 0 };

	return late_get(arg, &e);
}

static void
a_library_is_loaded_and_started_once_whoever_asks(void **state)
{
	static struct { MATH_FNS(LATE_FN) } fns;
	static const char *const names[] = { MATH_FNS(LATE_NAME) NULL };
	static struct late late = { { "no-such-library.so.9", "libm.so.6" }, "libc6", names, &fns, start, LATE_LOCK };
	pthread_t t[8];
	void *got;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, get, &late), 0);
	for (size_t i = 0; i < 8; i++) {
		pthread_join(t[i], &got);
		assert_ptr_equal(got, &fns);
	}
	assert_int_equal(atomic_load(&started), 1);
	assert_true(fns.floor(2.5) == 2 && fns.cos(0) == 1);
}

static void
refused(struct late *late, const char *why)
{
	/* Each time with words, not only the first. */
	for (int k = 0; k < 2; k++) {
		struct err e = { 0 };

		assert_null(late_get(late, &e));
		assert_int_equal(e.kind, ST_DATA);
		assert_non_null(strstr(e.text, why));
		assert_string_equal(e.help, "apt-get install libc6");
	}
}

static void
a_library_that_cannot_be_used_is_told_with_its_package(void **state)
{
	static void *fns[2];
	static const char *const names[] = { "floor", "no_such_function", NULL }, *const good[] = { "floor", NULL };
	static struct late none = { { "no-such-library.so.9" }, "libc6", good, fns, LATE_LOCK },
			   lacks = { { "libm.so.6" }, "libc6", names, fns, LATE_LOCK },
			   fails = { { "libm.so.6" }, "libc6", good, fns, start_badly, LATE_LOCK };

	(void)state;
	refused(&none, "the library no-such-library.so.9 cannot be used: ");
	refused(&lacks, "the library libm.so.6 cannot be used: it has no no_such_function");
	refused(&fails, "it has no key");
}
