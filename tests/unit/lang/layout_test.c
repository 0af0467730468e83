/* SPDX-License-Identifier: MIT
 *
 * Laying out a spec changes neither what it means nor, a second time, anything:
 * for the example of every operator, as it is and spread over lines.
 */
#include "lang_help.h"

#include "lang/layout.h"
#include "op/op.h"
#include "op/table.h"

static char *
layout_of(const char *text)
{
	struct spec_src src = { .text = text, .len = strlen(text), .flags = SPEC_NO_CHECK };
	struct buf out = { 0 };
	struct err e = { 0 };

	if (spec_layout(&src, NULL, &out, &e))
		fail_msg("%s: %s", text, e.text);
	return buf_take(&out);
}

static void
layout_keeps(const char *text)
{
	char *once = layout_of(text), *twice = layout_of(once);
	char *before = help_canon(text), *after = help_canon(once);

	assert_string_equal(once, twice);
	assert_string_equal(before, after);
	mem_free(once);
	mem_free(twice);
	mem_free(before);
	mem_free(after);
}

/* Every blank that stands outside of quotes and brackets twice, and every bar
 * on a line of its own with a comment before it. */
static char *
layout_spread(const char *text)
{
	struct buf out = { 0 };
	unsigned depth = 0;
	char quote = 0;

	for (const char *c = text; *c; c++) {
		if (quote)
			quote = *c == quote ? 0 : quote;
		else if (*c == '\'' || *c == '"')
			quote = *c;
		else if (strchr("([{", *c))
			depth++;
		else if (strchr(")]}", *c))
			depth -= depth > 0;
		else if (!depth && c[0] == ' ' && c[1] == '|' && c[2] == ' ')
			buf_str(&out, " # ahead of it\n");
		else if (!depth && *c == ' ')
			buf_byte(&out, '\t');
		buf_byte(&out, (uint8_t)*c);
	}
	return buf_take(&out);
}

static void
every_example_means_the_same_laid_out(void **state)
{
	(void)state;
	for (size_t i = 0; op_at(i); i++) {
		const char *text = op_at(i)->example;
		if (!text || strchr(text, '/') || strchr(text, '~'))
			continue; /* files that are not here; patterns, which spread cannot tell */
		layout_keeps(text);
		char *wide = layout_spread(text);
		layout_keeps(wide);
		mem_free(wide);
	}
}

static void
comments_stay_word_for_word(void **state)
{
	(void)state;
	char *s = layout_of("#  a   b  \nrange 3 #c\n  | map x   #  d \n\n\n\n# test:  -n 1\n# in:   x  \n");
	assert_string_equal(s, "#  a   b  \nrange 3  #c\n  | map x  #  d \n\n# test:  -n 1\n# in:   x  \n");
	mem_free(s);
}

/* Without a blank it is the same mark as with one. */
static void
dashes_stand_before_a_bar(void **state)
{
	(void)state;
	layout_keeps("concat (lines a --) (lines b) | map x");
}

/* Whether more blanks follow it, a comment, or nothing. */
static void
a_blank_that_belongs_to_a_word_stays(void **state)
{
	(void)state;
	layout_keeps("csv\n \\ \n\n ");
	layout_keeps("lines a\\   # here\n  | map x");
	layout_keeps("lines a\\  b\\\\  | map x");
	layout_keeps("lines a\\'  b\\\" | map 'x  y'");
	char *s = layout_of("lines  a\\    b\\\\   \n|  map   x");
	assert_string_equal(s, "lines a\\  b\\\\\n  | map x\n");
	mem_free(s);
}

static void
a_dollar_is_kept_where_it_means_itself(void **state)
{
	(void)state;
	char *s = layout_of("param n = 3 # $n\nrange $n | map {a: '$n', b: \"$n\", c: $n}");
	assert_string_equal(s, "param n = 3  # $n\nrange @n | map {a: '$n', b: \"$n\", c: @n}\n");
	mem_free(s);
}
