/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem_wide.h"

/* From a few items, which are allocated, to many, which are mapped. */
static void
keeps_its_items_while_it_grows(void **state)
{
	uint64_t *v = NULL;
	size_t cap = 0, most = 3 * 1024 * 1024;

	(void)state;
	for (size_t n = 0; n < most; n++) {
		v = mem_grow_wide(v, &cap, n + 1, sizeof *v);
		assert_true(cap > n);
		v[n] = n * 3;
	}
	for (size_t n = 0; n < most; n++)
		assert_true(v[n] == n * 3);
	mem_free_wide(v, cap, sizeof *v);
}

static void
frees_what_is_small_or_nothing(void **state)
{
	size_t cap = 0;
	char *few = mem_grow_wide(NULL, &cap, 10, 1);

	(void)state;
	few[9] = 1;
	mem_free_wide(few, cap, 1);
	mem_free_wide(NULL, 0, 8);
}

static void
keeps_what_is_not_cut_off(void **state)
{
	static const size_t keeps[] = { 0, 100, 500 * 1000, 1000 * 1000, 2000 * 1000 };

	(void)state;
	for (size_t k = 0; k < sizeof keeps / sizeof *keeps; k++) {
		size_t cap = 0, n = 4000 * 1000;
		uint64_t *v = mem_grow_wide(NULL, &cap, n, sizeof *v);

		for (size_t i = 0; i < n; i++)
			v[i] = i;
		mem_cut_wide(v, &cap, keeps[k], sizeof *v);
		assert_true(cap >= keeps[k]);
		assert_true(keeps[k] < 1000 * 1000 || cap < n);
		for (size_t i = 0; i < keeps[k]; i++)
			assert_int_equal(v[i], i);
		v = mem_grow_wide(v, &cap, n, sizeof *v);
		for (size_t i = 0; i < keeps[k]; i++)
			assert_int_equal(v[i], i);
		v[n - 1] = 1;
		mem_free_wide(v, cap, sizeof *v);
	}
	size_t cap = 0;
	char *few = mem_grow_wide(NULL, &cap, 10, 1);
	mem_cut_wide(few, &cap, 1, 1);
	assert_true(cap >= 10);
	mem_free_wide(few, cap, 1);
	mem_cut_wide(NULL, &(size_t){ 0 }, 5, 8);
}
