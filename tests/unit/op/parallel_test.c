/* SPDX-License-Identifier: MIT
 *
 * map, filter and flat_map with parallel=N give what they give without: the
 * same elements, the same failures and the same end, from any saved state.
 */
#include "parallel_help.h"

#include <unistd.h>

#include "pooled_help.h"
#include "op/pull.h"

#define GROUP_SETUP handed_over
#define GROUP_SETUP_2 as_it_pays
#define GROUP_TEARDOWN file_teardown

static const char *const par_ops[] = {
	"map x * x + i", "map x + rand()", "map {n: x, i: i}", "map str(x) ~ /7/ ? skip() : x",
	"map x % 97 == 96 ? fail(\"ninety-six\") : x", "map x % 3 == 0 ? fail(\"three\") : i",
	"filter x % 3 == i % 2", "filter rand() < 0.3", "filter x % 501 != 500 or fail(\"no\") == 1",
	"flat_map [x, i, rand()]", "flat_map x % 2 == 0 ? [] : [x]",
	"flat_map x % 53 == 52 ? fail(\"fifty-two\") : [x, -x]",
	"flat_map x % 400 == 7 ? sorted([1,2,3,4,5,6,7,8,9,10]) : [i]",
	"map {n: x, text: pad(\"abc\", 3000)}",
};
static const char *const par_policies[] = { "", " on_error=skip", " on_error=keep", " on_error=retry:2" };

static const char *const par_many[] = { "2", "4", "auto" };

/* A random chain; parallel where `spec` is, without in `plain`. */
static void
par_spec(struct rng *r, char *spec, char *plain, size_t size)
{
	unsigned n = 1 + (unsigned)(rng_next(r) % 2);
	size_t a, b;

	a = b = (size_t)snprintf(spec, size, "range %u%s", (unsigned)(rng_next(r) % 4000),
				 rng_next(r) % 2 ? "" : " | filter x % 5 != 1");
	memcpy(plain, spec, a + 1);
	while (n--) {
		const char *op = par_ops[rng_next(r) % (sizeof par_ops / sizeof *par_ops)];
		const char *policy = par_policies[rng_next(r) % 4];

		/* operators that make other values than numbers come last */
		b += (size_t)snprintf(plain + b, size - b, " | %s%s", op, policy);
		a += (size_t)snprintf(spec + a, size - a, " | %s%s parallel=%s", op, policy,
				      par_many[rng_next(r) % 3]);
		if (strchr(op, '{') || strstr(op, "rand"))
			break;
	}
}

static void
it_gives_what_one_thread_gives(void **state)
{
	struct rng r = { .key = 11 };

	(void)state;
	for (unsigned k = 0; k < 150; k++) {
		char spec[512], plain[512];
		struct buf want = { 0 }, got = { 0 };
		struct told a = { 0 }, b = { 0 };

		par_spec(&r, spec, plain, sizeof spec);
		par_run(plain, &want, &a);
		par_run(spec, &got, &b);
		if (want.len != got.len || (want.len && memcmp(want.data, got.data, want.len)))
			fail_msg("%s: differs from %s", spec, plain);
		/* the first of two may be ahead of the place where the second ends */
		if (!strstr(strstr(spec, "parallel=") + 1, "parallel=")) {
			assert_int_equal(a.n, b.n);
			if (a.n)
				assert_string_equal((char *)a.text.data, (char *)b.text.data);
		}
		buf_clear(&want);
		buf_clear(&got);
		buf_clear(&a.text);
		buf_clear(&b.text);
	}
}

static void
unordered_it_gives_the_same_elements(void **state)
{
	struct told t = { 0 };
	struct buf want = { 0 }, got = { 0 };

	(void)state;
	par_run("range 9000 | map x + rand() | flat_map [x, i]", &want, &t);
	par_sort(&want);
	for (unsigned k = 0; k < 10; k++) {
		buf_reset(&got);
		par_run("range 9000 | map x + rand() parallel=3 ordered=true"
			" | flat_map [x, i] parallel=4 ordered=false", &got, &t);
		par_sort(&got);
		assert_string_equal((char *)want.data, (char *)got.data);
	}
	buf_clear(&want);
	buf_clear(&got);
}

