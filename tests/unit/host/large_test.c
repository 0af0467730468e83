/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/work/large.h"
#include "op/facts.h"

static bool
large(const char *spec)
{
	struct spec_src src = { .text = spec, .len = strlen(spec) };
	struct split_list units = { 0 };
	struct plan *p = NULL;
	struct err e = { 0 };

	if (plan_make(&src, &p, &e) != ST_OK || op_list_splits(p->top, &units, &e) != ST_OK)
		fail_msg("%s: %s", spec, e.text);
	bool is = large_elements(p, &units);
	split_list_clear(&units);
	plan_free(&p);
	return is;
}

static void
tensors_are_as_large_as_their_type_says(void **state)
{
	(void)state;
	assert_true(large("range 3 | map zeros([100, 100], \"f32\")"));
	assert_true(large("range 3 | map {i: x, t: zeros([100, 100], \"f32\")}"));
	assert_false(large("range 3 | map zeros([10, 100], \"f32\")"));
	assert_false(large("range 3"));
}

static void
elements_made_of_large_files_are_large(void **state)
{
	char name[] = "/tmp/dsvc-large-XXXXXX", spec[100];
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	snprintf(spec, sizeof spec, "whole %s | repeat 3", name);
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_false(large(spec));
	assert_int_equal(ftruncate(fd, 100000), 0);
	assert_true(large(spec));
	snprintf(spec, sizeof spec, "lines %s", name);
	assert_false(large(spec));
	close(fd);
	unlink(name);
}
