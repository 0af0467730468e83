/* SPDX-License-Identifier: MIT
 *
 * Pipelines that are broken off after every run and begun again from the saved
 * state give what they give in one piece. For operators with memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lang/spec.h"
#include "op/op.h"
#include "op/pull.h"
#include "op/table.h"
#include "value/format/format.h"

#include "example_spec.h"

enum resume_mode { WHOLE, BROKEN };

/* The output of the pipeline, as text; *saved: how many states were taken. */
static char *
resume_run(const char *spec, enum resume_mode mode, unsigned *saved)
{
	struct spec_src src = { .text = spec, .len = strlen(spec) };
	struct op_ctx ctx = { .seed = 42, .element_max = 1 << 26 };
	struct buf out = { 0 }, state = { 0 };
	struct op_inst *chain;
	struct plan *plan;
	struct run *run;
	struct err e = { 0 };
	enum status st;

	*saved = 0;
	if (plan_make(&src, &plan, &e) || op_open(plan->top, &ctx, &chain, &e))
		fail_msg("%s: %s", spec, e.text);
	struct format *f = format_new(FORMAT_NDJSON, plan->type);
	while ((st = op_pull(chain, &run, &e)) == ST_OK) {
		assert_int_equal(format_run(f, run, &out, &e), ST_OK);
		buf_reset(&state);
		if (mode == WHOLE || !op_state_save(chain, &state))
			continue;
		++*saved;
		op_close(&chain);
		assert_int_equal(op_open(plan->top, &ctx, &chain, &e), ST_OK);
		if (op_state_restore(chain, state.data, state.len, &e))
			fail_msg("%s: %s", spec, e.text);
	}
	if (st != ST_END)
		fail_msg("%s: %s", spec, e.text);
	op_close(&chain);
	format_free(&f);
	plan_free(&plan);
	buf_clear(&state);
	return buf_take(&out);
}

static void
resume_same(const char *spec)
{
	unsigned none, saved;
	char *whole = resume_run(spec, WHOLE, &none);
	char *broken = resume_run(spec, BROKEN, &saved);

	if (!saved)
		fail_msg("%s: no state was saved", spec);
	if (strcmp(whole, broken))
		fail_msg("%s:\n%.300s\n-- and broken off:\n%.300s", spec, whole, broken);
	mem_free(whole);
	mem_free(broken);
}

static void
batches_are_taken_up_where_they_were(void **state)
{
	(void)state;
	resume_same("range 3000 | map [x, x] | padded_batch 7");
	resume_same("range 3000 | map {id: x, v: [x]} | ragged_batch 7");
	resume_same("range 3000 | map {id: x} | batch 5 | rebatch 7");
	resume_same("range 3000 | batch 700 | rebatch 1");
	resume_same("range 3000 | bucket x % 50 bounds=[10, 20] sizes=[8, 4, 2]");
}

static void
groups_are_taken_up_where_they_were(void **state)
{
	(void)state;
	resume_same("range 2000 | group_by_window x % 7 10 (| batch 4)");
	resume_same("range 20000 | group_by_window x % 700 9 (| map x + 1 | shuffle 3)");
	resume_same("range 2000 | group_by_window x % 7 100 (| flat_map [x, x, x])");
	resume_same("range 3000 | group_by x % 1100");
	resume_same("range 3000 | group_by x % 1100 agg=sum");
	resume_same("range 3000 | group_by x % 1100 agg=list of=[x]");
	resume_same("range 3000 | group_by x % 1100 init=0 reduce=(s + x)");
	resume_same("range 3000 | group_by x % 1100 n=count() m=mean(x) d=distinct(x // 2) q=quantile(x, 0.9) "
		    "p=median(x) s=stddev(x) l=list(x) z=nulls(x)");
	/* quantiles that had to become approximate */
	resume_same("range 100000 | group_by (x % 40 == 0 ? x : -1) q=median(x) mem=600k");
	resume_same("range 3000 | top 1000 x % 100");
	resume_same("range 3000 | sort 0 - x");
	resume_same("range 3000 | stats");
	resume_same("range 300 | map {id: x, v: range(x * 30)} | unnest v as=n");
	resume_same("range 3000 | map {id: x, a: x + 1, b: str(x)} | unpivot a b");
	resume_same("range 3000 | map {id: x, a: x % 7 == 0 ? x : null} | fill a");
	resume_same("range 3000 | map {id: x % 1100, a: x} | nest a");
	resume_same("range 3000 | map {id: x // 3, a: x % 3, b: x} | pivot a b");
	resume_same("range 3000 | template \"{i}: {x:%5d}\"");
	resume_same("range 3000 | stats by=x % 1100");
	resume_same("range 3000 | stats x * 0.5 by=str(x % 3)");
}

