/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/opt.h"

#define GROUP_TEARDOWN clean

struct box {
	int64_t count, verbose, window;
	bool quiet, stats;
	char *dispatcher, *file;
	struct words set;
	int order;
};

static const struct param rows[] = {
	OPT_DISPATCHER(struct box),
	OPT_QUIET(struct box),
	OPT_VERBOSE(struct box),
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .def = "inf",
	  .offset = offsetof(struct box, count), .flags = PARAM_ALLOW_INF, .max = 1000,
	  .help = "stop after N elements" },
	{ .name = "window-size", .arg = "N", .kind = PARAM_INT, .def = "5",
	  .offset = offsetof(struct box, window), .help = "how far ahead" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .offset = offsetof(struct box, set), .flags = PARAM_OPTIONAL | PARAM_REPEAT,
	  .help = "set a parameter" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD,
	  .offset = offsetof(struct box, file), .flags = PARAM_OPTIONAL, .help = "spec file" },
	{ .name = "stats", .kind = PARAM_BOOL, .offset = offsetof(struct box, stats), .def = "true",
	  .help = "print figures at the end" },
	{ .name = "order", .arg = "O", .kind = PARAM_CHOICE, .offset = offsetof(struct box, order),
	  .choices = "any|stable", .def = "any", .help = "order of elements" },
	{ 0 },
};
static const struct program loose = { .name = "dsvc-read", .brief = "reads", .rows = rows };
static const struct program strict = {
	.name = "dsvc-run", .brief = "runs", .rows = rows, .flags = PROGRAM_STOP_AT_OPERAND
};

static struct box box;
static struct opt opt;
static struct err err;

/* Parses words up to a NULL. */
static enum status
parse(const struct program *p, ...)
{
	static char *argv[32];
	int argc = 0;
	va_list ap;

	opt_clear(&loose, &box, &opt);
	box = (struct box){ 0 };
	err_clear(&err);
	argv[argc++] = (char *)(uintptr_t)p->name;
	va_start(ap, p);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	return opt_parse(p, argc, argv, &box, &opt, &err);
}

static int
clean(void **state)
{
	(void)state;
	opt_clear(&loose, &box, &opt);
	return 0;
}

static void
all_spellings_of_an_argument(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "-n5", NULL), ST_OK);
	assert_int_equal(box.count, 5);
	assert_int_equal(parse(&loose, "-n", "6", NULL), ST_OK);
	assert_int_equal(box.count, 6);
	assert_int_equal(parse(&loose, "--count=7", NULL), ST_OK);
	assert_int_equal(box.count, 7);
	assert_int_equal(parse(&loose, "--count", "8", NULL), ST_OK);
	assert_int_equal(box.count, 8);
	assert_int_equal(parse(&loose, "-qvvn9", "-f-", NULL), ST_OK);
	assert_int_equal(box.count, 9);
	assert_int_equal(box.verbose, 2);
	assert_true(box.quiet);
	assert_string_equal(box.file, "-");
}

static void
defaults_stand_when_nothing_is_said(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, NULL), ST_OK);
	assert_true(box.count == INT64_MAX);
	assert_true(box.stats);
	assert_null(box.file);
	assert_int_equal(opt.n, 0);
	assert_null(opt.operand[0]);
}

static void
operands_dash_and_double_dash(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "a", "-q", "-", "b", "--", "-n", NULL), ST_OK);
	assert_int_equal(opt.n, 4);
	assert_string_equal(opt.operand[0], "a");
	assert_string_equal(opt.operand[1], "-");
	assert_string_equal(opt.operand[3], "-n");
	assert_true(box.quiet);
}

static void
a_spec_begins_at_the_first_operand(void **state)
{
	(void)state;
	assert_int_equal(parse(&strict, "-q", "exec", "--", "convert", "-resize", "--help", NULL),
			 ST_OK);
	assert_int_equal(opt.n, 5);
	assert_string_equal(opt.operand[0], "exec");
	assert_string_equal(opt.operand[1], "--");
	assert_string_equal(opt.operand[4], "--help");
	assert_int_equal(parse(&strict, "--", "-x", NULL), ST_OK);
	assert_string_equal(opt.operand[0], "-x");
}

static void
switches_can_be_turned_off_again(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "--no-stats", NULL), ST_OK);
	assert_false(box.stats);
	assert_int_equal(parse(&loose, "--no-stats", "--stats", NULL), ST_OK);
	assert_true(box.stats);
	assert_int_equal(parse(&loose, "-vv", "--no-verbose", NULL), ST_OK);
	assert_int_equal(box.verbose, 0);
	assert_int_equal(parse(&loose, "--no-count", NULL), ST_USAGE);
}

static void
the_last_scalar_wins_and_repeats_collect(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "-n1", "-n2", "-s", "a=1", "--set=b=2", NULL), ST_OK);
	assert_int_equal(box.count, 2);
	assert_int_equal(box.set.n, 2);
	assert_string_equal(box.set.v[1], "b=2");
}

static void
usage(const char *text, const char *help)
{
	assert_int_equal(err.kind, ST_USAGE);
	assert_string_equal(err.text, text);
	assert_string_equal(err.help, help);
}

