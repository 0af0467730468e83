/* SPDX-License-Identifier: MIT
 *
 * exec from inside: what goes to children and what comes from them, states,
 * and chains that are closed in the middle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/exec_args.h"
#include "value/format/frame.h"
#include "op/exec/exec_hold.h"
#include "op/op.h"
#include "op/facts.h"
#include "op/pull.h"
#include "value/format/format.h"
#include "value/mp.h"
#include "plan_help.h"

/* Elements as text, a line each, from at most max runs. */
static enum status
exec_read(struct op_inst *i, unsigned max, struct buf *out)
{
	struct run *r;
	struct err e = { 0 };
	enum status st = ST_OK;

	while (max-- && (st = op_pull(i, &r, &e)) == ST_OK) {
		for (uint32_t k = 0; k < r->n; k++) {
			text_print(r->e[k].p, r->e[k].len, out);
			buf_byte(out, '\n');
		}
	}
	if (st != ST_OK && st != ST_END)
		fail_msg("%s", e.text);
	return st;
}

static struct op_inst *
exec_chain(const struct plan *p, struct op_ctx *ctx)
{
	struct op_inst *i;
	struct err e = { 0 };

	ctx->seed = 1;
	if (op_open(p->top, ctx, &i, &e) != ST_OK)
		fail_msg("%s", e.text);
	return i;
}

/* Saved after so many runs, and continued in another chain: nothing is lost or
 * repeated, whatever was in flight. */
static void
exec_saved_at(const char *spec, unsigned runs, const char *expected)
{
	struct plan *p = plan_from(spec);
	struct op_ctx ctx = { 0 };
	struct buf got = { 0 }, state = { 0 };
	struct err e = { 0 };
	struct op_inst *a = exec_chain(p, &ctx), *b;

	exec_read(a, runs, &got);
	assert_true(op_state_save(a, &state));
	op_close(&a);
	b = exec_chain(p, &ctx);
	assert_int_equal(op_state_restore(b, state.data, state.len, &e), ST_OK);
	assert_int_equal(exec_read(b, UINT32_MAX, &got), ST_END);
	assert_string_equal((char *)got.data, expected);
	op_close(&b);
	buf_clear(&got);
	buf_clear(&state);
	plan_free(&p);
}

static void
a_saved_chain_goes_on_with_what_was_in_flight(void **unused)
{
	static const char *const specs[] = {
		"range 2000 | exec -- cat",
		"range 2000 | exec parallel=3 window=7 -- cat",
		"range 2000 | exec proto=len32 -- cat | exec proto=nul -- cat",
		"range 2000 | exec window=1 -- cat | prefetch 3",
	};
	struct buf want = { 0 };

	(void)unused;
	for (int k = 0; k < 2000; k++)
		buf_printf(&want, "%d\n", k);
	for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
		for (unsigned runs = 0; runs < 6; runs += s % 2 + 1)
			exec_saved_at(specs[s], runs, (char *)want.data);
	buf_clear(&want);
}

static void
processes_for_each_element_are_saved_too(void **unused)
{
	(void)unused;
	exec_saved_at("range 9 | exec proto=arg parallel=2 -- echo {#}", 2,
		      "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

/* Each element has its record once, also those that failed or gave nothing. */
static void
logged_elements_are_saved_too(void **unused)
{
	static const char *const specs[] = {
		"range 40 | exec proto=arg parallel=3 on_error=skip log=true -- sh -c 'test $(($0 % 5)) != 3 || exit 7; "
			"test $(($0 % 5)) = 4 || echo $0' {} | map [.number - 1, .code, len(.answers)]",
		"range 40 | exec parallel=3 window=2 log=true -- cat | map [.number - 1, .code, len(.answers)]",
		"range 40 | exec proto=msgpack log=true -- pipelines/programs/total.py | map [.number - 1, .code, len(.answers)]",
	};

	(void)unused;
	for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
		struct buf want = { 0 };

		for (int k = 0; k < 40; k++)
			buf_printf(&want, "[%d,%d,%d]\n", k, s == 0 && k % 5 == 3 ? 7 : 0,
				   s == 1 ? 1 : s == 0 ? k % 5 < 3 : k % 2 == 0);
		for (unsigned runs = 0; runs < 30; runs = runs * 3 / 2 + 1)
			exec_saved_at(specs[s], runs, (char *)want.data);
		buf_clear(&want);
	}
}

/* Sums, answered out of order by a program that works on 32 at a time. */
static void
a_program_that_keeps_a_state_goes_on_with_it(void **unused)
{
	struct buf want = { 0 };
	long total = 0;

	(void)unused;
	for (int k = 0; k < 3000; k++) {
		total += k;
		if (k % 2 == 0)
			buf_printf(&want, "%ld\n", total);
	}
	/* Also where it has ended, and answers are left to be given. */
	for (unsigned runs = 0; runs < 300; runs = runs * 3 / 2 + 1)
		exec_saved_at("range 3000 | exec proto=msgpack -- pipelines/programs/total.py", runs,
			      (char *)want.data);
	buf_clear(&want);
}

static void
a_stream_child_has_no_state(void **unused)
{
	struct plan *p = plan_from("range 9000 | exec proto=stream -- cat");
	struct op_ctx ctx = { 0 };
	struct op_inst *i = exec_chain(p, &ctx);
	struct buf got = { 0 }, state = { 0 };

	(void)unused;
	exec_read(i, 1, &got);
	assert_false(op_state_save(i, &state));
	op_close(&i);
	buf_clear(&got);
	buf_clear(&state);
	plan_free(&p);
}

static void
a_chain_closes_at_any_moment(void **unused)
{
	static const char *const specs[] = {
		"range 1_000_000_000 | exec -- cat",
		"range 1_000_000_000 | exec parallel=2 ordered=false -- cat",
		"range 1_000_000_000 | exec proto=stream -- cat",
		"range 1_000_000_000 | exec proto=arg parallel=3 -- echo",
		"cmd -- yes",
	};

	(void)unused;
	for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
		for (unsigned runs = 0; runs < 3; runs++) {
			struct plan *p = plan_from(specs[s]);
			struct op_ctx ctx = { 0 };
			struct op_inst *i = exec_chain(p, &ctx);
			struct buf got = { 0 };

			exec_read(i, runs, &got);
			op_close(&i);
			buf_clear(&got);
			plan_free(&p);
		}
	}
}