/* Each failure is told once, of the line that it is of, whoever came first. */
static void
unordered_failures_are_told_once_each(void **state)
{
	char plain[256], spec[320];
	struct buf want = { 0 }, got = { 0 };
	FILE *f = fopen("numbers.txt", "w");

	(void)state;
	for (unsigned k = 0; k < 5000; k++)
		fprintf(f, "%u\n", k * 7);
	fclose(f);
	for (unsigned k = 0; k < 24; k++) {
		static const char *const ops[] = {
			"map int(x) % 97 == 96 ? fail(x) : int(x) + i", "filter int(x) % 41 != 3 or fail(x) == 1",
			"flat_map int(x) % 53 == 52 ? fail(x) : [i, x]", "map parse_json(x ++ (i % 3 == 0 ? \"{\" : \"\"))",
		};
		struct told a = { 0 }, b = { 0 };

		snprintf(plain, sizeof plain, "lines numbers.txt | %s on_error=%s", ops[k % 4],
			 k % 8 < 4 ? "skip" : "keep");
		snprintf(spec, sizeof spec, "%s parallel=%s ordered=false", plain, par_many[k / 8]);
		buf_reset(&want);
		buf_reset(&got);
		par_run(plain, &want, &a);
		par_run(spec, &got, &b);
		assert_true(a.n > 40);
		assert_int_equal(a.n, b.n);
		par_sort(&want);
		par_sort(&got);
		par_sort(&a.text);
		par_sort(&b.text);
		assert_string_equal((char *)want.data, (char *)got.data);
		assert_string_equal((char *)a.text.data, (char *)b.text.data);
		assert_non_null(strstr((char *)b.text.data, "numbers.txt:"));
		buf_clear(&a.text);
		buf_clear(&b.text);
	}
	buf_clear(&want);
	buf_clear(&got);
}

/* With retry:N an element is tried again, and told once. */
static void
unordered_an_element_that_is_retried_is_told_once(void **state)
{
	struct told t = { 0 };
	struct buf got = { 0 };

	(void)state;
	par_run("range 3000 | map x == 700 ? fail(\"no\") : x on_error=retry:3 parallel=4 ordered=false", &got, &t);
	assert_int_equal(t.n, 1);
	assert_non_null(strstr((char *)got.data, "! "));
	buf_clear(&got);
	buf_clear(&t.text);
}

/* A stream that another worker may have to make again is the same each time. */
static void
what_is_to_be_repeatable_keeps_its_order(void **state)
{
	struct buf want = { 0 }, got = { 0 };
	struct told t = { 0 };

	(void)state;
	par_run("range 9000 | map x * 3", &want, &t);
	for (unsigned k = 0; k < 5; k++) {
		struct op_ctx ctx = { .seed = 5, .repeatable = true };
		struct plan *p = plan_from("range 9000 | map x * 3 parallel=4 ordered=false");
		struct op_inst *i;
		struct err e = { 0 };

		assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
		buf_reset(&got);
		par_rest(i, &got);
		op_close(&i);
		plan_free(&p);
		assert_string_equal((char *)want.data, (char *)got.data);
	}
	buf_clear(&want);
	buf_clear(&got);
}

static const char *const par_saved[] = {
	"range 20000 | map x * x + i parallel=2", "range 9000 | map x + rand() parallel=3",
	"range 5000 | filter rand() < 0.5 parallel=2",
	"range 700 | flat_map [x, i, rand(), 1, 2, 3, 4, 5, 6, 7, 8, 9] parallel=2",
	"range 3000 | map x % 7 == 3 ? fail(\"no\") : x on_error=keep parallel=2 | batch 7",
	"range 500 | map {n: x, text: pad(\"abc\", 60000)} parallel=2 | map .n",
	"range 300 | flat_map [x] parallel=2 | repeat 3 | filter x % 2 == 0 parallel=2",
	"range 200 | map [0, 0, 0, 0, 0, 0, 0, x] | batch 200 | flat_map x parallel=2",
};

static void
saved_anywhere_it_goes_on(void **state)
{
	struct rng r = { .key = 3 };

	(void)state;
	for (size_t k = 0; k < sizeof par_saved / sizeof *par_saved; k++) {
		struct plan *p = plan_from(par_saved[k]);
		struct buf want = { 0 };
		struct told t = { 0 };

		par_run(par_saved[k], &want, &t);
		uint64_t n = 0;
		for (size_t b = 0; b < want.len; b++)
			n += want.data[b] == '\n';
		assert_true(par_resume(p, 0, &want, false));
		assert_true(par_resume(p, n, &want, false));
		for (unsigned turn = 0; turn < 6; turn++)
			assert_true(par_resume(p, rng_next(&r) % (n + 1), &want, false));
		buf_clear(&want);
		buf_clear(&t.text);
		plan_free(&p);
	}
}