static void
inputs_are_taken_up_where_they_were(void **state)
{
	(void)state;
	resume_same("sample (range 1000) (range 500) weights=[3, 1]");
	resume_same("sample (range 1000) (range 500) stop=first");
	resume_same("choose (range 900) (range 500) by=(range 2 | repeat)");
	resume_same("choose a=(range 900) b=(range 500) by=(elements [\"b\", \"a\", \"a\"] | repeat) "
		    "stop=all");
	resume_same("range 900 | map {id: x % 10} | "
		    "join (range 30 | map {id: x % 10, v: x}) on=.id");
	resume_same("range 900 | map {id: x % 20} | "
		    "join (range 3000 | map {id: x % 1500, v: x}) on=.id kind=outer");
	resume_same("range 900 | map {id: x} | join (range 30 | map {id: x * 40, v: x}) on=.id kind=right as=right");
	resume_same("range 900 | map {id: x % 20} | "
		    "join (range 30 | map {id: x % 10, v: x}) on=.id kind=left as=right");
}

static void
single_elements_are_taken_up_where_they_were(void **state)
{
	(void)state;
	resume_same("range 3000 | map x // 3 | dedup");
	resume_same("range 3000 | map x * x % 97 | dedup window=20");
	resume_same("range 3000 | sample_rate 0.3");
	resume_same("range 3000 | resample x % 3 target=[1, 1, 3]");
	resume_same("range 3000 | resample x % 3 target=[1, 1, 3] initial=[1, 1, 1]");
	resume_same("range 3000 | cardinality 3000");
	resume_same("range 3000 | pad_to 5000 7");
	resume_same("range 3000 | assert i == x");
	resume_same("range 3000 | map 10 // (x % 4) | ignore_errors max=50%");
	resume_same("range 3000 | rate 10000000");
	resume_same("range 50 | sleep 0");
	resume_same("range 3000 | tee (| batch 7 | shuffle 10) | map x + 1");
}

static void
walks_go_on_at_their_place(void **state)
{
	(void)state;
	resume_same("range 5000 | shuffle all | repeat 3");
	resume_same("range 9000 | skip 7 | take 4000 | map {x: x} | shuffle all | batch 3");
	resume_same("range 3000 | enumerate | shuffle all");
	resume_same("concat (range 3000 | map x * 2) (range 7) (random 900) | shuffle all");
	resume_same("zip (range 5000 | enumerate) (counter 3) | repeat 2 | shuffle all");
	resume_same("range 9000 | batch 3 | enumerate | batch 10 | shuffle all | repeat 2");
	resume_same("concat (range 9000 | batch 900) (range 30 | ragged_batch 10) | shuffle all");
	resume_same("range 2000 | map x parallel=2 | shuffle all reshuffle=false | repeat 2");
}

static void
caches_are_filled_again(void **state)
{
	(void)state;
	resume_same("range 5000 | cache | repeat 3");
	resume_same("range 9000 | shuffle 5000 | cache | repeat 3");
	resume_same("range 9000 | cache | shuffle 5000 | repeat 2");
	resume_same("range 9000 | shuffle 5000 | cache | take 3000 | repeat 2");
	resume_same("random 3000 | cache | repeat 2");
}

static void
resume_in(const char *dir, const char *fmt)
{
	char *spec = mem_printf("%s", fmt), *at = strstr(spec, "DIR");
	char *full = mem_printf("%.*s%s%s", (int)(at - spec), spec, dir, at + 3);

	resume_same(full);
	mem_free(spec);
	mem_free(full);
}

