/* SPDX-License-Identifier: MIT
 *
 * A shard that is moved towards the source gives what it gives behind the
 * pipeline: for many pipelines that are put together at random, from their
 * beginning and from any saved state. A pass that is begun further on gives what
 * stands there, and makes nothing of what stands before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "lang/spec.h"
#include "op/facts.h"
#include "op/pull.h"
#include "plan_help.h"

enum { PIPELINES = 800, STAGES = 5, MOST = 70 };

static const char *const sources[] = {
	"range 0", "range 1", "range 37", "range 100 400 7", "elements [3, \"a\", null, [1]]", "random 90", "counter",
	"zip (range 30) (range 40 | map x * x)", "zip (range 9) (random 20 | skip 2) short=pad",
	"concat (range 10) (random 7) (range 5 | take 2)", "concat (range 10 | batch 2) (elements [1, 2])", "range 64",
	"range 50 type=float", "counter 9223372036854775790",
	"range -9223372036854775806 9223372036854775807 4611686018427387904",
	"range 2000 0 -1 | skip 5",
};
static const char *const stages[] = {
	"map [x]", "map {a: x, b: 1}", "map [x, i]", "map [x, rand()]", "filter rand() < 0.5", "filter true", "take 20",
	"skip 3", "repeat 2", "batch 3", "batch 4 drop_remainder=true", "shuffle 8", "shuffle all", "shard 2 1",
	"enumerate", "prefetch 2", "window 3", "scan 0 s + 1", "flat_map [x, x]", "sample_rate 0.5",
	"ignore_errors", "take_while true", "unbatch on_error=skip", "map x + 1 on_error=skip", "map [x] on_error=keep",
	"interleave (elements [1, 2]) cycle=2", "map if i == 3 then skip() else x", "rebatch 2",
};

static const char *
one_of(struct rng *r, const char *const *v, size_t n)
{
	return v[rng_below(r, n)];
}

static struct plan *
plan_or_none(const char *text)
{
	struct spec_src src = { .text = text, .len = strlen(text) };
	struct plan *p = NULL;
	struct err e = { 0 };

	return plan_make(&src, &p, &e) == ST_OK ? p : NULL;
}

/* Takes up to n elements, appends them. */
static enum status
take(struct op_inst *i, uint64_t n, struct buf *out)
{
	struct elem x;
	struct err e = { 0 };
	enum status st = ST_OK;

	while (n-- && (st = op_next(i, &x, &e)) == ST_OK)
		buf_put(out, x.p, x.len);
	return st;
}

/* The first elements; goes on from a saved state after some. */
static enum status
run(const struct plan *p, uint64_t after, struct buf *out)
{
	struct op_ctx ctx = { .seed = 99, .repeatable = true };
	struct buf state = { 0 };
	struct op_inst *i;
	struct err e = { 0 };
	enum status st = op_open(p->top, &ctx, &i, &e);

	buf_reset(out);
	if (st == ST_OK && after)
		st = take(i, after, out);
	if (st == ST_OK && after) {
		assert_true(op_state_save(i, &state));
		op_close(&i);
		assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
		if (op_state_restore(i, state.data, state.len, &e) != ST_OK)
			fail_msg("%s", e.text);
	}
	if (st == ST_OK)
		st = take(i, MOST - after, out);
	if (i)
		op_close(&i);
	buf_clear(&state);
	return st;
}

/* Compares all shards of the pipeline; gives whether it was read by index. */
static bool
compare(const char *text, uint32_t shards, struct rng *r)
{
	struct buf want = { 0 }, got = { 0 };
	bool by_index = false;

	for (uint32_t k = 0; k < shards; k++) {
		char *spec = mem_printf("%s | shard %u %u", text, shards, k);
		struct plan *whole = plan_from(spec), *pushed = plan_from(spec);

		op_push_shard(&pushed->top);
		for (const struct op_node *n = pushed->top; n; n = n->n_in ? n->in[0] : NULL)
			by_index |= n->strides;
		enum status st = run(whole, 0, &want);
		/* A shard that has no broken element need not fail. */
		if (st == ST_OK || st == ST_END)
			for (int turn = 0; turn < 2; turn++) {
				uint64_t after = turn ? 1 + rng_below(r, 20) : 0;
				enum status is = run(pushed, after, &got);

				if (is != st || got.len != want.len || (got.len && memcmp(got.data, want.data, got.len) != 0))
					fail_msg("%s: differs (status %d and %d, saved after %u)", spec, (int)st, (int)is,
						 (unsigned)after);
			}
		plan_free(&whole);
		plan_free(&pushed);
		mem_free(spec);
	}
	buf_clear(&want);
	buf_clear(&got);
	return by_index;
}

static void
a_shard_moved_to_the_source_gives_the_same(void **state)
{
	struct rng r = { .key = 5 };
	int by_index = 0, behind = 0;

	(void)state;
	for (int k = 0; k < PIPELINES; k++) {
		struct buf text = { 0 };

		buf_str(&text, one_of(&r, sources, sizeof sources / sizeof *sources));
		for (uint64_t n = rng_below(&r, STAGES); n > 0; n--)
			buf_printf(&text, " | %s", one_of(&r, stages, sizeof stages / sizeof *stages));
		struct plan *p = plan_or_none((char *)text.data);
		if (p) {
			bool indexed = compare((char *)text.data, 1 + (uint32_t)rng_below(&r, 4), &r);

			by_index += indexed;
			behind += !indexed;
		}
		plan_free(&p);
		buf_clear(&text);
	}
	assert_true(by_index > PIPELINES / 10);
	assert_true(behind > PIPELINES / 10);
}

