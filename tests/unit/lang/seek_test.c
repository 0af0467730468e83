/* SPDX-License-Identifier: MIT
 *
 * Lines that the filter behind their source would drop are passed over, which nobody
 * must see, and before count no line is made: elements, places, failures, counts and saved states are those of a
 * pipeline in which something stands between, so that every line is made.
 */
#include "lang_help.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/rng.h"
#include "op/op.h"
#include "op/pull.h"
#include "value/format/format.h"

static char seek_file[] = "/tmp/dsvc-seek-XXXXXX";

static int
seek_setup(void **state)
{
	int fd = mkstemp(seek_file);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int
seek_teardown(void **state)
{
	(void)state;
	return unlink(seek_file);
}

#define GROUP_SETUP seek_setup
#define GROUP_TEARDOWN seek_teardown

struct seek {
	const char *args;       /* parameters of lines */
	const char *test;       /* the filter, or count */
	uint32_t element_max;
	uint64_t step;          /* size of the splits; 0: none */
	uint64_t size, at;      /* size of the file; where the next split begins */
	bool broken;            /* begun again from a saved state after every run */
	struct buf out;         /* elements with their places, failures, counts */
	uint64_t runs;          /* number of runs of the source, unless broken or split */
};

static void
seek_failed(void *arg, const struct op_failure *f)
{
	struct seek *s = arg;

	buf_printf(&s->out, "failed: %s, line %d\n", f->e->text, (int)f->line);
}

static enum status
seek_split(void *arg, struct split *out, struct err *e)
{
	struct seek *s = arg;

	(void)e;
	if (s->at >= s->size)
		return ST_END;
	*out = (struct split){ .kind = SPLIT_FILE, .path = mem_strdup(seek_file), .times = 1,
			       .start = s->at, .count = s->step };
	s->at += s->step;
	return ST_OK;
}

static void
seek_put(struct seek *s, const struct run *run)
{
	for (uint32_t i = 0; i < run->n; i++) {
		const char *file = NULL;
		uint64_t line = 0;

		run_place(run, &run->e[i], &file, &line);
		buf_printf(&s->out, "%s:%d: ", file ? "file" : "-", (int)line);
		text_print(run->e[i].p, run->e[i].len, &s->out);
		buf_byte(&s->out, '\n');
	}
}

static void
seek_again(struct seek *s, const struct plan *plan, struct op_ctx *ctx, struct op_inst **chain)
{
	struct buf state = { 0 };
	struct err e = { 0 };

	(void)s;
	assert_true(op_state_save(*chain, &state));
	op_close(chain);
	assert_int_equal(op_open(plan->top, ctx, chain, &e), ST_OK);
	assert_int_equal(op_state_restore(*chain, state.data, state.len, &e), ST_OK);
	buf_clear(&state);
}

/* Runs `lines ARGS FILE BETWEEN | filter TEST`, or `lines ARGS FILE BETWEEN | count`. */
static void
seek_run(struct seek *s, const char *between)
{
	struct op_ctx ctx = { .seed = 1, .element_max = s->element_max, .failure = seek_failed, .arg = s,
			      .next_split = s->step ? seek_split : NULL };
	char spec[300];
	struct op_inst *chain;
	struct err e = { 0 };
	struct run *run;
	enum status st;

	snprintf(spec, sizeof spec, "lines %s %s %s | %s%s", seek_file, s->args, between,
		 *s->test == 'c' ? "" : "filter ", s->test);
	struct plan *plan = help_plan(spec);
	buf_reset(&s->out);
	s->at = s->runs = 0;
	assert_int_equal(op_open(plan->top, &ctx, &chain, &e), ST_OK);
	while ((st = op_pull(chain, &run, &e)) == ST_OK) {
		seek_put(s, run);
		if (s->broken)
			seek_again(s, plan, &ctx, &chain);
	}
	if (st != ST_END)
		buf_printf(&s->out, "error: %s, line %d\n", e.text, (int)e.line);
	else if (!s->broken && !s->step) {
		const struct op_inst *source = chain;

		while (source->n_in)
			source = source->in[0];
		buf_printf(&s->out, "%d lines\n", (int)source->stats.elements);
		s->runs = source->stats.runs;
	}
	op_close(&chain);
	plan_free(&plan);
}

/* Runs it with and without something between. */
static void
seek_same(struct seek *s)
{
	seek_run(s, "| map x");
	char *want = buf_take(&s->out);
	seek_run(s, "");
	buf_str(&s->out, "");
	if (strcmp((char *)s->out.data, want))
		fail_msg("lines %s | %s, element_max %u, splits of %d, %s:\n%.400s-- and not:\n%.400s", s->args,
			 s->test, s->element_max, (int)s->step, s->broken ? "broken off" : "in one piece",
			 (char *)s->out.data, want);
	mem_free(want);
}

static void
seek_write(struct seek *s, const struct buf *text)
{
	FILE *f = fopen(seek_file, "w");

	assert_non_null(f);
	s->size = text->len;
	if (text->len)
		assert_int_equal(fwrite(text->data, 1, text->len, f), text->len);
	assert_int_equal(fclose(f), 0);
}

static const char *const seek_tests[] = {
	"x ~ /ab/", "x ~ /aba/", "x ~ /ab|ba/", "x ~ /^ab/", "x ~ /ba$/", "x ~ /a+b/", "x ~ /(?i)ab/", "x ~ /ab/i",
	"x !~ /ab/", "not (x !~ /bb/)", "x ~ \"bab\"", "x ~ /a\\nb/", "x ~ \"a\\nb\"", "x ~ /zz/", "x ~ /a\\rb?/",
	"x ~ /aaaa|bbbb|abab|baba/", "x ~ /ab/ on_error=keep", "x ~ /ab/ parallel=2", "x ~ /ab/ and i % 2 == 0",
	"count", "count partial=make",
};

/* A text of few letters, so that needles stand everywhere: also across ends of lines. */
static void
seek_text(struct rng *r, size_t n, unsigned letters, struct buf *text)
{
	static const char all[] = "ab\n\r;cdefgh";

	buf_reset(text);
	for (size_t i = 0; i < n; i++)
		buf_byte(text, (uint8_t)all[rng_below(r, letters)]);
}

static void
small_texts_give_the_same(void **state)
{
	static const char *const args[] = { "", "on_error=skip", "delim=\";\" on_error=skip", "skip=2", "delim=a" };
	enum { N_TESTS = sizeof seek_tests / sizeof *seek_tests, N_ARGS = sizeof args / sizeof *args };
	struct buf text = { 0 };
	struct seek s = { 0 };
	struct rng r;

	(void)state;
	r = (struct rng){ .key = 7 };
	for (int k = 0; k < 600; k++) {
		seek_text(&r, rng_below(&r, 120), 3 + (unsigned)rng_below(&r, 3), &text);
		seek_write(&s, &text);
		s.args = args[rng_below(&r, N_ARGS)];
		s.test = seek_tests[rng_below(&r, N_TESTS)];
		s.element_max = k % 3 ? 1 << 20 : 16 + (unsigned)rng_below(&r, 100);
		s.step = k % 2 ? 1 + rng_below(&r, 40) : 0;
		s.broken = !s.step && k % 4;
		seek_same(&s);
	}
	buf_clear(&text);
	buf_clear(&s.out);
}

/* Several windows, with lines of all lengths, of which few hold a needle, or many. */
static void
large_texts_give_the_same(void **state)
{
	static const char *const some[] = { "x ~ /needle/", "x ~ /needle|ab/", "x ~ /zz/", "x ~ /ed|zzzz/", "count" };
	struct buf text = { 0 };
	struct seek s = { .args = "", .element_max = 1 << 20 };
	struct rng r;

	(void)state;
	r = (struct rng){ .key = 8 };
	for (int k = 0; k < 10; k++) {
		buf_reset(&text);
		while (text.len < 700000) {
			bool full = text.len / 100000 % 2;
			size_t n = rng_below(&r, 400) ? rng_below(&r, 120) : rng_below(&r, 90000);

			for (size_t i = 0; i < n; i++)
				buf_byte(&text, (uint8_t)("cdefgh"[i * 7 % 6]));
			if (rng_below(&r, full ? 2 : 50) == 0)
				buf_str(&text, "needle"), text.len -= k % 2;
			buf_byte(&text, '\n');
		}
		seek_write(&s, &text);
		s.test = some[k % 5];
		s.broken = k >= 8;
		s.step = k == 5 || k == 7 ? 100001 : 0;
		seek_same(&s);
	}
	buf_clear(&text);
	buf_clear(&s.out);
}

/* Files so large that lines are looked at where the kernel has them; the elements may be so small that these are short
 * stretches, at whose borders needles and line ends stand. */
static void
large_files_give_the_same(void **state)
{
	static const char *const some[] = { "x ~ /aba/", "x ~ /^ab/", "x ~ /^ab|^ba/", "x ~ /^ab/m", "x ~ /abab|ba;/", "count",
					    "x ~ /zz/", "x ~ /ab|ba|bb|a;/", "x ~ /a\rb?/", "x !~ /ab/" };
	static const char *const args[] = { "", "on_error=skip", "delim=\";\" on_error=skip", "skip=2 on_error=skip",
					    "delim=\"\\0\"" };
	static const uint32_t maxima[] = { 64, 250, 4000, 1 << 20 };
	struct buf text = { 0 };
	struct seek s = { 0 };
	struct rng r = { .key = 9 };

	(void)state;
	for (int k = 0; k < 60; k++) {
		size_t n = (1 << 20) + rng_below(&r, 70000);

		buf_reset(&text);
		if (k % 7 == 3)
			buf_str(&text, "\xef\xbb\xbf");
		while (text.len < n) {
			size_t words = rng_below(&r, 200) ? rng_below(&r, 12) : rng_below(&r, 300);

			while (words--)
				buf_str(&text, rng_below(&r, k % 2 ? 40 : 6) ? "cdefgh" : rng_below(&r, 9) ? "ab" : "a;b");
			buf_str(&text, "\n\0\n\r\n\n" + 2 * rng_below(&r, 2));
			if (rng_below(&r, 9) == 0)
				buf_byte(&text, '\0');
		}
		seek_write(&s, &text);
		s.test = some[k % 10];
		s.args = args[rng_below(&r, 5)];
		s.element_max = maxima[k / 10 % 4];
		s.step = k % 4 == 1 ? 100001 : 0;
		s.broken = !s.step && k % 4 == 3 && s.element_max > 4000;
		seek_same(&s);
	}
	buf_clear(&text);
	buf_clear(&s.out);
}

/* A file that is made shorter while it is read ends there; nothing is made of bytes that it does not have. */
static void
a_file_that_becomes_shorter_ends_there(void **state)
{
	static const size_t left[] = { 0, 1 << 20, (3 << 20) + 5000, (4 << 20) + 4096 };
	struct op_ctx ctx = { .seed = 1, .element_max = 1 << 26 };
	struct buf text = { 0 };
	struct seek s = { 0 };

	(void)state;
	while (text.len < 6 << 20)
		buf_str(&text, "a line that holds no needle at all, and one\n\nneedle\n");
	for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
		struct op_inst *chain;
		struct err e = { 0 };
		struct run *run;
		char spec[100];
		size_t n = 0;

		seek_write(&s, &text);
		snprintf(spec, sizeof spec, "lines %s | filter x ~ /needle|line/", seek_file);
		struct plan *plan = help_plan(spec);
		assert_int_equal(op_open(plan->top, &ctx, &chain, &e), ST_OK);
		while (n < 2000) {
			assert_int_equal(op_pull(chain, &run, &e), ST_OK);
			n += run->n;
		}
		assert_int_equal(truncate(seek_file, (off_t)left[i]), 0);
		while (op_pull(chain, &run, &e) == ST_OK)
			for (uint32_t at = 0; at < run->n; at++, n++)
				assert_null(memchr(run->e[at].p + 5, 0, run->e[at].len - 5));
		assert_int_equal(e.kind, ST_OK);
		/* lines that had been read before are given, too */
		assert_true(n <= left[i] / 26 + 1 || left[i] == 0);
		assert_true(n + 30000 >= left[i] / 27);
		op_close(&chain);
		plan_free(&plan);
	}
	buf_clear(&text);
	buf_clear(&s.out);
}

