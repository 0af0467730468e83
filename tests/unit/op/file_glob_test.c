/* SPDX-License-Identifier: MIT */
#include "file_help.h"

#include "op/file/file_glob.h"

#define GROUP_SETUP setup
#define GROUP_TEARDOWN file_teardown

static struct err e;

/* The names, joined by blanks, or the words of the error after a `!`. */
static void
expect_how(const char *pattern, bool literal, const char *want)
{
	char *v[] = { mem_strdup(pattern) };
	struct words patterns = { v, 1 }, got = { 0 };
	struct buf b = { 0 };
	enum status st = file_glob(&patterns, literal, &got, &e);

	buf_str(&b, "");
	if (st != ST_OK)
		buf_printf(&b, "!%s %s", status_name(st), e.text);
	for (size_t i = 0; i < got.n && st == ST_OK; i++)
		buf_printf(&b, "%s%s", i ? " " : "", got.v[i]);
	assert_string_equal((char *)b.data, want);
	if (!literal) { /* asked for any file, it says the same */
		struct err any = { 0 };

		assert_int_equal(file_glob_any(&patterns, &any), st);
		assert_string_equal(any.text, st == ST_OK ? "" : e.text);
	}
	words_clear(&got);
	buf_clear(&b);
	mem_free(v[0]);
}

static void
expect(const char *pattern, const char *want)
{
	expect_how(pattern, false, want);
}

static int
setup(void **state)
{
	static const char *const names[] = {
		"a.txt", "b.txt", "b.log", ".hidden.txt", "x[1].txt", "sp ace.txt", "{w}.txt",
		"d/a.txt", "d/e/b.txt", "d/e/f/c.txt", "d/.git/h.txt", "d/e.txt", "q*r", "g/*", "g/one",
	};

	if (file_setup(state))
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		file_text(names[i], "");
	return symlink("e", "d/link") || symlink("../a.txt", "d/to.txt") || symlink("gone", "d/bad.txt");
}

static void
stars_and_sets_match_as_in_a_shell(void **state)
{
	(void)state;
	expect("*.txt", "a.txt b.txt sp ace.txt x[1].txt {w}.txt");
	expect("?.txt", "a.txt b.txt");
	expect("[a-b].*", "a.txt b.log b.txt");
	expect("[!a].txt", "b.txt");
	expect(".h*", ".hidden.txt");
	expect("./?.txt", "./a.txt ./b.txt");
	expect("d/*.txt", "d/a.txt d/bad.txt d/e.txt d/to.txt");
	expect("*/*/b.txt", "d/e/b.txt d/link/b.txt");
	expect("d//?.txt", "d/a.txt d/e.txt");
}

static void
two_stars_go_down_but_not_through_links_or_hidden_folders(void **state)
{
	(void)state;
	expect("**/[a-c].txt", "a.txt b.txt d/a.txt d/e/b.txt d/e/f/c.txt");
	expect("d/**/b.txt", "d/e/b.txt");
	expect("d/e/**", "d/e/b.txt d/e/f/c.txt");
	expect("**/**/c.txt", "d/e/f/c.txt");
	expect("d/**/f/*.txt", "d/e/f/c.txt");
}

static void
braces_are_alternatives(void **state)
{
	(void)state;
	expect("{b,a}.txt", "a.txt b.txt");
	expect("{a,b}.{txt,log}", "!NOINPUT cannot read 'a.log': No such file or directory");
	expect("b.{txt,log}", "b.log b.txt");
	expect("d/{a,e/{b,f/c}}.txt", "d/a.txt d/e/b.txt d/e/f/c.txt");
	expect("{a,?}.txt", "a.txt b.txt");
	expect("*.{log,tx?}", "a.txt b.log b.txt sp ace.txt x[1].txt {w}.txt");
	expect("{a,b", "!NOINPUT cannot read '{a,b': No such file or directory");
}

static void
patterns_that_match_nothing_are_names(void **state)
{
	(void)state;
	expect("x[1].txt", "x[1].txt");
	expect("[x]*", "x[1].txt");
	expect("g/*", "g/* g/one"); /* the first of them is called so */
	expect("q*", "q*r");
	expect("g/\\*", "g/*");
	expect("{w,nope}.txt", "!NOINPUT cannot read 'w.txt': No such file or directory");
	expect("{w}.txt", "{w}.txt");
	expect("q*r", "q*r");
	expect("q\\*r", "q*r");
	expect("x\\[1].tx?", "x[1].txt");
	expect("sp ace.txt", "sp ace.txt");
	expect_how("*.txt", true, "!NOINPUT cannot read '*.txt': No such file or directory");
	expect_how("x[1].txt", true, "x[1].txt");
	expect("-", "-");
}

static void
what_is_not_there_is_named(void **state)
{
	(void)state;
	expect("nope.txt", "!NOINPUT cannot read 'nope.txt': No such file or directory");
	expect("*.nope", "!NOINPUT no file matches '*.nope'");
	expect("nope/*.txt", "!NOINPUT no file matches 'nope/*.txt'");
	expect("d/bad.txt", "!NOINPUT cannot read 'd/bad.txt': No such file or directory");
	expect("d", "!NOINPUT cannot read 'd': it is a folder");
	assert_non_null(strstr(e.help, "'d/*'"));
	expect("d*", "!NOINPUT no file matches 'd*'");
	expect("", "!NOINPUT a file name is empty");
	expect("[", "!NOINPUT no file matches '['");
}

static void
a_bomb_of_braces_is_refused(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (int i = 0; i < 40; i++)
		buf_str(&b, "{a,b}");
	char *v[] = { (char *)b.data };
	struct words patterns = { v, 1 }, got = { 0 };
	assert_int_equal(file_glob(&patterns, false, &got, &e), ST_DATA);
	words_clear(&got);
	buf_clear(&b);
}

static void
a_folder_that_may_not_be_listed_is_an_error(void **state)
{
	(void)state;
	file_text("closed/a.txt", "");
	if (geteuid() == 0) { /* root may read everything: the other half of the promise */
		expect("closed/*", "closed/a.txt");
		return;
	}
	chmod("closed", 0);
	expect("closed/*", "!NOPERM cannot list 'closed/' for 'closed/*': Permission denied");
	chmod("closed", 0700);
}
