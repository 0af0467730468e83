/* SPDX-License-Identifier: MIT */
#include "lang/habit.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* option: the letters behind the dash; "5": digits; "k": also with something behind it. */
static const struct {
	const char *op, *option, *here;
} habit_words[] = {
	{ "sort", "n", "sort float(x), or sort .name for a field" },
	{ "sort", "r", "sort reverse=true, or sort .name reverse=true" },
	{ "sort", "nr", "sort float(x) reverse=true, or sort .name reverse=true" },
	{ "sort", "rn", "sort float(x) reverse=true, or sort .name reverse=true" },
	{ "sort", "u", "unique | sort" },
	{ "sort", "k", "sort split(x)[1] for the second word, or sort .name for a field" },
	{ "head", "5", "take N" },
	{ "head", "n", "take N" },
	{ "take", "5", "take N" },
	{ "tail", "5", "tail N" },
	{ "tail", "n", "tail N" },
	{ "tail", "f", "cmd -- tail -F FILE, as the source" },
	{ "grep", "v", "filter not x ~ /RE/" },
	{ "grep", "i", "filter x ~ /RE/i" },
	{ "grep", "c", "filter x ~ /RE/ | count" },
	{ "grep", "E", "filter x ~ /RE/" },
	{ "grep", "F", "filter contains(x, \"TEXT\")" },
	{ "grep", "o", "map match(x, /RE/) | filter x != null" },
};

/* The operator that the place of the error belongs to: where it begins in the line. */
static const char *
habit_stage(const struct err *e)
{
	const char *from = e->source;
	unsigned col = e->shift + 1;

	for (const char *s = e->source; *s && col < e->col; s++) {
		if (*s == '|' || *s == '(')
			from = s + 1;
		else if (!strncmp(s, " then ", 6))
			from = s + 6;
		col += ((unsigned char)s[1] & 0xc0) != 0x80;
	}
	return from + strspn(from, " \t");
}

static bool
habit_is(const char *want, const char *option, size_t n)
{
	if (isdigit((unsigned char)*want))
		return n && strspn(option, "0123456789") >= n;
	if (*want == 'k')
		return n && *option == 'k';
	return n == strlen(want) && !memcmp(option, want, n);
}

void
habit_help(struct err *e)
{
	if (!e->line || !e->col || e->shift)
		return;
	const char *op = habit_stage(e);
	size_t n = strcspn(op, " \t");
	const char *option = op + n + strspn(op + n, " \t");

	if (*option++ != '-')
		return;
	size_t n_option = strcspn(option, " \t|)");
	for (size_t i = 0; i < sizeof habit_words / sizeof *habit_words; i++)
		if (strlen(habit_words[i].op) == n && !memcmp(op, habit_words[i].op, n)
		    && habit_is(habit_words[i].option, option, n_option))
			err_help(e, "here it is written: %s", habit_words[i].here);
}
