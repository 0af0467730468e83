/* SPDX-License-Identifier: MIT
 *
 * How much the sources of a plan have, and how far they are: of every plan whose
 * sources can tell, all has been taken in at its end.
 */
#define GROUP_SETUP make_file
#define GROUP_TEARDOWN remove_file

#include <stdlib.h>
#include <unistd.h>

#include "lang_help.h"
#include "op/intake.h"
#include "op/pull.h"

enum { LINES = 60000 };

static char folder[] = "/tmp/dsvc-intake-XXXXXX", file[64];
static long file_size;

static int
make_file(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof file, "%s/lines", folder);
	FILE *f = fopen(file, "w");
	for (int i = 0; i < LINES; i++)
		fprintf(f, "%d\n", i);
	file_size = ftell(f);
	return fclose(f);
}

static int
remove_file(void **state)
{
	(void)state;
	unlink(file);
	return rmdir(folder);
}

static void
run_through(const char *spec, struct op_intake *taken)
{
	struct op_ctx ctx = { .element_max = 1 << 20, .intake = taken };
	struct plan *plan = help_plan(spec);
	struct op_inst *chain;
	struct err e = { 0 };
	struct run *r;
	enum status st = op_open(plan->top, &ctx, &chain, &e);

	while (st == ST_OK)
		st = op_pull(chain, &r, &e);
	assert_int_equal(st, ST_END);
	op_close(&chain);
	plan_free(&plan);
}

struct expected {
	const char *spec;
	bool tells;
	uint64_t elements, bytes; /* 0: unknown */
};

static void
expect(const struct expected *x)
{
	struct plan *plan = help_plan(x->spec);
	struct op_intake taken = { 0 };
	struct intake t;
	uint64_t bytes, elements;

	intake_find(&t, plan->top);
	intake_total(&t, &bytes, &elements);
	if (t.tells != x->tells || bytes != x->bytes || elements != x->elements)
		fail_msg("%s: %d, %llu elements, %llu bytes", x->spec, t.tells,
			 (unsigned long long)elements, (unsigned long long)bytes);
	intake_clear(&t);
	plan_free(&plan);
	if (!x->tells || !(elements + bytes))
		return;
	run_through(x->spec, &taken);
	if ((bytes && taken.bytes != bytes) || (!bytes && taken.elements != elements))
		fail_msg("%s: took %llu elements and %llu bytes", x->spec,
			 (unsigned long long)taken.elements, (unsigned long long)taken.bytes);
}

static void
what_sources_have_is_taken_in_by_the_end(void **state)
{
	static const struct expected cases[] = {
		{ "range 100000 | map x*x | filter x > 5", true, 100000, 0 },
		{ "range 5000 | shuffle all | batch 7", true, 5000, 0 },
		{ "zip (range 50) (range 50)", true, 100, 0 },
		{ "concat (range 50) (range 20) | sort", true, 70, 0 },
		{ "elements [1, 2, 3] | flat_map [x, x]", true, 3, 0 },
		{ "zip (range 50) (counter)", true, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect(&cases[i]);
}

static void
bytes_of_files_are_those_on_disk(void **state)
{
	static const char *const specs[] = { "lines %s", "lines %s | sort", "files %s | interleave (lines x)",
		"ndjson %s | count" };
	char spec[128];

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		snprintf(spec, sizeof spec, specs[i], file);
		struct plan *plan = help_plan(spec);
		struct intake t;
		uint64_t bytes, elements;

		intake_find(&t, plan->top);
		intake_total(&t, &bytes, &elements);
		assert_int_equal(bytes, file_size);
		intake_clear(&t);
		plan_free(&plan);
		struct op_intake taken = { 0 };
		run_through(spec, &taken);
		assert_int_equal(taken.bytes, file_size);
	}
}

static void
a_plan_that_ends_early_or_reads_again_does_not_tell(void **state)
{
	static const struct expected cases[] = {
		{ "range 100 | take 3", false, 100, 0 },
		{ "range 100 | map x | repeat 2 | map x", false, 100, 0 },
		{ "zip (range 9 | take_while x < 3) (range 9)", false, 18, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect(&cases[i]);
}