static void
another_pass_starts_the_child_anew(void **unused)
{
	struct plan *p = plan_from("range 3 | exec -- cat | repeat 2");
	struct op_ctx ctx = { 0 };
	struct op_inst *i = exec_chain(p, &ctx);
	struct buf got = { 0 };

	(void)unused;
	assert_int_equal(exec_read(i, UINT32_MAX, &got), ST_END);
	assert_string_equal((char *)got.data, "0\n1\n2\n0\n1\n2\n");
	op_close(&i);
	buf_clear(&got);
	plan_free(&p);
}

/* Answers in pieces of one byte are found where the whole ones are. */
static void
frames_are_found_whatever_the_pieces(void **unused)
{
	static const struct { enum frame_proto proto; const char *bytes; size_t n, len; } rows[] = {
		{ FRAME_LINE, "abc\nd", 5, 4 }, { FRAME_LINE, "\n", 1, 1 },
		{ FRAME_NUL, "a\nb\0c", 5, 4 }, { FRAME_NETSTRING, "3:a,b,2:", 8, 6 },
		{ FRAME_LEN32, "\0\0\0\2abc", 7, 6 }, { FRAME_MSGPACK, "\x92\x01\xa1x\x02", 5, 4 },
	};

	(void)unused;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct frame f;
		struct err e = { 0 };
		size_t len = 0, at = 0;

		frame_init(&f, rows[k].proto, 1000);
		while (len == 0 && at <= rows[k].n)
			assert_int_equal(frame_find(&f, (const uint8_t *)rows[k].bytes, at++, false,
						    &len, &e), ST_OK);
		assert_int_equal(len, rows[k].len);
		frame_clear(&f);
	}
}

static void
frames_that_cannot_be_are_refused(void **unused)
{
	static const struct { enum frame_proto proto; const char *bytes; size_t n; } rows[] = {
		{ FRAME_NETSTRING, "x:a,", 4 }, { FRAME_NETSTRING, "1:ab", 4 },
		{ FRAME_NETSTRING, "99999999999:", 12 }, { FRAME_NETSTRING, "200:", 4 },
		{ FRAME_LEN32, "\xff\xff\xff\xff", 4 }, { FRAME_MSGPACK, "\xc1", 1 },
		{ FRAME_LINE, "a line that is longer than all of what may be here, "
			      "for it goes on and on and on, and on and on and on", 102 },
	};

	(void)unused;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct frame f;
		struct err e = { 0 };
		size_t len;

		frame_init(&f, rows[k].proto, 100);
		assert_int_equal(frame_find(&f, (const uint8_t *)rows[k].bytes, rows[k].n, false,
					    &len, &e), ST_DATA);
		frame_clear(&f);
	}
}

static void
values_are_no_script(void **unused)
{
	char script[] = "echo {} '{.a}'", *v[] = { script };
	struct words words = { v, 1 };
	struct exec_args a;
	struct err e = { 0 };
	uint8_t bytes[32], *end = mp_put_record_head(bytes, 1);

	(void)unused;
	end = mp_put_text(end, "a", 1);
	end = mp_put_text(end, "b'; c", 5);
	struct elem x = { .p = bytes, .len = (uint32_t)(end - bytes) };
	exec_args_open(&a, &words, true, true);
	assert_int_equal(exec_args_fill(&a, &x, 1, 1, &e), ST_OK);
	assert_string_equal(a.argv[0], "echo \"${1}\" '\"${2}\"'");
	assert_string_equal(a.argv[1], "sh");
	assert_string_equal(a.argv[2], "{\"a\":\"b'; c\"}");
	assert_string_equal(a.argv[3], "b'; c");
	assert_null(a.argv[4]);
	exec_args_clear(&a);
}

static void
each_program_has_its_cure(void **unused)
{
	(void)unused;
	assert_non_null(strstr(exec_hold_cure("/usr/bin/python3.11"), "-u"));
	assert_non_null(strstr(exec_hold_cure("jq"), "--unbuffered"));
	assert_non_null(strstr(exec_hold_cure("sed"), "sed -u"));
	assert_non_null(strstr(exec_hold_cure("grep"), "--line-buffered"));
	assert_non_null(strstr(exec_hold_cure("whatever"), "stdbuf -oL"));
}

static void
plans_that_run_programs_are_known(void **unused)
{
	static const struct { const char *spec; bool runs; } rows[] = {
		{ "range 3", false }, { "cmd -- ls", true }, { "range 3 | exec -- cat | take 1", true },
		{ "range 3 | interleave (range x | sh cat)", true },
		{ "zip (range 3) (cmd -- ls)", true }, { "range 3 | interleave (range x)", false },
	};

	(void)unused;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
		struct plan *p = plan_from(rows[k].spec);

		assert_int_equal(op_needs_exec(p->top) != NULL, rows[k].runs);
		plan_free(&p);
	}
}
