/* SPDX-License-Identifier: MIT
 *
 * What the planner is told of each operator: types, and how many elements.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lang/spec.h"
#include "op/op.h"
#include "op/facts.h"

enum { ENDLESS = -2, UNKNOWN = -1 };

static const struct {
	const char *spec, *type;
	int64_t count;
} typing_rows[] = {
	{ "range 10 | map x * 2", "int", 10 },
	{ "range 10 | map x / 2", "float", 10 },
	{ "range 10 | map x on_error=skip", "int", UNKNOWN },
	{ "range 10 | filter x > 3", "int", UNKNOWN },
	{ "range 0 | filter x > 3", "int", 0 },
	{ "range 10 | flat_map [x, x]", "int", UNKNOWN },
	{ "range 10 | batch 4", "[int]", 3 },
	{ "range 10 | batch 4 drop_remainder=true", "[int]", 2 },
	{ "range 8 | batch 4", "[int]", 2 },
	{ "range 10 | map {a: x, b: \"t\"} | batch 4", "{a: [int], b: [text]}", 3 },
	{ "range 10 | map {a: x, b: \"t\"} | batch 4 | unbatch", "{a: int, b: text}", UNKNOWN },
	{ "range 10 | batch 4 | unbatch", "int", UNKNOWN },
	{ "range 10 | batch 4 | batch 2", "[[int]]", 2 },
	{ "range 10 | take 4", "int", 4 },
	{ "counter | take 4", "int", 4 },
	{ "range 10 | filter x > 1 | take 0", "int", 0 },
	{ "range 10 | skip 4", "int", 6 },
	{ "counter | skip 4", "int", ENDLESS },
	{ "range 10 | take_while x < 4", "int", UNKNOWN },
	{ "range 10 | enumerate", "[int]", 10 },
	{ "elements [\"a\"] | enumerate", "[any]", 1 },
	{ "range 10 | repeat 3", "int", 30 },
	{ "range 10 | repeat", "int", ENDLESS },
	{ "range 0 | repeat", "int", 0 },
	{ "range 10 | shuffle 3", "int", 10 },
	{ "range 10 | shard 4 1", "int", 3 },
	{ "range 10 | shard 4 2", "int", 2 },
	{ "concat (range 3) (range 4)", "int", 7 },
	{ "concat (range 3) (counter)", "int", ENDLESS },
	{ "concat (range 3) (elements [\"a\"])", "any", 4 },
	{ "zip (range 3) (range 4)", "[int]", 3 },
	{ "zip (range 3) (counter)", "[int]", 3 },
	{ "zip a=(range 3) b=(elements [\"x\"])", "{a: int, b: text}", 1 },
	{ "zip a=(range 3) b=(elements [\"x\"]) short=pad", "{a: int?, b: text?}", 3 },
	{ "range 10 | window 4", "[int]", 3 },
	{ "range 10 | window 4 shift=1", "[int]", 10 },
	{ "range 10 | window 4 shift=1 drop_remainder=true", "[int]", 7 },
	{ "range 10 | window 3 stride=4 drop_remainder=true", "[int]", 1 },
	{ "range 10 | scan 0 s + x", "int", 10 },
	{ "range 10 | scan 0 s + x / 2", "any", 10 },
	{ "range 10 | reduce 0 s + x", "int", 1 },
	{ "range 10 | unique", "int", UNKNOWN },
	{ "range 10 | prefetch 3", "int", 10 },
	{ "range 10 | count", "int", 1 },
	{ "counter | flat_map [x, x]", "int", ENDLESS },
	{ "counter | take_while x < 4", "int", UNKNOWN },
	{ "range 3 | interleave (range x | map {a: x})", "{a: int}", UNKNOWN },
};

static void
types_and_counts_are_as_known(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof typing_rows / sizeof *typing_rows; k++) {
		struct spec_src src = { .text = typing_rows[k].spec,
					.len = strlen(typing_rows[k].spec) };
		struct plan *p;
		struct err e = { 0 };
		struct buf b = { 0 };
		int64_t count;

		if (plan_make(&src, &p, &e) != ST_OK)
			fail_msg("%s: %s", src.text, e.text);
		type_print(p->type, &b);
		if (strcmp((char *)b.data, typing_rows[k].type))
			fail_msg("%s: %s", src.text, (char *)b.data);
		count = op_elements_of(p->top);
		if (count != (typing_rows[k].count == ENDLESS ? INT64_MAX : typing_rows[k].count))
			fail_msg("%s: %lld elements", src.text, (long long)count);
		buf_clear(&b);
		plan_free(&p);
	}
}

static void
mistakes_are_found_before_anything_runs(void **state)
{
	static const char *const bad[][2] = {
		{ "range 5 | filter x", "needs a test" },
		{ "range 5 | take_while \"a\"", "needs a test" },
		{ "range 5 | flat_map x", "needs a list" },
		{ "range 5 | unbatch", "needs lists" },
		{ "range 5 | map {a: x} | unbatch", "field a is neither" },
		{ "range 5 | batch 0", "too small" },
		{ "range 5 | window 0", "too small" },
		{ "range 5 | shuffle 0", "too small" },
		{ "range 5 | shard 3 3", "does not exist" },
		{ "range 5 | take -1", "too small" },
		{ "concat a=(range 3) b=(range 4)", "no names" },
		{ "range 5 | map {a: x} | filter .b > 1", "b" },
	};

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		struct spec_src src = { .text = bad[k][0], .len = strlen(bad[k][0]) };
		struct plan *p;
		struct err e = { 0 };

		if (plan_make(&src, &p, &e) == ST_OK)
			fail_msg("%s was let through", bad[k][0]);
		if (!strstr(e.text, bad[k][1]))
			fail_msg("%s: %s", bad[k][0], e.text);
		assert_int_equal(e.line, 1);
		assert_true(e.col > 0);
	}
}
