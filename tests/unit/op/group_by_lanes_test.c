/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/whole/aggregate.h"
#include "op/whole/group_by_lanes.h"

#include "spec_help.h"

/* Keys of several types, some of them equal numbers, some null, some too long for a table's items. */
#define MIXED "range 6000 | map {k: x % 7 == 0 ? null : x % 7 == 1 ? x % 50 : x % 7 == 2 ? (x % 50) / 1 " \
	": x % 7 == 3 ? \"\" : \"a key that does not lie inside the items of a table \" ++ str(x % 90), " \
	"v: x % 11 == 0 ? null : x % 2 == 0 ? x % 13 : (x % 13) / 4, t: str(x % 17)}"

static void
lanes_same(const char *text)
{
	struct buf alone = { 0 };

	spec_print(text, 1, UINT32_MAX, &alone);
	assert_true(alone.len);
	for (uint32_t threads = GROUP_BY_LANES_LEAST; threads <= GROUP_BY_LANES_MOST + 1; threads += 5) {
		struct buf together = { 0 };

		spec_print(text, threads, UINT32_MAX, &together);
		if (together.len != alone.len || memcmp(together.data, alone.data, alone.len))
			fail_msg("%s: %u threads give something else than one", text, threads);
		buf_clear(&together);
	}
	buf_clear(&alone);
}

static void
lanes_give_keys_in_the_order_of_one_table(void **state)
{
	(void)state;
	lanes_same(MIXED " | group_by .k n=count()");
	lanes_same(MIXED " | group_by .t");
	lanes_same("range 100000 | group_by hash(x) % 30011 n=count() last=last(x)");
}

static void
lanes_give_the_aggregates_of_one_table(void **state)
{
	(void)state;
	lanes_same(MIXED " | group_by .k n=count() with=count(.v) without=nulls(.v) d=distinct(.v) s=sum(.v) m=mean(.v) "
		   "dev=stddev(.v) lo=min(.v) hi=max(.v) a=first(.t) z=last(.t) all=list(.t) q=quantile(.v, 0.9)");
}

static void
lanes_without_elements_give_no_group(void **state)
{
	struct buf b = { 0 };

	(void)state;
	spec_print("range 0 | group_by x n=count()", 3, UINT32_MAX, &b);
	assert_string_equal((char *)b.data, ".");
	buf_clear(&b);
}

static void
lanes_take_elements_larger_than_a_batch(void **state)
{
	(void)state;
	lanes_same("range 40 | map {k: x % 3, v: pad(x, 200000)} | group_by .k n=count() hi=max(.v)");
}

static void
lanes_fail_where_one_table_fails(void **state)
{
	static const char bad[] = "range 9000 | map {k: x % 5, v: parse_json(x == 8000 ? \"[]\" : str(x))} "
		"| group_by .k s=sum(.v)";
	struct buf alone = { 0 }, together = { 0 };

	(void)state;
	spec_print(bad, 1, UINT32_MAX, &alone);
	spec_print(bad, 4, UINT32_MAX, &together);
	assert_string_equal((char *)alone.data, "!");
	assert_string_equal((char *)together.data, "!");
	buf_clear(&alone);
	buf_clear(&together);
}

/* Values at hand, in the order of the calls: what is read again is what was written. */
static void
written_values_are_read_again(void **state)
{
	static const char *const values[] = { "", "seven b", "a value of more than thirty-two bytes, for good measure" };
	struct aggregate from[5] = { 0 }, to[5] = { 0 };
	struct aggregates a = { .v = from, .n = 5 }, b = { .v = to, .n = 5 };
	uint8_t *p;

	(void)state;
	for (size_t k = 0; k < 5; k++)
		from[k].group = to[k].group = k;
	/* The second has no argument; the fourth shares the value of the third. */
	from[3].group = to[3].group = 2;
	for (size_t k = 0, v = 0; k < 5; k++) {
		from[k].by_value = to[k].by_value = k != 1;
		if (k == 1 || k == 3)
			continue;
		from[k].p = (const uint8_t *)values[v];
		from[k].len = strlen(values[v++]);
	}
	size_t size = aggregates_row_size(&a);
	assert_int_equal(size, 3 * sizeof(uint32_t) + strlen(values[1]) + strlen(values[2]));
	p = mem_alloc(size + 1);
	p[size] = 0xa5;
	aggregates_write(&a, p);
	assert_int_equal(p[size], 0xa5);
	aggregates_read(&b, p);
	for (size_t k = 0; k < 5; k++) {
		assert_int_equal(to[k].len, from[k].len);
		if (from[k].p)
			assert_memory_equal(to[k].p, from[k].p, from[k].len);
		else
			assert_null(to[k].p);
	}
	mem_free(p);
}

