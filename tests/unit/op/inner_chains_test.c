/* SPDX-License-Identifier: MIT
 *
 * interleave with parallel=N gives what it gives without: the same elements, the same
 * failures and the same end, from any saved state; with ordered=false in any order.
 */
#include "parallel_help.h"

#include <fcntl.h>
#include <unistd.h>

#include "pooled_help.h"
#include "op/pull.h"

#define GROUP_SETUP handed_over
#define GROUP_SETUP_2 as_it_pays
#define GROUP_TEARDOWN file_teardown

static const char *const strands_many[] = { "2", "4", "auto" };

/* A spec up to where parallel= may stand, and the rest of it. */
static const struct strands_spec {
	const char *spec, *rest;
	bool fatal; /* how far it comes is not the same unordered */
} strands_specs[] = {
	{ "range 40 | interleave (range x) cycle=5 block=3", "", false },
	{ "range 60 | interleave (range x | map [xx, x]) cycle=7 block=2", "", false },
	{ "range 30 | interleave (range 700 | map x + rand()) cycle=3", "", false },
	{ "range 50 | interleave (range x | shuffle 5) cycle=4", "", false },
	{ "range 20 | interleave (range x | interleave (range x) cycle=2 parallel=3) cycle=3", "", false },
	{ "range 9 | interleave (range 300 | flat_map [x, -x] parallel=2) cycle=4 block=100", "", false },
	{ "range 600 | interleave (range 2) cycle=3", "", false },
	{ "range 200 | interleave (range 100) cycle=1", "", false },
	{ "range 5 | interleave (range 2000 | map pad(str(x), 3000)) cycle=5 block=600", " | map len(x)", false },
	{ "range 50 | interleave (range x | map x % 17 == 16 ? fail(\"no\") : x on_error=skip)", "", false },
	{ "range 50 | interleave (range x | map x % 31 == 30 ? fail(\"no\") : x) on_error=skip", "", false },
	{ "range 50 | interleave (range x | map x % 31 == 30 ? fail(\"no\") : x) cycle=3 on_error=keep", "", false },
	{ "elements [3, \"a\", 2, -1, \"b\", 4] | interleave (range x) cycle=2 on_error=skip", "", false },
	{ "elements [3, \"a\", 2, -1, \"b\", 4] | interleave (range x) cycle=2 on_error=keep", "", false },
	{ "elements [3, \"a\", 2] | interleave (range x) cycle=1 on_error=retry:2", "", true },
	{ "range 50 | map x == 20 ? fail(\"outer\") : x | interleave (range x)", "", true },
	{ "range 50 | interleave (range x | map x == 40 ? fail(\"inner\") : x) cycle=6", "", true },
	{ "range 10 | interleave (range 50) cycle=3", " | repeat 3", false },
	{ "range 30 | interleave (range 50) cycle=3", " | batch 7 | map sum(x)", true },
	{ "range 0 | interleave (range 50)", "", false },
	{ "range 40 | interleave (range 0)", "", false },
};
enum { STRANDS_SPECS = sizeof strands_specs / sizeof *strands_specs };

static void
strands_same(const struct strands_spec *x, const char *many, bool ordered)
{
	struct buf want = { 0 }, got = { 0 };
	struct told a = { 0 }, b = { 0 };
	char plain[512], spec[560];

	snprintf(plain, sizeof plain, "%s%s", x->spec, x->rest);
	snprintf(spec, sizeof spec, "%s parallel=%s%s%s", x->spec, many,
		 ordered ? "" : " ordered=false", x->rest);
	par_run(plain, &want, &a);
	par_run(spec, &got, &b);
	par_sort(&a.text); /* the chains tell their own as they come to them */
	par_sort(&b.text);
	if (!ordered) {
		par_sort(&want);
		par_sort(&got);
	}
	if (want.len != got.len || (want.len && memcmp(want.data, got.data, want.len)))
		fail_msg("%s: differs from %s", spec, plain);
	if (!x->fatal) {
		assert_int_equal(a.n, b.n);
		if (a.n)
			assert_string_equal((char *)a.text.data, (char *)b.text.data);
	}
	buf_clear(&want);
	buf_clear(&got);
	buf_clear(&a.text);
	buf_clear(&b.text);
}

static void
it_gives_what_one_thread_gives(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 3 * STRANDS_SPECS; k++)
		strands_same(&strands_specs[k / 3], strands_many[k % 3], true);
}

static void
unordered_it_gives_the_same_elements(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 3 * STRANDS_SPECS; k++)
		if (!strands_specs[k / 3].fatal)
			strands_same(&strands_specs[k / 3], strands_many[k % 3], false);
}

