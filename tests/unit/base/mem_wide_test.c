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
