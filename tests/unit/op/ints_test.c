/* SPDX-License-Identifier: MIT */
#include "source_help.h"

#include "base/rng.h"
#include "op/kit/ints.h"
#include "op/state.h"
#include "op/pull.h"
#include "value/mp.h"

extern const struct op_desc op_range, op_counter, op_random, op_elements;

static void
counts_are_exact_at_the_limits(void **state)
{
	(void)state;
	assert_true(ints_count(0, 10, 1) == 10);
	assert_true(ints_count(0, 10, 3) == 4);
	assert_true(ints_count(10, 0, -3) == 4);
	assert_true(ints_count(0, 0, 1) == 0);
	assert_true(ints_count(5, 0, 1) == 0);
	assert_true(ints_count(0, 5, -1) == 0);
	assert_true(ints_count(INT64_MIN, INT64_MAX, 1) == UINT64_MAX);
	assert_true(ints_count(INT64_MAX, INT64_MIN, -1) == UINT64_MAX);
	assert_true(ints_count(INT64_MAX, INT64_MIN, INT64_MIN) == 2);
	assert_true(ints_count(INT64_MIN, INT64_MAX, INT64_MAX) == 3);
}

/* Against mp_put_int, number by number, around every length's border. */
static void
filled_runs_are_what_single_numbers_give(void **state)
{
	static const int64_t at[] = { 0, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296,
				      -1, -32, -33, -128, -129, -32768, -32769, INT32_MIN,
				      (int64_t)INT32_MIN - 1, INT64_MAX - 500 * 40, INT64_MIN + 500 * 40 };
	static const int64_t steps[] = { 1, -1, 7, -7, 39, -39, 0 };

	(void)state;
	for (size_t a = 0; a < sizeof at / sizeof *at; a++)
		for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
			struct run r;
			uint32_t n = 512;
			int64_t first = steps[k] > 0 && at[a] < INT64_MAX - 40000 && at[a] > INT64_MIN + 40000
				? at[a] - steps[k] * 100 : at[a];

			run_init(&r);
			ints_fill(&r, first, steps[k], n, 5);
			assert_int_equal(r.n, n);
			for (uint32_t i = 0; i < n; i++) {
				uint8_t want[MP_INT_MAX];
				size_t len = (size_t)(mp_put_int(want, first + steps[k] * i) - want);

				assert_int_equal(r.e[i].len, len);
				assert_memory_equal(r.e[i].p, want, len);
				assert_int_equal(r.e[i].pos, 5 + i);
			}
			assert_int_equal(r.arena->len, run_bytes(&r));
			run_clear(&r);
		}
}

/* Against the list of the same indices, across borders of length and where a step overflows. */
static void
numbers_at_even_distances_are_those_of_their_indices(void **state)
{
	static const int64_t starts[] = { 0, 100, 65000, -40, -70000, INT64_MIN + 50000 };
	static const int64_t steps[] = { 1, -1, 30, INT64_MAX };

	(void)state;
	for (size_t a = 0; a < 6; a++)
		for (size_t b = 0; b < 4; b++) {
			uint32_t n = 512;
			uint64_t index[512];
			struct run r, want;

			run_init(&r);
			run_init(&want);
			for (uint32_t k = 0; k < n; k++)
				index[k] = 1 + k * 3;
			ints_pick(&want, starts[a], steps[b], index, n);
			ints_every(&r, starts[a], steps[b], 1, 3, &n);
			assert_int_equal(n, steps[b] == INT64_MAX ? 1 : 512);
			assert_int_equal(r.n, n);
			for (uint32_t k = 0; k < n; k++) {
				assert_int_equal(r.e[k].len, want.e[k].len);
				assert_memory_equal(r.e[k].p, want.e[k].p, r.e[k].len);
				assert_int_equal(r.e[k].pos, want.e[k].pos);
			}
			run_clear(&r);
			run_clear(&want);
		}
}

static void
range_counts_as_it_is_told(void **state)
{
	(void)state;
	src_expect(&op_range, "3", "0\n1\n2\n");
	src_expect(&op_range, "0", "");
	src_expect(&op_range, "2 5", "2\n3\n4\n");
	src_expect(&op_range, "5 2", "");
	src_expect(&op_range, "5 -2 -3", "5\n2\n-1\n");
	src_expect(&op_range, "9223372036854775805 9223372036854775807",
		   "9223372036854775805\n9223372036854775806\n");
	src_expect(&op_range, "-9223372036854775806 -9223372036854775807 -1", "-9223372036854775806\n");
	src_expect_fault(&op_range, "1 2 0", "", ST_DATA, "step=0");
}