static void
strands_saved(const char *spec, bool ordered, struct rng *r)
{
	struct plan *p = plan_from(spec);
	struct buf want = { 0 };
	struct told t = { 0 };
	uint64_t n = 0;

	par_run(spec, &want, &t);
	if (!ordered)
		par_sort(&want);
	for (size_t b = 0; b < want.len; b++)
		n += want.data[b] == '\n';
	/* A chain that has an error to tell yet cannot be saved, parallel or not. */
	bool fails = strstr(spec, "fail(");
	assert_true(par_resume(p, 0, &want, !ordered));
	assert_true(par_resume(p, n, &want, !ordered) || fails);
	for (unsigned turn = 0; turn < 3; turn++)
		assert_true(par_resume(p, rng_next(r) % (n + 1), &want, !ordered) || fails);
	buf_clear(&want);
	buf_clear(&t.text);
	plan_free(&p);
}

static void
saved_anywhere_it_goes_on(void **state)
{
	struct rng r = { .key = 8 };
	char spec[560];

	(void)state;
	for (unsigned k = 0; k < 2 * STRANDS_SPECS; k++) {
		const struct strands_spec *x = &strands_specs[k / 2];

		if (x->fatal) /* a failed chain has no state */
			continue;
		snprintf(spec, sizeof spec, "%s parallel=%s%s%s", x->spec, strands_many[k / 2 % 3],
			 k % 2 ? " ordered=false" : "", x->rest);
		strands_saved(spec, k % 2 == 0, &r);
	}
}

static void
a_false_state_is_refused(void **state)
{
	(void)state;
	par_false_states("range 300 | interleave (range 600) cycle=3 parallel=2", 200);
}

static void
a_chain_is_closed_in_its_middle(void **state)
{
	static const char *const specs[] = {
		"counter | interleave (counter) cycle=6 parallel=3",
		"counter | interleave (counter | map x * 2 parallel=2) cycle=3 parallel=2 ordered=false",
		"counter | interleave (range 10) parallel=3 | take 100000",
		"range 3 | interleave (counter | filter x < 0 or xx == 0) parallel=4 ordered=false",
	};
	struct op_ctx ctx = { .seed = 5 };
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;

	(void)state;
	for (unsigned k = 0; k < 40; k++) {
		struct plan *p = plan_from(specs[k % 4]);

		assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
		for (unsigned n = 0; n < k * 40; n++)
			assert_int_equal(op_next(i, &x, &e), ST_OK);
		op_close(&i);
		plan_free(&p);
	}
}

static void
stop_ends_it(void **state)
{
	static const char *const specs[] = {
		"range 9 | interleave (counter | filter x < 0) parallel=2",
		"range 9 | interleave (counter | filter x < 0) parallel=2 ordered=false",
		"counter | filter x < 0 | interleave (range x) parallel=2",
	};

	(void)state;
	for (unsigned k = 0; k < 3; k++)
		par_stopped(specs[k]);
}

/* Pipes that nobody writes to keep the others from nothing, also where the pool has
 * one thread only and there are more of them than parallel= allows at once. */
static void
unordered_what_is_ready_comes_first(void **state)
{
	struct op_ctx ctx = { .seed = 5 };
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;
	char name[] = "fifo0";
	int fd[6];

	(void)state;
	for (int k = 0; k < 6; k++) {
		name[4] = (char)('0' + k);
		assert_int_equal(mkfifo(name, 0600), 0);
		fd[k] = open(name, O_RDWR);
		assert_true(fd[k] >= 0);
	}
	struct plan *p = plan_from("files fifo* | interleave (lines x) cycle=6 parallel=6 ordered=false");
	pool_set_size(1);
	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	for (unsigned k = 0; k < 30; k++) {
		assert_int_equal(write(fd[k * 5 % 6], "ab\n", 3), 3);
		assert_int_equal(op_next(i, &x, &e), ST_OK);
		assert_int_equal(x.len, 3);
	}
	op_close(&i);
	pool_set_size(4);
	for (int k = 0; k < 6; k++) {
		name[4] = (char)('0' + k);
		close(fd[k]);
		unlink(name);
	}
	plan_free(&p);
}

/* A state that is asked for while a chain waits for input is not waited for without end. */
static void
what_waits_for_input_can_be_left(void **state)
{
	atomic_bool stop = false;
	struct op_ctx ctx = { .seed = 5, .stop = &stop };
	struct plan *p = plan_from("elements [\"full\", \"dry\"] | interleave (lines x) cycle=2 parallel=2 ordered=false");
	struct op_inst *i;
	struct err e = { 0 };
	struct elem x;
	struct buf bytes = { 0 };
	pthread_t t;

	(void)state;
	assert_int_equal(mkfifo("dry", 0600), 0);
	int fd = open("dry", O_RDWR);
	FILE *f = fopen("full", "w");
	fputs("ab\ncd\n", f);
	fclose(f);
	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	assert_int_equal(op_next(i, &x, &e), ST_OK);
	pthread_create(&t, NULL, par_stopper, &stop);
	op_state_save(i, &bytes);
	pthread_join(t, NULL);
	op_close(&i);
	close(fd);
	unlink("dry");
	buf_clear(&bytes);
	plan_free(&p);
}
