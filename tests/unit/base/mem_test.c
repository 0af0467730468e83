/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void
size_zero_is_memory_too(void **state)
{
	void *p = mem_alloc(0), *q = mem_array(0, 8), *r = mem_dup(NULL, 0);

	(void)state;
	assert_non_null(p);
	assert_non_null(q);
	assert_non_null(r);
	mem_free(p);
	mem_free(q);
	mem_free(r);
	mem_free(NULL);
}

static void
grow_doubles_and_keeps(void **state)
{
	int *v = NULL;
	size_t cap = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		v = mem_grow(v, &cap, (size_t)i + 1, sizeof *v);
		v[i] = i;
	}
	assert_int_equal(cap, 1024);
	assert_int_equal(v[999], 999);
	mem_free(v);
}

static void
strings_are_copied_and_ended(void **state)
{
	char *a = mem_strdup("abc"), *b = mem_strndup("abcdef", 2), *c = mem_printf("%d!", 5);

	(void)state;
	assert_string_equal(a, "abc");
	assert_string_equal(b, "ab");
	assert_string_equal(c, "5!");
	assert_null(mem_strdup(NULL));
	mem_free(a);
	mem_free(b);
	mem_free(c);
}

static void
exhausted(void (*f)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		close(STDERR_FILENO);
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 74);
}

static void
grow_too_far(void)
{
	size_t cap = 0;

	mem_grow(NULL, &cap, SIZE_MAX / 4, 16);
}

static void
grow_beyond_all(void)
{
	size_t cap = 0;

	mem_grow(NULL, &cap, SIZE_MAX, 1);
}

static void
a_product_that_overflows_ends_the_program(void **state)
{
	(void)state;
	exhausted(grow_too_far);
	exhausted(grow_beyond_all);
}
