/* SPDX-License-Identifier: MIT
 *
 * Runs between operators are bounded in bytes, however large elements are: what an
 * operator makes of one run of many elements does not stand in memory all at once.
 */
#include "lang_help.h"

#include "op/op.h"
#include "op/pull.h"

enum { BIG = 1024 * 1024, ELEMENTS = 40 };

/* Lists of about 900 kB. */
#define LARGE "range 40 | map range(x, 300000 + x)"

/* The most bytes in one run that the spec gives; *n: elements in all. */
static size_t
runs_most(const char *spec, size_t *n)
{
	struct spec_src src = { .text = spec, .len = strlen(spec) };
	struct op_ctx ctx = { .seed = 1, .element_max = SPEC_ELEMENT_MAX };
	struct err e = { 0 };
	struct op_inst *chain;
	struct plan *plan;
	struct run *run;
	size_t most = 0;
	enum status st;

	if (plan_make(&src, &plan, &e) || op_open(plan->top, &ctx, &chain, &e))
		fail_msg("%s: %s", spec, e.text);
	for (*n = 0; (st = op_pull(chain, &run, &e)) == ST_OK; *n += run->n)
		if (run_bytes(run) > most)
			most = run_bytes(run);
	if (st != ST_END)
		fail_msg("%s: %s", spec, e.text);
	op_close(&chain);
	plan_free(&plan);
	return most;
}

static void
runs_of_large_elements_are_short(void **state)
{
	static const char *const specs[] = {
		LARGE, "range 40 | scan [0] range(len(s), 300000)",
		"range 40 | flat_map [range(300000), 1] | filter x != 1",
		"concat (range 1 | map range(300000)) (range 40) | window 2 shift=1 | filter false | pad_to 40",
		LARGE " | map {a: x} | rename a:b", LARGE " | enumerate", LARGE " | batch 1",
		LARGE " | padded_batch 1", LARGE " | ragged_batch 1", LARGE " | rebatch 300000",
		LARGE " | bucket len(x) bounds=[9] sizes=[1, 1]", LARGE " | format json",
		LARGE " | format json | parse json", LARGE " | shuffle 7", LARGE " | window 1",
		LARGE " | group_by len(x) agg=first | pad_to 40", LARGE " | map {a: [x]} | unbatch",
		"range 40 | map {id: 1, n: x} | join (range 1 | map {id: 1, v: range(300000)}) on=.id",
		"range 40 | map x // 2 | group_by_window x 2 (| map range(300000)) | flat_map [x, 1] | filter x != 1 | repeat 2",
		"sample (" LARGE ") (range 0)", "choose (" LARGE ") by=(range 1 | repeat)",
		"zip (" LARGE ") (counter 1)", "range 40 | interleave (range 1 | map range(xx, 300000)) cycle=3",
		LARGE " | sort -len(x)", LARGE " | top 40 len(x)", "range 40 | map range(x, 300000 + x) parallel=2",
	};

	(void)state;
	for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
		size_t n, most = runs_most(specs[k], &n);

		if (n < ELEMENTS)
			fail_msg("%s: %zu elements", specs[k], n);
		/* The last element that is added, and twice where it is made of two. */
		if (most > RUN_MOST + 2 * BIG)
			fail_msg("%s: a run of %zu bytes", specs[k], most);
	}
}
