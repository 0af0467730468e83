/* SPDX-License-Identifier: MIT
 *
 * What completes a spec that is being written.
 */
#include "lang_help.h"

#include "lang/offer.h"
#include "op/table.h"

static char *
offer_of(const char *typed)
{
	struct buf out = { 0 };

	offer_words(typed, &out);
	return buf_take(&out);
}

/* The answers without what is said about them, joined by commas. */
static void
offer_is(const char *typed, const char *want)
{
	char *got = offer_of(typed);
	struct buf words = { 0 };

	for (const char *line = got; *line; line = strchr(line, '\n') + 1)
		buf_printf(&words, "%s%.*s", line == got ? "" : ",", (int)strcspn(line, "\t"), line);
	char *all = buf_take(&words);
	if (strcmp(all, want))
		fail_msg("%s: `%s`, not `%s`", typed, all, want);
	mem_free(all);
	mem_free(got);
}

/* The parameters that are offered for -s on a command line. */
static void
set_is(const char *line, const char *want)
{
	struct buf out = { 0 };

	offer_set(line, &out);
	char *got = buf_take(&out);
	if (strcmp(got, want))
		fail_msg("%s: `%s`, not `%s`", line, got, want);
	mem_free(got);
}

static void
parameters_of_the_specs_on_a_line(void **state)
{
	(void)state;
	set_is("", "");
	set_is("dsvc-run -s ", "");
	set_is("dsvc-run -s  -e 'param n: int = 3; range @n'", "n=\tn: int = 3\n");
	set_is("dsvc-run -e \"param n = 'a;b'; range @n\" --set ", "n=\tn = 'a\n");
	set_is("dsvc-run 'param n = 3; param m = 4; range @n' -s n=5 -s ", "m=\tm = 4\n");
	set_is("dsvc-run 'param n = 3; param m = 4; range @n' --set=m=5 -sn=1 -s ", "");
	/* Twice is once; a comment, a longer word and what is no name are none. */
	set_is("dsvc-run 'param n = 3; param n = 4; # param c\nparameter x; param 5; xparam y; param' -s ", "n=\tn = 3\n");
	set_is("dsvc-run -f /nowhere/at/all -s ", "");
	set_is("dsvc-run -f", "");
	set_is("dsvc-run -e 'param n = 3", "n=\tn = 3\n");
	set_is("dsvc-run -e param\\ n=3 \\", "n=\tn=3\n");
}

static void
operators_where_they_may_stand(void **state)
{
	(void)state;
	offer_is("'ran", "random ,range ");
	offer_is("\"ran", "random ,range ");
	offer_is("'range 3 | ran", "");
	offer_is("'range 3 | re", "rebatch ,reduce ,rename ,repeat ,resample ,reverse ");
	offer_is("'range 3 |re", "rebatch ,reduce ,rename ,repeat ,resample ,reverse ");
	offer_is("'zip (range 3) (ran", "random ,range ");
	offer_is("'zip (range 3 | re", "rebatch ,reduce ,rename ,repeat ,resample ,reverse ");
	offer_is("'range 3 | interleave (ran", "random ,range ");
	offer_is("'let a = ran", "random ,range ");
	offer_is("'let a = range 3; ran", "random ,range ");
	offer_is("'(ran", "random ,range ");
	/* Brackets of an expression, strings and patterns. */
	offer_is("'range 3 | map (ran", "");
	offer_is("'range 3 | map \"ran", "");
	offer_is("'range 3 | map \"| ran\" | uniq",
		 "unique partial=,unique mem=,unique on_error=,unique nulls=,unique per_stream=");
	offer_is("'range 3 | filter x > 1 || x == 0 | ran", "");
	offer_is("'range 3 | filter x ~ /it's|a/ | pref",
		 "prefetch n=,prefetch on_error=,prefetch per_stream=");
	offer_is("'nonsense 3 ", "");
}