static void
lines_without_a_needle_are_not_made(void **state)
{
	struct buf text = { 0 };
	struct seek s = { .args = "", .element_max = 1 << 26, .test = "x ~ /needle/" };

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_printf(&text, "line %d\n", i);
	seek_write(&s, &text);
	seek_same(&s);
	assert_string_equal((char *)s.out.data, "100000 lines\n");
	assert_true(s.runs < 20);
	s.test = "count";
	seek_same(&s);
	assert_string_equal((char *)s.out.data, "-:0: 100000\n100000 lines\n");
	buf_clear(&text);
	buf_clear(&s.out);
}

static void
a_source_right_before_count_makes_no_lines(void **state)
{
	static const struct { const char *behind; bool told; } rows[] = {
		{ "count", true }, { "count partial=make", true }, { "count | map x + 1", true },
		{ "count partial=join", false }, { "take 3 | count", false }, { "map x | count", false },
		{ "filter x ~ /ab/ | count", false }, { "sort", false }, { "unique | count", false },
	};
	struct buf text = { 0 };
	struct seek s = { 0 };

	(void)state;
	seek_write(&s, &text);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char spec[200];

		snprintf(spec, sizeof spec, "lines %s | %s", seek_file, rows[i].behind);
		struct plan *plan = help_plan(spec);
		const struct op_node *n = plan->top;

		while (n->n_in)
			n = n->in[0];
		if (n->counted != rows[i].told)
			fail_msg("%s: the source is%s told", rows[i].behind, n->counted ? "" : " not");
		plan_free(&plan);
	}
}