static void
range_splits_give_each_number_once(void **state)
{
	(void)state;
	for (uint64_t size = 1; size < 9; size++) {
		struct buf got = { 0 };

		for (uint64_t at = 0; at < 7; at += size) {
			struct src s;

			src_init(&s, &op_range, "-3 18 3");
			s.has_split = true;
			s.split = (struct split){ .kind = SPLIT_RANGE, .start = at, .count = size, .times = 1 };
			assert_int_equal(src_all(&s, &got), ST_END);
			src_clear(&s);
		}
		assert_string_equal((char *)got.data, "-3\n0\n3\n6\n9\n12\n15\n");
		buf_clear(&got);
	}
}

static void
a_range_without_end_of_memory_runs(void **state)
{
	struct src s;
	struct buf got = { 0 };
	struct split_list l = { 0 };

	(void)state;
	src_init(&s, &op_range, "-9223372036854775808 9223372036854775807");
	assert_true(op_range.cardinality(&s.node, NULL) == INT64_MAX);
	assert_int_equal(op_range.list(&s.node, &l, &s.e), ST_OK);
	assert_true(l.n == 1 && l.v[0].count == INT64_MAX && l.v[0].cuttable);
	split_list_clear(&l);
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(src_read(&s, &got, 2), ST_OK);
	assert_string_equal((char *)got.data, "-9223372036854775808\n-9223372036854775807\n");
	src_clear(&s);
	buf_clear(&got);
}

static void
a_wrong_split_is_refused(void **state)
{
	static char name[] = "x";
	struct split bad[] = {
		{ .kind = SPLIT_RANGE, .start = 11, .count = 1, .times = 1 },
		{ .kind = SPLIT_FILE, .path = name, .times = 1 },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct src s;
		struct buf got = { 0 };

		src_init(&s, &op_range, "10");
		s.has_split = true;
		split_copy(&s.split, &bad[i]);
		assert_int_equal(src_all(&s, &got), ST_PROTO);
		src_clear(&s);
		buf_clear(&got);
	}
}

static void
counter_ends_in_an_error_and_never_wraps(void **state)
{
	struct src s;
	struct buf got = { 0 };

	(void)state;
	src_expect_fault(&op_counter, "9223372036854775800 5",
			 "9223372036854775800\n9223372036854775805\n", ST_DATA, "largest");
	src_expect_fault(&op_counter, "-9223372036854775807 -1",
			 "-9223372036854775807\n-9223372036854775808\n", ST_DATA, "smallest");
	src_init(&s, &op_counter, "7 0");
	assert_int_equal(src_open(&s), ST_OK);
	assert_int_equal(src_read(&s, &got, 3), ST_OK);
	assert_string_equal((char *)got.data, "7\n7\n7\n");
	src_clear(&s);
	buf_clear(&got);
}

static void
random_numbers_belong_to_their_index(void **state)
{
	struct src s;
	struct buf whole = { 0 }, parts = { 0 }, other = { 0 };

	(void)state;
	src_init(&s, &op_random, "2000 seed=7 min=-5 max=1_000_000");
	assert_int_equal(src_all(&s, &whole), ST_END);
	src_clear(&s);
	for (uint64_t at = 0; at < 2000; at += 700) {
		src_init(&s, &op_random, "2000 seed=7 min=-5 max=1_000_000");
		s.has_split = true;
		s.ctx.stream = (uint32_t)at; /* whoever reads it */
		s.split = (struct split){ .kind = SPLIT_RANGE, .start = at, .count = 700, .times = 1 };
		assert_int_equal(src_all(&s, &parts), ST_END);
		src_clear(&s);
	}
	assert_string_equal((char *)parts.data, (char *)whole.data);
	src_init(&s, &op_random, "2000 seed=8 min=-5 max=1_000_000");
	assert_int_equal(src_all(&s, &other), ST_END);
	src_clear(&s);
	assert_true(strcmp((char *)other.data, (char *)whole.data) != 0);
	buf_clear(&whole);
	buf_clear(&parts);
	buf_clear(&other);
}

