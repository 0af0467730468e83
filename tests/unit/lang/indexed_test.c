/* SPDX-License-Identifier: MIT
 *
 * Reading by index: one order, whole or in parts.
 */
#include <stdlib.h>
#include <unistd.h>

#include "lang_help.h"
#include "op/op.h"
#include "op/facts.h"
#include "op/pull.h"
#include "value/mp.h"

struct part {
	struct split split;
	bool given;
};

static enum status
part_next(void *arg, struct split *out, struct err *e)
{
	struct part *p = arg;

	(void)e;
	if (p->given)
		return ST_END;
	p->given = true;
	split_copy(out, &p->split);
	return ST_OK;
}

/* Adds what the plan gives to v; ints only. Returns how it ended. */
static enum status
indexed_read(const struct plan *plan, struct op_ctx *ctx, int64_t *v, size_t *n, size_t cap, struct err *e)
{
	struct op_inst *chain;
	struct elem x;
	enum status st = op_open(plan->top, ctx, &chain, e);

	while (st == ST_OK && (st = op_next(chain, &x, e)) == ST_OK) {
		struct mp m;

		assert_true(*n < cap);
		assert_non_null(mp_head(x.p, x.p + x.len, &m));
		v[(*n)++] = m.i;
	}
	op_close(&chain);
	return st;
}

static size_t
indexed_whole(const char *spec, uint64_t seed, uint32_t stream, int64_t *v, size_t cap)
{
	struct op_ctx ctx = { .seed = seed, .stream = stream, .draws_as = stream };
	struct plan *plan = help_plan(spec);
	struct err e = { 0 };
	size_t n = 0;

	assert_int_equal(indexed_read(plan, &ctx, v, &n, cap, &e), ST_END);
	plan_free(&plan);
	return n;
}

static int
indexed_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void
each_element_comes_once(void **state)
{
	static int64_t v[4000];
	char spec[64];

	(void)state;
	for (int n = 0; n <= 2100; n += n < 2000 ? 1 : 7) {
		snprintf(spec, sizeof spec, "range %d | shuffle all", n);
		assert_int_equal(indexed_whole(spec, (uint64_t)n, 0, v, 4000), n);
		qsort(v, (size_t)n, sizeof *v, indexed_compare);
		for (int i = 0; i < n; i++)
			assert_int_equal(v[i], i);
	}
}

static void
seed_stream_and_place_make_the_order(void **state)
{
	static int64_t a[1000], b[1000];

	(void)state;
	assert_int_equal(indexed_whole("range 1000 | shuffle all", 1, 0, a, 1000), 1000);
	indexed_whole("range 1000 | shuffle all", 1, 0, b, 1000);
	assert_memory_equal(a, b, sizeof a);
	indexed_whole("range 1000 | shuffle all", 2, 0, b, 1000);
	assert_memory_not_equal(a, b, sizeof a);
	/* Read whole by several, each has its own. */
	indexed_whole("range 1000 | shuffle all", 1, 1, b, 1000);
	assert_memory_not_equal(a, b, sizeof a);
	indexed_whole("range 1000 | shuffle all seed=8", 1, 0, a, 1000);
	indexed_whole("range 1000 | shuffle all seed=8", 2, 0, b, 1000);
	assert_memory_equal(a, b, sizeof a);
}

