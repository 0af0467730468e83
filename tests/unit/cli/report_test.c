/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/exits.h"
#include "cli/report.h"

static void
printed(const struct err *e, bool colour, const char *want)
{
	struct buf b = { 0 };

	report_format(&b, "dsvc-run", e, colour);
	assert_string_equal((char *)b.data, want);
	buf_clear(&b);
}

static void
a_plain_error_is_one_line(void **state)
{
	struct err e = { 0 };

	(void)state;
	err_set(&e, ST_NOINPUT, "cannot open x: No such file or directory");
	printed(&e, true, "dsvc-run: cannot open x: No such file or directory\n");
	err_help(&e, "is it there?");
	printed(&e, false, "dsvc-run: cannot open x: No such file or directory\n"
			   "  help: is it there?\n");
}

static void
a_place_gets_its_line_and_carets(void **state)
{
	const char *spec = "range 10 | map x*x | batch 4 drop_remander=true";
	struct err e = { 0 };

	(void)state;
	err_set(&e, ST_DATA, "`batch` has no option `drop_remander`");
	err_place(&e, NULL, spec, strlen(spec), 29, 13);
	err_help(&e, "did you mean `drop_remainder`?");
	printed(&e, false,
		"dsvc-run: <arg>:1:30: `batch` has no option `drop_remander`\n"
		"  1 | range 10 | map x*x | batch 4 drop_remander=true\n"
		"    |                              ^^^^^^^^^^^^^\n"
		"  help: did you mean `drop_remainder`?\n");
	printed(&e, true,
		"dsvc-run: <arg>:1:30: `batch` has no option `drop_remander`\n"
		"  1 | range 10 | map x*x | batch 4 drop_remander=true\n"
		"    |                              \033[1;31m^^^^^^^^^^^^^\033[0m\n"
		"  \033[1mhelp:\033[0m did you mean `drop_remainder`?\n");
}

static void
tabs_and_letters_of_many_bytes_keep_carets_in_place(void **state)
{
	const char *spec = "\n\n\n\n\n\n\n\n\n\t\xc3\xa4\xc3\xb6 bad";
	struct err e = { 0 };

	(void)state;
	err_set(&e, ST_DATA, "no");
	err_place(&e, "f", spec, strlen(spec), strlen(spec) - 3, 3);
	printed(&e, false, "dsvc-run: f:10:5: no\n"
			   "  10 | \t\xc3\xa4\xc3\xb6 bad\n"
			   "     | \t   ^^^\n");
}

static void
a_fault_far_to_the_right_stays_in_sight(void **state)
{
	char text[2000];
	struct err e = { 0 };
	struct buf b = { 0 };

	(void)state;
	memset(text, 'a', sizeof text);
	memcpy(text + 1500, "BAD", 3);
	err_set(&e, ST_DATA, "no");
	err_place(&e, NULL, text, sizeof text, 1500, 3);
	report_format(&b, "p", &e, false);
	char *line = strstr((char *)b.data, "  1 | "), *carets = strstr(line, "    | ");
	assert_ptr_equal(strstr(line, "BAD") - line, strstr(carets, "^^^") - carets);
	buf_clear(&b);
}

static void
control_characters_do_not_reach_the_terminal(void **state)
{
	const char *spec = "\033[2Jx";
	struct err e = { 0 };

	(void)state;
	err_set(&e, ST_DATA, "bad \033]0;title\a\n  on worker w");
	err_place(&e, "a\nb", spec, strlen(spec), 4, 1);
	printed(&e, false, "dsvc-run: a?b:1:5: bad ?]0;title?\n  on worker w\n"
			   "  1 | ?[2Jx\n    |     ^\n");
}

static void
exit_codes_follow_the_kind(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(report("p", &e), 0);
	e.kind = ST_NO;
	assert_int_equal(report("p", &e), 1);
	assert_int_equal(exits_code(ST_END), 0);
	assert_int_equal(exits_code(ST_DATA), 65);
	assert_int_equal(exits_code(ST_AGAIN), 70);
	for (const struct exits_row *r = exits_table; r->code >= 64; r++)
		assert_string_equal(r->name, status_name((enum status)r->code));
}

static void
a_program_lists_its_own_codes(void **state)
{
	static const struct program_exit own[] = { { 66, "no such dataset" }, { 74, NULL }, { -1, NULL } };
	const struct program p = { .name = "x", .exits = own };
	struct exits_row r;
	int codes[8], n = 0;

	(void)state;
	for (; exits_of(&p, (size_t)n, &r); n++) {
		codes[n] = r.code;
		if (r.code == 66)
			assert_string_equal(r.say, "no such dataset");
	}
	assert_int_equal(n, 4);
	assert_int_equal(codes[1], 64);
	assert_int_equal(codes[3], 74);
}