static void
a_false_state_is_refused(void **state)
{
	(void)state;
	par_false_states("range 3000 | flat_map [x, x] parallel=2", 80);
}

static void
a_chain_is_closed_in_its_middle(void **state)
{
	struct op_ctx ctx = { .seed = 5 };
	struct plan *p = plan_from("counter | map x * 2 parallel=3 | flat_map [x, x] parallel=2 | prefetch");
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;

	(void)state;
	for (unsigned k = 0; k < 60; k++) {
		assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
		for (unsigned n = 0; n < k * 50; n++)
			assert_int_equal(op_next(i, &x, &e), ST_OK);
		op_close(&i);
	}
	plan_free(&p);
}

static void
stop_ends_it(void **state)
{
	static const char *const specs[] = {
		"counter | filter x < 0 parallel=2",
		"counter | filter x < 0 | map x parallel=2", /* whoever pulls */
		"counter | filter x < 0 | map x parallel=2 | filter x > 0 parallel=2 ordered=false",
	};

	(void)state;
	for (unsigned k = 0; k < 9; k++)
		par_stopped(specs[k % 3]);
}

static void
the_first_error_of_the_input_ends_it(void **state)
{
	struct told t = { 0 };
	struct buf got = { 0 };

	(void)state;
	for (unsigned k = 0; k < 20; k++) {
		buf_reset(&got);
		buf_reset(&t.text);
		par_run("range 9000 | map x >= 1500 ? fail(str(x)) : x parallel=4 | reduce 0 s + 1", &got, &t);
		assert_non_null(strstr((char *)t.text.data, "(1500)"));
		assert_null(strstr((char *)t.text.data, "(1501)"));
	}
	buf_clear(&got);
	buf_clear(&t.text);
}

static void
an_element_is_given_while_the_next_is_waited_for(void **state)
{
	struct op_ctx ctx = { .seed = 5 };
	int fd[2];
	char spec[128];
	struct err e = { 0 };
	struct op_inst *i;
	struct elem x;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	snprintf(spec, sizeof spec, "lines /dev/fd/%d | map x ++ \"!\" parallel=2", fd[0]);
	struct plan *p = plan_from(spec);
	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	for (unsigned k = 0; k < 50; k++) {
		assert_int_equal(write(fd[1], "ab\n", 3), 3);
		assert_int_equal(op_next(i, &x, &e), ST_OK);
		assert_int_equal(x.len, 4);
	}
	close(fd[1]);
	assert_int_equal(op_next(i, &x, &e), ST_END);
	op_close(&i);
	close(fd[0]);
	plan_free(&p);
}

/* By split, and where splits must be told apart: nothing is pulled ahead then. */
static void
splits_are_read_one_after_the_other(void **state)
{
	static const struct split v[] = {
		{ .kind = SPLIT_RANGE, .start = 0, .count = 1000 },
		{ .kind = SPLIT_RANGE, .start = 1000, .count = 500 },
	};
	struct plan *p = plan_from("range 1500 | map x + i parallel=2 | filter x % 50 == 0 parallel=2");
	struct buf want = { 0 }, got = { 0 };
	struct told t = { 0 };

	(void)state;
	par_run("range 1500 | map x + i | filter x % 50 == 0", &want, &t);
	for (int exact = 0; exact < 2; exact++) {
		struct fed f;
		struct op_inst *i;
		struct err e = { 0 };
		struct elem x;

		fed_ctx(&f, v, 2)->split_exact = exact;
		assert_int_equal(op_open(p->top, &f.ctx, &i, &e), ST_OK);
		assert_int_equal(op_next(i, &x, &e), ST_OK);
		assert_true(!exact || f.at == 1);
		buf_reset(&got);
		buf_str(&got, "0\n");
		par_rest(i, &got);
		assert_string_equal((char *)got.data, (char *)want.data);
		op_close(&i);
	}
	buf_clear(&want);
	buf_clear(&got);
	plan_free(&p);
}