static void
unknown_options_get_suggestions(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "--cont", NULL), ST_USAGE);
	usage("unknown option `--cont`", "did you mean `--count`? `dsvc-read --help` shows all");
	assert_int_equal(parse(&loose, "--zzzzzz", NULL), ST_USAGE);
	usage("unknown option `--zzzzzz`", "`dsvc-read --help` shows all options");
	assert_int_equal(parse(&loose, "-x", NULL), ST_USAGE);
	usage("unknown option `-x`", "`dsvc-read --help` shows all options");
}

static void
long_names_are_never_abbreviated(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "--coun=5", NULL), ST_USAGE);
	assert_int_equal(parse(&loose, "--c", "5", NULL), ST_USAGE);
	assert_int_equal(parse(&loose, "--", "--c", NULL), ST_OK);
}

static void
missing_and_superfluous_arguments(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "--count", NULL), ST_USAGE);
	usage("option `--count` needs an argument: N", "`dsvc-read --help` says more");
	assert_int_equal(parse(&loose, "-n", NULL), ST_USAGE);
	usage("option `-n` needs an argument: N", "`dsvc-read --help` says more");
	assert_int_equal(parse(&loose, "--quiet=yes", NULL), ST_USAGE);
	usage("option `--quiet` takes no argument", "write `--quiet` or `--no-quiet`");
}

static void
wrong_values_name_the_option_as_it_was_written(void **state)
{
	(void)state;
	assert_int_equal(parse(&loose, "--window-size", "12x", NULL), ST_USAGE);
	usage("--window-size: '12x' is not a number (try 12, 12k)", "");
	assert_int_equal(parse(&loose, "-n-1", NULL), ST_USAGE);
	usage("-n: '-1' is too small: it must be at least 0", "");
	assert_int_equal(parse(&loose, "--order=stabel", NULL), ST_USAGE);
	usage("--order: 'stabel' is not one of any, stable", "did you mean `stable`?");
}

static void
the_environment_is_weaker_than_the_command_line(void **state)
{
	(void)state;
	setenv("DSVC_WINDOW_SIZE", "7", 1);
	setenv("DSVC_SET", "env=1", 1);
	assert_int_equal(parse(&loose, NULL), ST_OK);
	assert_int_equal(box.window, 7);
	assert_string_equal(opt_from(&opt, &loose, "window-size"), "DSVC_WINDOW_SIZE");
	assert_null(opt_from(&opt, &loose, "count"));
	assert_string_equal(box.set.v[0], "env=1");
	assert_int_equal(parse(&loose, "--window-size=8", "-sx=1", "-sy=1", NULL), ST_OK);
	assert_int_equal(box.window, 8);
	assert_int_equal(box.set.n, 2);
	assert_string_equal(opt_from(&opt, &loose, "window-size"), "--window-size");
	setenv("DSVC_READ_WINDOW_SIZE", "9", 1);
	assert_int_equal(parse(&loose, NULL), ST_OK);
	assert_int_equal(box.window, 9);
	assert_int_equal(parse(&strict, NULL), ST_OK);
	assert_int_equal(box.window, 7);
	setenv("DSVC_READ_WINDOW_SIZE", "", 1);
	assert_int_equal(parse(&loose, NULL), ST_OK);
	assert_int_equal(box.window, 7);
	unsetenv("DSVC_READ_WINDOW_SIZE");
	unsetenv("DSVC_WINDOW_SIZE");
	unsetenv("DSVC_SET");
}

static void
a_wrong_variable_is_named(void **state)
{
	(void)state;
	setenv("DSVC_WINDOW_SIZE", "12x", 1);
	assert_int_equal(parse(&loose, NULL), ST_USAGE);
	usage("DSVC_WINDOW_SIZE=12x (environment): '12x' is not a number (try 12, 12k)", "");
	unsetenv("DSVC_WINDOW_SIZE");
	setenv("DSVC_QUIET", "on", 1);
	assert_int_equal(parse(&loose, NULL), ST_OK);
	assert_true(box.quiet);
	setenv("DSVC_QUIET", "maybe", 1);
	assert_int_equal(parse(&loose, NULL), ST_USAGE);
	unsetenv("DSVC_QUIET");
}

static void
a_program_starts_with_the_log_that_is_asked_for(void **state)
{
	static const struct { const char *words[3]; enum log_level usual, most; } cases[] = {
		{ { NULL }, LOG_WARN, LOG_WARN },
		{ { "-v" }, LOG_WARN, LOG_INFO },
		{ { "-v", "-v" }, LOG_WARN, LOG_DEBUG },
		{ { "-vvv" }, LOG_INFO, LOG_DEBUG },
		{ { "-q", "-v" }, LOG_INFO, LOG_ERROR },
	};
	int code = -1;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *argv[4] = { (char *)(uintptr_t)"x" };
		int argc = 1;

		for (; argc < 3 && cases[i].words[argc - 1]; argc++)
			argv[argc] = (char *)(uintptr_t)cases[i].words[argc - 1];
		opt_clear(&loose, &box, &opt);
		box = (struct box){ 0 };
		assert_true(opt_start(&loose, argc, argv, &box, cases[i].usual, &opt, &err, &code));
		assert_int_equal(log_most(), cases[i].most);
	}
	char *wrong[] = { (char *)(uintptr_t)"x", (char *)(uintptr_t)"--bogus", NULL };
	opt_clear(&loose, &box, &opt);
	assert_false(opt_start(&loose, 2, wrong, &box, LOG_WARN, &opt, &err, &code));
	assert_int_equal(code, 64);
}