/* Whether a pass can begin behind k elements; compares what it gives with the whole pass. */
static bool
sought(const char *text, uint64_t k)
{
	struct op_ctx ctx = { .seed = 99, .repeatable = true };
	struct buf whole = { 0 }, rest = { 0 };
	struct plan *p = plan_or_none(text);
	struct op_inst *i = NULL;
	struct err e = { 0 };
	bool can = p && op_open(p->top, &ctx, &i, &e) == ST_OK && op_seek(i, k);

	if (can) {
		enum status st = take(i, MOST, &rest);

		op_close(&i);
		assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
		assert_int_equal(take(i, k, &whole), ST_OK);
		buf_reset(&whole);
		if (take(i, MOST, &whole) != st || whole.len != rest.len || (rest.len && memcmp(whole.data, rest.data, rest.len)))
			fail_msg("%s: differs behind %u elements", text, (unsigned)k);
	}
	if (i)
		op_close(&i);
	plan_free(&p);
	buf_clear(&whole);
	buf_clear(&rest);
	return can;
}

static void
a_pass_that_begins_further_on_gives_what_stands_there(void **state)
{
	static const char *const can[] = { "range 40 | shuffle all", "range 40 | shuffle all seed=3 | map [x] | map {a: x}",
		"range 90 | map x * x | shuffle all | map [x]", "elements [3, \"a\", null, [1]] | shuffle all" };
	static const char *const cannot[] = { "range 40", "range 40 | shuffle all | map [x, rand()]",
		"range 40 | shuffle all | map [x, i]", "range 40 | map rand() | shuffle all", "range 40 | shuffle all | filter x > 2",
		"range 40 | shuffle all | batch 2", "range 40 | shuffle 8", "range 40 | shuffle all | repeat 2",
		"range 40 | shuffle all | map 7 // x on_error=skip", "concat (range 9) (range 9) | shuffle all" };
	struct rng r = { .key = 6 };

	(void)state;
	for (size_t k = 0; k < sizeof can / sizeof *can; k++)
		for (uint64_t n = 0; n <= 4; n++)
			if (!sought(can[k], n))
				fail_msg("%s cannot begin behind %u elements", can[k], (unsigned)n);
	for (size_t k = 0; k < sizeof cannot / sizeof *cannot; k++)
		if (sought(cannot[k], 2))
			fail_msg("%s can begin behind two elements", cannot[k]);
	assert_true(sought("range 40 | shuffle all", 40));
	assert_false(sought("range 40 | shuffle all", 41));
	for (int k = 0; k < PIPELINES; k++) {
		struct buf text = { 0 };

		buf_str(&text, one_of(&r, sources, sizeof sources / sizeof *sources));
		for (uint64_t n = rng_below(&r, STAGES); n > 0; n--)
			buf_printf(&text, " | %s", one_of(&r, stages, sizeof stages / sizeof *stages));
		sought((char *)text.data, 1 + rng_below(&r, 20));
		buf_clear(&text);
	}
}

/* Elements that were passed over are not made: one of them could not be. */
static void
what_was_passed_over_is_not_made(void **state)
{
	struct op_ctx ctx = { .seed = 99, .repeatable = true };
	struct plan *p = plan_from("range 40 | shuffle all seed=3 | map 7 // x");
	struct buf out = { 0 };
	struct err e = { 0 };
	struct op_inst *i;
	uint64_t before = 0;

	(void)state;
	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	while (take(i, 1, &out) == ST_OK)
		before++;
	op_close(&i);
	assert_in_range(before, 0, 38);
	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	assert_true(op_seek(i, before + 1));
	buf_reset(&out);
	assert_int_equal(take(i, 39 - before, &out), ST_OK);
	assert_int_equal(take(i, 1, &out), ST_END);
	op_close(&i);
	plan_free(&p);
	buf_clear(&out);
}

/* Where the shard stands then, and whether the source is read by index. */
static void
it_moves_as_far_as_that_can_be(void **state)
{
	static const struct { const char *text, *behind; bool by_index; } cases[] = {
		{ "range 9 | map x * x | batch 3", "batch", true },
		{ "range 10 | map x * x | batch 3", "batch", false },
		{ "range 9 | map x * x | enumerate", "enumerate", true },
		{ "range 9 | shuffle 5 | map x | map x", "shuffle", false },
		{ "range 9 | map rand() | map x", "map", false },
		{ "range 9 | filter x > 2 | map x", "filter", false },
		{ "counter | map x", "counter", false },
		{ "range 9 | map x on_error=skip", "map", false },
		{ "zip (range 9 | map x) (random 9)", "zip", true },
	};

	(void)state;
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct plan *p = plan_from(cases[k].text);
		bool by_index;
		const struct op_node *n = op_shard_place(p->top, &by_index);

		if (strcmp(n->desc->name, cases[k].behind) != 0 || by_index != cases[k].by_index)
			fail_msg("%s: behind `%s`, by_index %d", cases[k].text, n->desc->name, by_index);
		plan_free(&p);
	}
}
