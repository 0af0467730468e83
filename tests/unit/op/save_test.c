/* SPDX-License-Identifier: MIT
 *
 * The promise of saved states, operator by operator: wherever a chain is
 * saved, one restored from it gives exactly what the first would have given.
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
#include "op/op.h"
#include "op/pull.h"

static const char *const save_specs[] = {
	"range 3000 | map x * 2 + i",
	"range 3000 | filter x % 3 == 1 | map [i, x]",
	"range 30000 | filter x % 9000 == 8999",
	"range 4000 | batch 30 | flat_map x | map [i, x]",
	"range 20000 | batch 9000 | flat_map x ++ [i]",
	"range 3000 | batch 7",
	"range 3000 | batch 700 drop_remainder=true",
	"range 3000 | map {a: x, b: [x, x]} | batch 9",
	"range 3000 | batch 7 | unbatch | map [i, x]",
	"range 3000 | map zeros([3], \"u8\") + i % 9 | batch 7 | unbatch | map sum(x) + i",
	"range 2000 | batch 7 as=tensor | map x * 2 | rebatch 9 | unbatch | map x + i",
	"range 60 | map zeros([50000]) + i | map sum(x) + i",
	"range 20000 | map {a: x, b: [x]} | batch 9000 | unbatch",
	"range 3000 | take 1700",
	"range 3000 | skip 1700",
	"range 3000 | take_while x < 1700",
	"range 3000 | enumerate start=5",
	"range 3000 | shard 7 3",
	"range 700 | repeat 3",
	"range 11 | repeat 200",
	"range 700 | shuffle 20 | repeat 3",
	"range 3000 | shuffle 100 seed=4",
	"range 3000 | map [x, \"and many more letters than a slot holds\"] | shuffle 100",
	"range 3000 | window 5 shift=2 stride=3",
	"range 3000 | window 2 shift=700",
	"range 3000 | window 700 drop_remainder=true",
	"range 3000 | scan 0 s + x",
	"range 3000 | scan [] [x, i]",
	"range 3000 | reduce 0 s + x",
	"range 3000 | map x % 700 | unique",
	"range 3000 | unique [x % 700, \"as a longer key\"]",
	"range 3000 | prefetch 5 | map x",
	"range 3000 | prefetch | prefetch 10",
	"range 3000 | count",
	"range 9000 | group_by x % 4000 n=count() m=mean(x)",
	"range 4000 | group_by str(x % 2500) agg=list",
	"concat (range 700) (range 9) (range 1000 | batch 3)",
	"zip (range 1000) (range 2000 | batch 3)",
	"zip a=(range 600) b=(range 2000 | filter x % 2 == 1) short=pad",
	"range 40 | interleave (range x) cycle=3 block=2",
	"range 6 | interleave (range 1000 | shuffle 10 | map [xx, x]) cycle=2 block=300",
	"range 4 | interleave (range 3 | interleave (range x) cycle=2 | map x + xx) cycle=3",
	"random 2000 seed=3 | map x % 100 | shuffle 9 | batch 4 | repeat 2",
	"range 40 | interleave (range x | prefetch 3) cycle=3 | shuffle 5 | repeat 2 | enumerate",
};

struct saved {
	struct plan *plan;
	struct op_ctx ctx;
	struct err e;
};

static void
saved_open(struct saved *s, const char *spec)
{
	struct spec_src src = { .text = spec, .len = strlen(spec) };

	memset(s, 0, sizeof *s);
	s->ctx.seed = 99;
	if (plan_make(&src, &s->plan, &s->e) != ST_OK)
		fail_msg("%s: %s", spec, s->e.text);
}

/* Takes up to n elements, appends them. */
static enum status
saved_take(struct op_inst *i, uint64_t n, struct buf *out, struct err *e)
{
	struct elem x;
	enum status st = ST_OK;

	while (n-- && (st = op_next(i, &x, e)) == ST_OK)
		buf_put(out, x.p, x.len);
	return st;
}

static void
saved_go_on(struct saved *s, const char *spec, const struct buf *state, const struct buf *head,
	    const struct buf *whole)
{
	struct op_inst *i;
	struct buf rest = { 0 };

	assert_int_equal(op_open(s->plan->top, &s->ctx, &i, &s->e), ST_OK);
	if (op_state_restore(i, state->data, state->len, &s->e) != ST_OK)
		fail_msg("%s: %s", spec, s->e.text);
	if (head->len)
		buf_put(&rest, head->data, head->len);
	assert_int_equal(saved_take(i, UINT64_MAX, &rest, &s->e), ST_END);
	if (rest.len != whole->len || memcmp(rest.data, whole->data, rest.len))
		fail_msg("%s: differs after %zu bytes", spec, head->len);
	op_close(&i);
	buf_clear(&rest);
}