/* Somebody looks at what the source gives: then it gives every line. */
static atomic_uint seek_tap;
static uint64_t seek_tapped_n;

static void
seek_tapped(void *arg, const struct run *r)
{
	(void)arg;
	seek_tapped_n += r->n;
}

static void
a_source_that_is_looked_at_gives_all_lines(void **state)
{
	struct op_ctx ctx = { .seed = 1, .element_max = 1 << 20, .tap = &seek_tap, .tapped = seek_tapped };
	struct buf text = { 0 };
	struct seek s = { 0 };
	struct op_inst *chain;
	struct err e = { 0 };
	struct run *run;
	char spec[100];

	(void)state;
	buf_str(&text, "a\nb\nab\nc\nab\n");
	seek_write(&s, &text);
	snprintf(spec, sizeof spec, "lines %s | filter x ~ /ab/", seek_file);
	for (unsigned place = 0; place < 2; place++) {
		struct plan *plan = help_plan(spec);

		seek_tapped_n = 0;
		atomic_store(&seek_tap, place * plan->top->in[0]->place);
		assert_int_equal(op_open(plan->top, &ctx, &chain, &e), ST_OK);
		while (op_pull(chain, &run, &e) == ST_OK)
			;
		assert_int_equal(seek_tapped_n, place ? 5 : 0);
		op_close(&chain);
		plan_free(&plan);
	}
	buf_clear(&text);
}

