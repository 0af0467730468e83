/* SPDX-License-Identifier: MIT
 *
 * A chain that passes over elements goes on with those behind them: at any places, whole and by split, also when its
 * state is saved there; and one that cannot says so and gives all.
 */
#include "file_help.h"

#include "base/rng.h"
#include "op/pull.h"
#include "plan_help.h"
#include "value/mp.h"

#define GROUP_SETUP pass_setup
#define GROUP_TEARDOWN file_teardown

enum { ROWS = 8000, NUMBERS = 64, SPLITS = 3, TIMES = 60 };

/* Row k of the file is the number k, repeated. */
static int
pass_setup(void **state)
{
	static const char head[] = "{'descr': '<i8', 'fortran_order': False, 'shape': (8000, 64), }";
	struct buf b = { 0 };
	int64_t row[NUMBERS];

	if (file_setup(state) != 0)
		return -1;
	buf_put(&b, "\x93NUMPY\x01\0\x76\0", 10);
	buf_printf(&b, "%-117s\n", head);
	for (int64_t k = 0; k < ROWS; k++) {
		for (int i = 0; i < NUMBERS; i++)
			row[i] = k;
		buf_put(&b, row, sizeof row);
	}
	file_put("rows.npy", b.data, b.len);
	file_put_packed("rows.npy.gz", ARCHIVE_FILTER_GZIP, b.data, b.len);
	buf_clear(&b);
	return 0;
}

/* The file in byte ranges that end anywhere. */
static enum status
pass_split(void *arg, struct split *out, struct err *e)
{
	static const uint64_t ends[] = { 0, 1000123, 2500000, 1 << 30 };
	size_t *k = arg;

	(void)e;
	if (*k == SPLITS)
		return ST_END;
	*out = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup("rows.npy"), .times = 1, .start = ends[*k],
		.count = ends[*k + 1] - ends[*k] };
	++*k;
	return ST_OK;
}

/* Pulls and passes over in turn, of a spec that gives each row's number; the first element of each run is looked at.
 * Gives how many elements were passed over. */
static uint64_t
pass_some(const char *spec, bool by_split, struct rng *r)
{
	struct plan *p = plan_from(spec);
	size_t k = 0;
	struct op_ctx ctx = { .threads = 1, .arg = &k, .next_split = by_split ? pass_split : NULL };
	uint64_t at = 0, passed = 0;
	struct op_inst *i;
	struct run *run;
	struct err e = { 0 };
	enum status st;

	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	while ((st = op_pull(i, &run, &e)) == ST_OK) {
		uint8_t want[MP_INT_MAX];

		assert_int_equal(run->e[0].len, mp_put_uint(want, at) - want);
		assert_memory_equal(run->e[0].p, want, run->e[0].len);
		at += run->n;
		uint64_t wanted = rng_below(r, 5000), got = op_pass(i, wanted);
		assert_true(got <= wanted);
		at += got;
		passed += got;
		if (!by_split && rng_below(r, 3) == 0) {
			struct buf state = { 0 };

			assert_true(op_state_save(i, &state));
			op_close(&i);
			assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
			assert_int_equal(op_state_restore(i, state.data, state.len, &e), ST_OK);
			buf_clear(&state);
		}
	}
	assert_int_equal(st, ST_END);
	assert_int_equal(at, ROWS);
	op_close(&i);
	plan_free(&p);
	return passed;
}

static void
elements_behind_those_passed_over_follow(void **state)
{
	struct rng r = { .key = 7 };
	uint64_t whole = 0, split = 0;

	(void)state;
	for (int k = 0; k < TIMES; k++) {
		whole += pass_some("npy rows.npy | map x[0]", false, &r);
		split += pass_some("npy rows.npy | map {a: x} | map .a[0]", true, &r);
	}
	assert_true(whole > TIMES * ROWS / 4 && split > TIMES * ROWS / 4);
}

static void
where_elements_depend_on_others_all_are_made(void **state)
{
	static const char *const specs[] = { "npy rows.npy.gz | map x[0]", "npy rows.npy | filter true | map x[0]",
		"npy rows.npy | map i", "npy rows.npy | map x[0] on_error=skip", "npy rows.npy on_error=skip | map x[0]",
		"npy rows.npy | prefetch 4 | map x[0]", "npy rows.npy | take 100000 | map x[0]",
		"npy rows.npy | map x[0] + int(rand() * 0)", "range 8000" };
	struct rng r = { .key = 8 };

	(void)state;
	for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
		assert_int_equal(pass_some(specs[k], false, &r), 0);
}
