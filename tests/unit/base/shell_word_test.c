/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/shell_word.h"

static void
is_quoted(void (*quote)(const char *p, size_t n, bool first, struct buf *out), const char *word, bool first,
	  const char *expected)
{
	struct buf b = { 0 };

	quote(word, strlen(word), first, &b);
	assert_string_equal((char *)b.data, expected);
	buf_clear(&b);
}

static void
words_are_quoted_only_when_a_shell_would_read_something_into_them(void **state)
{
	(void)state;
	is_quoted(shell_word, "a/b-c_1.txt:@%+,", false, "a/b-c_1.txt:@%+,");
	is_quoted(shell_word, "", false, "''");
	is_quoted(shell_word, "a b", false, "'a b'");
	is_quoted(shell_word, "it's", false, "'it'\\''s'");
	is_quoted(shell_word, "~", false, "'~'");
	is_quoted(shell_word, "{a}", false, "'{a}'");
	is_quoted(shell_word, "\xc3\xa4", false, "'\xc3\xa4'");
	is_quoted(shell_word, "a\nb", false, "'a\nb'");
	is_quoted(shell_word, "A=b", false, "A=b");
	is_quoted(shell_word, "A=b", true, "'A=b'");
}

static void
a_word_for_one_line_has_no_control_characters(void **state)
{
	(void)state;
	is_quoted(shell_word_line, "a b", false, "'a b'");
	is_quoted(shell_word_line, "a\n'\\\tb\x01", false, "$'a\\n\\'\\\\\\tb\\001'");
}