static void
parameters_and_their_values(void **state)
{
	(void)state;
	offer_is("'range 10 | batch 4 drop", "drop_remainder=");
	offer_is("'range 10 | batch 4 drop_remainder=", "drop_remainder=true ,drop_remainder=false ");
	offer_is("'range 10 | batch 4 drop_remainder=true drop", "");
	offer_is("'range 10 | batch 4 ", "drop_remainder=,as=,on_error=,per_stream=");
	offer_is("'range 10 | batch ", "n=,drop_remainder=,as=,on_error=,per_stream=");
	offer_is("'range 10 | batch on_error=s", "on_error=skip n=,on_error=skip drop_remainder=,on_error=skip as=,"
		 "on_error=skip per_stream=");
	/* The only answer, and behind it nothing but the next operator. */
	offer_is("'range 10 | batch 4 drop_remainder=true as=list on_error=skip per_stream=t",
		 "per_stream=true | ");
	/* Behind `exec` stand words of a command. */
	offer_is("'range 10 | exec ord", "ordered=");
	offer_is("'range 10 | exec cat ", "");
}

/* A shell's escapes are gone before anything is looked at. */
static void
a_shells_escapes_are_not_the_specs(void **state)
{
	(void)state;
	offer_is("\"range 3 | map \\\"a | ran\\\" | ski", "skip n=,skip on_error=,skip per_stream=");
	offer_is("\"range 3 | map \\\"a | ran", "");
	offer_is("'range 3 | map \\'a | ran\\' | ski", "skip n=,skip on_error=,skip per_stream=");
	offer_is("\"range \\$n | ski", "skip n=,skip on_error=,skip per_stream=");
	offer_is("'lines a\\ b | ski", "skip n=,skip on_error=,skip per_stream=");
}

/* Each operator where it stands, and each of its parameters with a name. */
static void
every_operator_and_parameter_is_offered(void **state)
{
	const struct op_desc *d;
	char typed[256], line[256];

	(void)state;
	for (size_t i = 0; (d = op_at(i)); i++) {
		const char *ahead = d->kind == OP_TRANSFORM ? "range 3 | " : "";
		snprintf(typed, sizeof typed, "'%s", ahead);
		snprintf(line, sizeof line, "%s \t%s\n", d->name, d->brief);
		char *got = offer_of(typed);
		assert_non_null(strstr(got, line));
		mem_free(got);
		snprintf(typed, sizeof typed, "'%s%s ", ahead, d->name);
		got = offer_of(typed);
		for (const struct param *r = d->params; r && r->kind; r++) {
			if (!(r->flags & PARAM_KEY_ONLY) || r->flags & PARAM_HIDDEN || r->kind > PARAM_EXPR)
				continue;
			snprintf(line, sizeof line, "%s=\t%s\n", r->name, r->help);
			if (!strstr(got, line))
				fail_msg("%s: %s is not offered: %s", d->name, r->name, got);
		}
		mem_free(got);
	}
}

/* However little of it stands, each answer begins with the last word. */
static void
each_answer_begins_with_the_last_word(void **state)
{
	static const char text[] = "\"let a = range 3 | map {k: [x, \\\"(|\\\"]};"
		"\n\ta | interleave (zip (range x) (lines /et c/)"
		" | batch 2 drop_remainder=true) cycle=2 | filter x ~ /a|b\\\\/ and (i > 1 || f(x))"
		" on_error=skip)))((((((((((((((((((("
		"(((((((((((((((((((((((((((((((( | sort .k reverse=t";
	char typed[sizeof text];

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		memcpy(typed, text, n);
		typed[n] = '\0';
		const char *word = typed + (n > 0);
		for (const char *c = word; *c; c++)
			if (strchr(" \t\n|();", *c))
				word = c + 1;
		char *got = offer_of(typed);
		for (const char *line = got; *line; line = strchr(line, '\n') + 1) {
			assert_int_equal(strncmp(line, word, strlen(word)), 0);
			assert_true(strcspn(line, "\t") < strcspn(line, "\n"));
		}
		mem_free(got);
	}
}
