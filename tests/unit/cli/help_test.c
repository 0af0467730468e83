/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/complete.h"
#include "cli/help.h"
#include "cli/mdoc.h"
#include "cli/opt.h"

struct box {
	int64_t count;
	bool stats, secret;
	char *file;
	int order;
	struct words set;
};

static const struct param rows[] = {
	{ .name = "count", .letter = 'n', .arg = "N", .kind = PARAM_INT, .def = "inf",
	  .flags = PARAM_ALLOW_INF, .help = "stop after N elements" },
	{ .name = "file", .letter = 'f', .arg = "FILE", .kind = PARAM_WORD, .complete = "file",
	  .help = "read the spec from FILE, and 'quote' [it]: a-b" },
	{ .name = "set", .letter = 's', .arg = "NAME=VALUE", .kind = PARAM_WORDS,
	  .flags = PARAM_REPEAT, .help = "set a parameter" },
	{ .name = "order-of-elements", .arg = "ORDER", .kind = PARAM_CHOICE,
	  .choices = "any|stable|source", .def = "any", .help = "in which order they come" },
	{ .name = "stats", .kind = PARAM_BOOL, .flags = PARAM_RARE,
	  .help = "print figures; at the end" },
	{ .name = "secret", .kind = PARAM_BOOL, .flags = PARAM_HIDDEN, .help = "not for users" },
	{ 0 },
};

static const char *
op_word(size_t i)
{
	return i == 0 ? "range" : i == 1 ? "lines" : NULL;
}

static void
libraries(struct buf *out)
{
	buf_str(out, "libzmq 4.3.4\n");
}

static const struct program_example examples[] = {
	{ "dsvc-run 'range 3'", "three numbers" },
	{ "dsvc-run 'range 4'", "four" },
	{ "dsvc-run 'range 5'", "five" },
	{ NULL, NULL },
};
static const struct program program = {
	.name = "dsvc-run",
	.brief = "run a pipeline in this process",
	.synopsis = PROGRAM_TEXTS("[OPTION]... SPEC", "[OPTION]... -f FILE"),
	.doc = PROGRAM_TEXTS("The spec is read, checked and run. Nothing else is needed."),
	.rows = rows,
	.examples = examples,
	.operand = "file",
	.operand_word = op_word,
	.versions = libraries,
	.flags = PROGRAM_STOP_AT_OPERAND,
};

static char *
made(void (*f)(struct buf *, const struct program *))
{
	static struct buf b;

	buf_reset(&b);
	f(&b, &program);
	return (char *)b.data;
}

static void
has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("`%s` is not in:\n%s", part, text);
}

static void
short_help_fits_a_screen(void **state)
{
	char *text = made(help_short);
	size_t lines = 0;

	(void)state;
	has(text, "Usage: dsvc-run [OPTION]... SPEC\n       dsvc-run [OPTION]... -f FILE\n"
		  "Run a pipeline in this process.\n");
	has(text, "  -n, --count N              stop after N elements\n");
	has(text, "  dsvc-run 'range 4'  # four\n");
	assert_null(strstr(text, "range 5"));
	assert_null(strstr(text, "secret"));
	assert_null(strstr(text, "--stats"));
	for (char *c = text, *end; (end = strchr(c, '\n')); c = end + 1) {
		lines++;
		assert_true(end - c <= 79);
	}
	assert_true(lines <= 24);
}

static void
full_help_says_everything(void **state)
{
	char *text = made(help_full);

	(void)state;
	has(text, "The spec is read, checked and run.");
	has(text, "(default inf; DSVC_COUNT)");
	has(text, "(one of any, stable,\n                             "
		  "source; default any; DSVC_ORDER_OF_ELEMENTS)\n");
	has(text, "(may be repeated; DSVC_SET)");
	has(text, "print figures; at the end (DSVC_STATS)\n");
	has(text, "range 5");
	has(text, "   64  a wrong option");
	assert_null(strstr(text, "secret"));
}

static void
the_first_line_of_the_version_is_fixed(void **state)
{
	(void)state;
	assert_string_equal(made(help_version), "dsvc-run (dsvc) " PROGRAM_VERSION "\nlibzmq 4.3.4\n");
}

static void
mdoc_is_escaped_sentences(void **state)
{
	struct buf b = { 0 };
	char *text = made(mdoc_options);

	(void)state;
	has(text, ".It Fl \\&n Ar \\&N , Fl \\-count Ar \\&N\nStop after N elements.\n"
		  "The default is\n.Cm \\&inf .\n");
	has(text, "One of\n.Cm \\&any ,\n.Cm stable ,\n.Cm source .\n");
	has(text, "a\\-b");
	assert_null(strstr(text, "secret"));
	mdoc_text(&b, "One. Two `x` ends.\n\n.Three\\n");
	assert_string_equal((char *)b.data, "One.\nTwo \\(gax\\(ga ends.\n\\&.Three\\en\n");
	buf_clear(&b);
	has(made(mdoc_exits), ".It 64\nA wrong option or number, or a missing operand.\n");
}

static void
completions_quote_what_shells_read(void **state)
{
	char *text = made(complete_bash);

	(void)state;
	has(text, "\t-f | --file) compopt -o filenames; ");
	has(text, "--order-of-elements) mapfile -t COMPREPLY < <(compgen -W 'any stable source'");
	has(text, "compgen -f -W 'range lines'");
	has(text, "complete -F _dsvc_run dsvc-run\n");
	text = made(complete_zsh);
	has(text, "'(-n --count)'{-n+,--count=}'[stop after N elements]:N:'");
	has(text, "and '\\''quote'\\'' \\[it\\]\\: a-b");
	has(text, ":ORDER:(any stable source)'");
	has(text, "\\*{-s+,--set=}'[set a parameter]:NAME=VALUE:'");
	text = made(complete_fish);
	has(text, "complete -c dsvc-run -s n -l count -r -f -d 'stop after N elements'\n");
	has(text, "-l order-of-elements -r -f -a 'any stable source'");
	assert_null(strstr(text, "secret"));
}