static void
saved_anywhere_it_goes_on(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof save_specs / sizeof *save_specs; k++) {
		struct saved s;
		struct op_inst *i;
		struct buf whole = { 0 }, head = { 0 }, bytes = { 0 };
		struct rng r = { .key = k };
		enum status st = ST_OK;

		saved_open(&s, save_specs[k]);
		assert_int_equal(op_open(s.plan->top, &s.ctx, &i, &s.e), ST_OK);
		assert_int_equal(saved_take(i, UINT64_MAX, &whole, &s.e), ST_END);
		op_close(&i);
		assert_int_equal(op_open(s.plan->top, &s.ctx, &i, &s.e), ST_OK);
		/* between runs, and in their middle */
		for (unsigned turn = 0; st == ST_OK; turn++) {
			struct run *run;

			buf_reset(&bytes);
			if (!op_state_save(i, &bytes))
				fail_msg("%s: cannot be saved", save_specs[k]);
			saved_go_on(&s, save_specs[k], &bytes, &head, &whole);
			if (turn % 2) {
				st = saved_take(i, 1 + rng_below(&r, 400), &head, &s.e);
			} else if ((st = op_pull(i, &run, &s.e)) == ST_OK) {
				for (uint32_t n = 0; n < run->n; n++)
					buf_put(&head, run->e[n].p, run->e[n].len);
			}
		}
		assert_int_equal(st, ST_END);
		assert_int_equal(head.len, whole.len);
		op_close(&i);
		buf_clear(&whole);
		buf_clear(&head);
		buf_clear(&bytes);
		plan_free(&s.plan);
	}
}

/* Pulls that come back with nothing; at each third of them the chain is closed, and another one goes
 * on from its state. Gives the number of empty runs. */
static unsigned
brief_take(struct saved *s, const char *spec, struct buf *out)
{
	struct op_inst *i;
	struct buf bytes = { 0 };
	struct run *run;
	unsigned empty = 0;
	enum status st;

	assert_int_equal(op_open(s->plan->top, &s->ctx, &i, &s->e), ST_OK);
	op_brief(i);
	for (unsigned turn = 1; (st = op_pull(i, &run, &s->e)) == ST_OK; turn++) {
		empty += run->n == 0;
		for (uint32_t n = 0; n < run->n; n++)
			buf_put(out, run->e[n].p, run->e[n].len);
		if (turn % 3)
			continue;
		buf_reset(&bytes);
		if (!op_state_save(i, &bytes))
			fail_msg("%s: cannot be saved", spec);
		op_close(&i);
		assert_int_equal(op_open(s->plan->top, &s->ctx, &i, &s->e), ST_OK);
		assert_int_equal(op_state_restore(i, bytes.data, bytes.len, &s->e), ST_OK);
		op_brief(i);
	}
	assert_int_equal(st, ST_END);
	op_close(&i);
	buf_clear(&bytes);
	return empty;
}

static void
saved_between_two_elements_it_goes_on(void **state)
{
	unsigned empty = 0;

	(void)state;
	for (size_t k = 0; k < sizeof save_specs / sizeof *save_specs; k++) {
		struct saved s;
		struct op_inst *i;
		struct buf whole = { 0 }, parts = { 0 };

		saved_open(&s, save_specs[k]);
		assert_int_equal(op_open(s.plan->top, &s.ctx, &i, &s.e), ST_OK);
		assert_int_equal(saved_take(i, UINT64_MAX, &whole, &s.e), ST_END);
		op_close(&i);
		empty += brief_take(&s, save_specs[k], &parts);
		if (parts.len != whole.len || memcmp(parts.data, whole.data, parts.len))
			fail_msg("%s: differs", save_specs[k]);
		buf_clear(&whole);
		buf_clear(&parts);
		plan_free(&s.plan);
	}
	assert_true(empty > 20); /* filter, count, batch, ... */
}

/* A state to be restored may be any bytes. */
static void
a_broken_state_does_no_harm(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof save_specs / sizeof *save_specs; k++) {
		struct saved s;
		struct op_inst *i;
		struct buf bytes = { 0 }, out = { 0 };
		struct rng r = { .key = 1000 + k };

		saved_open(&s, save_specs[k]);
		assert_int_equal(op_open(s.plan->top, &s.ctx, &i, &s.e), ST_OK);
		saved_take(i, 30, &out, &s.e);
		assert_true(op_state_save(i, &bytes));
		op_close(&i);
		for (int turn = 0; turn < 60; turn++) {
			size_t at = rng_below(&r, bytes.len), n = bytes.len;
			uint8_t was = bytes.data[at];

			if (turn % 4 == 0)
				n = at;
			else
				bytes.data[at] = (uint8_t)rng_next(&r);
			assert_int_equal(op_open(s.plan->top, &s.ctx, &i, &s.e), ST_OK);
			buf_reset(&out);
			if (op_state_restore(i, bytes.data, n, &s.e) == ST_OK)
				saved_take(i, 2000, &out, &s.e);
			op_close(&i);
			bytes.data[at] = was;
		}
		buf_clear(&bytes);
		buf_clear(&out);
		plan_free(&s.plan);
	}
}

/* How many elements a chain has taken in whose first element comes late; -1: all it takes come out. */
static int64_t
stored(const char *spec)
{
	struct saved s;
	struct op_inst *i;
	struct buf out = { 0 };

	saved_open(&s, spec);
	assert_int_equal(op_open(s.plan->top, &s.ctx, &i, &s.e), ST_OK);
	const struct op_inst *from = op_stored(i);
	saved_take(i, 1, &out, &s.e);
	int64_t n = from ? (int64_t)op_stat_get(&from->stats.elements) : -1;
	op_close(&i);
	buf_clear(&out);
	plan_free(&s.plan);
	return n;
}

static void
what_is_stored_is_counted(void **state)
{
	(void)state;
	assert_int_equal(stored("range 3000 | map x + 1 | batch 7"), -1);
	assert_int_equal(stored("range 3000 | filter x < 2000 | count"), 2000);
	assert_int_equal(stored("range 3000 | sort | filter x > 2000 | count"), 3000);
	assert_int_equal(stored("zip (range 3000) (range 9 | count)"), -1);
}