static void
random_numbers_keep_to_their_limits(void **state)
{
	struct src s;
	struct elem x;
	uint32_t seen[6] = { 0 };

	(void)state;
	src_init(&s, &op_random, "6000 seed=1 min=-3 max=3");
	assert_int_equal(src_open(&s), ST_OK);
	while (op_next(s.inst, &x, &s.e) == ST_OK) {
		struct mp m;

		assert_non_null(mp_head(x.p, x.p + x.len, &m));
		assert_in_range(m.i + 3, 0, 5);
		seen[m.i + 3]++;
	}
	for (int i = 0; i < 6; i++)
		assert_in_range(seen[i], 850, 1150);
	src_clear(&s);
	src_expect_fault(&op_random, "3 min=4 max=4", "", ST_DATA, "no number");
}

static void
elements_init(struct src *s, const char *bytes, size_t n)
{
	const struct param *row = op_elements.params;

	src_init(s, &op_elements, "");
	buf_put((struct buf *)((char *)s->node.params + row->offset), bytes, n);
}

static void
elements_gives_the_items_and_their_type(void **state)
{
	static const char list[] = "\x93\x01\xa1x\x92\x02\x03";
	struct types *arena = types_new();
	struct op_typing t = { .arena = arena };
	const struct type *type;
	struct split_list l = { 0 };
	struct buf got = { 0 };
	struct src s;

	(void)state;
	elements_init(&s, list, 7);
	assert_int_equal(op_elements.typing(&s.node, &t, &type, &s.e), ST_OK);
	assert_int_equal(type->kind, TYPE_ANY);
	assert_int_equal(op_elements.list(&s.node, &l, &s.e), ST_OK);
	assert_true(l.n == 1 && l.v[0].count == 3);
	split_list_clear(&l);
	assert_int_equal(src_all(&s, &got), ST_END);
	assert_string_equal((char *)got.data, "1\nx\n[2,3]\n");
	src_clear(&s);
	elements_init(&s, "\x92\x01\x02", 3);
	assert_int_equal(op_elements.typing(&s.node, &t, &type, &s.e), ST_OK);
	assert_int_equal(type->kind, TYPE_INT);
	src_clear(&s);
	elements_init(&s, "\x90", 1);
	assert_int_equal(op_elements.typing(&s.node, &t, &type, &s.e), ST_OK);
	assert_int_equal(type->kind, TYPE_ANY);
	src_clear(&s);
	elements_init(&s, "\x05", 1);
	assert_int_equal(op_elements.typing(&s.node, &t, &type, &s.e), ST_DATA);
	src_clear(&s);
	types_free(&arena);
	buf_clear(&got);
}

static void
elements_splits_by_index(void **state)
{
	struct buf got = { 0 };

	(void)state;
	for (uint64_t i = 5; i-- > 0;) {
		struct src s;

		elements_init(&s, "\x95\x01\xa2hi\x03\xc0\x05", 8);
		s.has_split = true;
		s.split = (struct split){ .kind = SPLIT_RANGE, .start = i, .count = 1, .times = 1 };
		assert_int_equal(src_all(&s, &got), ST_END);
		src_clear(&s);
	}
	assert_string_equal((char *)got.data, "5\nnull\n3\nhi\n1\n");
	buf_clear(&got);
}

static void
positions_are_saved_and_restored(void **state)
{
	struct split part = { .kind = SPLIT_RANGE, .start = 100, .count = 900, .times = 1 };

	(void)state;
	src_expect_resumes(&op_range, "700", NULL);
	src_expect_resumes(&op_range, "2000 -3000 -2", &part);
	src_expect_resumes(&op_random, "600 seed=3", NULL);
}

static void
a_position_of_another_place_is_refused(void **state)
{
	static const uint8_t bad[][2] = { { 0xc1 }, { 0xff }, { 11 }, { 1, 1 } };
	static const size_t len[] = { 1, 1, 1, 2 };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct src s;

		src_init(&s, &op_range, "10");
		assert_int_equal(src_open(&s), ST_OK);
		assert_int_equal(state_rows_restore(s.inst, bad[i], len[i], &s.e), ST_PROTO);
		src_clear(&s);
	}
}