/* The units cut into parts, each read by another stream, are what is read in one piece. */
static void
parts_make_the_whole(void **state)
{
	static const char *const specs[] = {
		"range 1 | shuffle all", "range 5000 | shuffle all | map x + 1",
		"range 700 | shuffle all | repeat 5", "range 900 | shuffle all reshuffle=false | repeat 3",
		"range 9000 | skip 10 | take 3000 | shard 3 1 | repeat 2 | shuffle all | repeat 2",
		"concat (range 70 | map x * 2) (elements [9, 8]) (range 0) (random 100) | shuffle all",
		"zip (range 3000) (counter 5) | map x[0] * x[1] | shuffle all",
		"range 3000 | enumerate 4 | map x[0] * x[1] | filter x % 3 > 0 | shuffle all | repeat 2",
		"range 100 | prefetch 3 | shuffle all",
		"range 2800 | batch 700 | shuffle all | repeat 2 | unbatch",
		"range 3010 | batch 3 drop_remainder=true | take 900 | batch 2 | skip 1 | enumerate | shuffle all "
		"| map x[0] * x[1][1][2]",
		"concat (range 999 | batch 3) (range 3000 7000 | repeat 2 | padded_batch 4) | shuffle all | unbatch",
	};
	static int64_t a[20000], b[20000];

	(void)state;
	for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
		size_t n = indexed_whole(specs[k], 77, 0, a, 20000), m = 0;
		struct plan *plan = help_plan(specs[k]);
		struct split_list units = { 0 };
		struct err e = { 0 };

		assert_true(op_can_split(plan->top));
		assert_int_equal(op_list_splits(plan->top, &units, &e), ST_OK);
		assert_int_equal(units.n, 1);
		assert_int_equal(op_split_times(plan->top), 1);
		for (uint64_t at = 0, size = 1; at < units.v[0].count; at += size, size += 190) {
			struct part p = { .split = units.v[0] };
			struct op_ctx ctx = { .seed = 77, .stream = (uint32_t)at, .draws_as = (uint32_t)at, .arg = &p,
					      .next_split = part_next };

			if (size > units.v[0].count - at)
				size = units.v[0].count - at;
			p.split.start = at;
			p.split.count = size;
			assert_int_equal(indexed_read(plan, &ctx, b, &m, 20000, &e), ST_END);
		}
		assert_int_equal(m, n);
		assert_memory_equal(a, b, n * sizeof *a);
		split_list_clear(&units);
		plan_free(&plan);
	}
}

static void
each_pass_has_its_own_order(void **state)
{
	static int64_t v[4000], sorted[1000];
	size_t n = indexed_whole("range 1000 | shuffle all | repeat 4", 3, 0, v, 4000);

	(void)state;
	assert_int_equal(n, 4000);
	for (int pass = 0; pass < 4; pass++) {
		memcpy(sorted, v + pass * 1000, sizeof sorted);
		qsort(sorted, 1000, sizeof *sorted, indexed_compare);
		for (int i = 0; i < 1000; i++)
			assert_int_equal(sorted[i], i);
		for (int before = 0; before < pass; before++)
			assert_memory_not_equal(v + pass * 1000, v + before * 1000, sizeof sorted);
	}
	indexed_whole("range 1000 | shuffle all reshuffle=false | repeat 2", 3, 0, v, 4000);
	assert_memory_equal(v, v + 1000, sizeof sorted);
}

/* A split that was cut when the source had another length is part of another order. */
static void
a_split_of_another_order_is_refused(void **state)
{
	struct part p = { .split = { .kind = SPLIT_RANGE, .of = 11, .count = 5, .times = 1 } };
	struct op_ctx ctx = { .arg = &p, .next_split = part_next };
	struct plan *plan = help_plan("range 10 | shuffle all");
	struct err e = { 0 };
	int64_t v[10];
	size_t n = 0;

	(void)state;
	assert_int_equal(indexed_read(plan, &ctx, v, &n, 10, &e), ST_DATA);
	assert_non_null(strstr(e.text, "has 10 elements now, and had 11"));
	assert_int_equal(n, 0);
	plan_free(&plan);
}

static void
assert_weighs(const char *spec, uint64_t of, uint64_t weight)
{
	struct plan *plan = help_plan(spec);
	struct split_list units = { 0 };
	struct err e = { 0 };

	assert_int_equal(op_list_splits(plan->top, &units, &e), ST_OK);
	assert_int_equal(units.n, 1);
	assert_int_equal(units.v[0].of, of);
	assert_int_equal(units.v[0].weight, weight);
	split_list_clear(&units);
	plan_free(&plan);
}

/* Sizes of splits are worked out from it: few large elements are as much as many small. */
static void
an_order_weighs_what_its_files_do(void **state)
{
	char name[] = "/tmp/dsvc-indexed-XXXXXX", spec[200];
	int fd = mkstemp(name);

	(void)state;
	assert_int_equal(ftruncate(fd, 6000000), 0);
	close(fd);
	assert_weighs("range 5000 | shuffle all", 5000, 0);
	snprintf(spec, sizeof spec, "bytes 60000 %s | take 10 | shuffle all | repeat 2", name);
	assert_weighs(spec, 10, 600000);
	snprintf(spec, sizeof spec, "files %s %s | shuffle all", name, name);
	assert_weighs(spec, 2, 12000000);
	assert_int_equal(truncate(name, 3), 0);
	assert_weighs(spec, 2, 2 * (4 << 20));
	unlink(name);
}