/* Only a filter right behind the source, by nothing but a pattern that needs a text, says what it drops. */
static void
only_such_a_filter_tells_its_source(void **state)
{
	static const struct { const char *behind; bool told; } rows[] = {
		{ "filter x ~ /ab/", true }, { "grep /ab/", true }, { "filter x ~ \"ab\" | take 1", true },
		{ "filter not (x !~ /ab|cd/)", true }, { "filter x ~ /ab/ | count", true },
		{ "filter x !~ /ab/", false }, { "filter not (x ~ /ab/)", false }, { "filter x ~ /ab/i", false },
		{ "filter x ~ /a/", false }, { "filter x ~ /ab|/", false }, { "filter x ~ /ab/ or x == 'q'", false },
		{ "filter x ~ /ab/ and i > 3", false }, { "take 3 | filter x ~ /ab/", false },
		{ "map x | filter x ~ /ab/", false }, { "take_while x ~ /ab/", false }, { "assert x ~ /ab/", false },
		{ "count", false }, { "skip 1 | filter x ~ /ab/", false },
		{ "repeat 2 | filter x ~ /ab/", false }, { "map x ~ /ab/", false },
	};
	struct buf text = { 0 };
	struct seek s = { 0 };

	(void)state;
	seek_write(&s, &text);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char spec[200];

		snprintf(spec, sizeof spec, "lines %s | %s", seek_file, rows[i].behind);
		struct plan *plan = help_plan(spec);
		const struct op_node *n = plan->top;

		while (n->n_in)
			n = n->in[0];
		if (!n->needles == rows[i].told)
			fail_msg("%s: the source is%s told", rows[i].behind, n->needles ? "" : " not");
		plan_free(&plan);
	}
}