static void
files_are_taken_up_where_they_were(void **state)
{
	char dir[] = "/tmp/dsvc-resume-XXXXXX", *command;

	(void)state;
	assert_non_null(mkdtemp(dir));
	resume_in(dir, "range 5000 | cache DIR/cache | repeat 3");
	resume_in(dir, "range 5000 | cache DIR/cache | repeat 3");
	resume_in(dir, "range 9000 | save DIR/many file_size=3000 shards=3");
	resume_in(dir, "range 9000 | map {x: x} | save DIR/json format=ndjson file_size=10k");
	resume_in(dir, "load DIR/many");
	resume_in(dir, "load DIR/json | map .x");
	resume_in(dir, "range 5000 | snapshot DIR/snap");
	resume_in(dir, "range 5000 | snapshot DIR/snap");
	resume_in(dir, "range 5000 | tee (| save DIR/beside) | batch 3");
	resume_in(dir, "load DIR/beside | enumerate | assert x[0] == x[1] | cardinality 5000");
	command = mem_printf("rm -r %s", dir);
	assert_int_equal(system(command), 0);
	mem_free(command);
}

/* A chain opened anew, and brought to where the state was taken; NULL: at its beginning. */
static struct op_inst *
resume_at(const char *spec, const struct plan *plan, struct op_ctx *ctx, const struct buf *state)
{
	struct op_inst *chain;
	struct err e = { 0 };

	if (op_open(plan->top, ctx, &chain, &e)
	    || (state && op_state_restore(chain, state->data, state->len, &e)))
		fail_msg("%s: %s", spec, e.text);
	return chain;
}

/* The next element, appended; false: there is none. */
static bool
resume_next(const char *spec, struct op_inst *chain, struct format *f, struct buf *out)
{
	struct err e = { 0 };
	struct elem x;
	enum status st = op_next(chain, &x, &e);

	if (st == ST_OK)
		assert_int_equal(format_bytes(f, x.p, x.len, 1, out, &e), ST_OK);
	else if (st != ST_END)
		fail_msg("%s: %s", spec, e.text);
	return st == ST_OK;
}

/* Takes the state before each element and after the last: each is good for the same rest. */
static void
resume_each(const struct op_desc *d, const char *spec)
{
	struct op_ctx ctx = { .seed = 42, .element_max = 1 << 26 };
	bool lacks = example_no_state(d) != NULL;
	struct buf all = { 0 }, had = { 0 };
	struct plan *plan;
	struct err e = { 0 };

	if (example_plan(spec, &plan, &e))
		fail_msg("%s: %s", spec, e.text);
	struct format *f = format_new(FORMAT_NDJSON, plan->type);
	struct op_inst *chain = resume_at(spec, plan, &ctx, NULL);
	while (!lacks && resume_next(spec, chain, f, &all))
		;
	op_close(&chain);
	chain = resume_at(spec, plan, &ctx, NULL);
	for (bool more = true; more;) {
		struct buf state = { 0 }, rest = { 0 };

		if (op_state_save(chain, &state) == lacks)
			fail_msg("%s: a state was %s", spec, lacks ? "taken, though it cannot" : "not taken");
		if (lacks) {
			buf_clear(&state);
			break;
		}
		struct op_inst *again = resume_at(spec, plan, &ctx, &state);
		while (resume_next(spec, again, f, &rest))
			;
		op_close(&again);
		if (rest.len != all.len - had.len || (rest.len && memcmp(rest.data, all.data + had.len, rest.len)))
			fail_msg("%s: after\n%.*scomes\n%.*snot\n%.*s", spec, (int)had.len, (char *)had.data,
				 (int)rest.len, (char *)rest.data, (int)(all.len - had.len),
				 (char *)all.data + had.len);
		buf_clear(&state);
		buf_clear(&rest);
		more = resume_next(spec, chain, f, &had);
	}
	op_close(&chain);
	format_free(&f);
	plan_free(&plan);
	buf_clear(&all);
	buf_clear(&had);
}

static void
every_operator_is_taken_up_at_every_element(void **state)
{
	char dir[] = "/tmp/dsvc-resume-XXXXXX", *command;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; op_at(i); i++) {
		char *spec = example_spec(op_at(i), dir);

		if (spec)
			resume_each(op_at(i), spec);
		else if (!example_no_state(op_at(i)))
			fail_msg("%s has no example that could be run", op_at(i)->name);
		mem_free(spec);
	}
	command = mem_printf("rm -r %s", dir);
	assert_int_equal(system(command), 0);
	mem_free(command);
}
