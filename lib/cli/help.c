/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <string.h>

#include "cli/exits.h"
#include "cli/opt.h"

enum { HELP_WIDTH = 79, HELP_COLUMN = 29 };

static void
help_pad(struct buf *out, int n)
{
	while (n-- > 0)
		buf_byte(out, ' ');
}

void
help_wrap(struct buf *out, const char *text, int indent, int col, int width)
{
	bool first = true;

	help_pad(out, indent - col);
	if (col < indent)
		col = indent;
	while (*text) {
		int n = (int)strcspn(text, " \n");
		if (!first && col + 1 + n > width) {
			buf_byte(out, '\n');
			help_pad(out, indent);
			col = indent;
			first = true;
		}
		if (!first)
			buf_byte(out, ' ');
		buf_put(out, text, (size_t)n);
		col += n + !first;
		first = false;
		text += n;
		text += strspn(text, " \n");
	}
	buf_byte(out, '\n');
}

static void
help_usage(struct buf *out, const struct program *p)
{
	const char *lead = "Usage: ";

	for (const char *const *s = p->synopsis; s && *s; s++) {
		buf_printf(out, "%s%s %s\n", lead, p->name, *s);
		lead = "       ";
	}
	buf_printf(out, "%c%s.\n", p->brief[0] - ('a' <= p->brief[0] && p->brief[0] <= 'z') * 32,
		   p->brief + 1);
}

/* Appends the details after the clause: values, default, variable. */
static void
help_details(struct buf *out, const struct program *p, const struct param *row)
{
	char env[128];
	const char *lead = " (";

	if (row->kind == PARAM_CHOICE) {
		buf_printf(out, "%sone of ", lead);
		for (const char *c = row->choices; *c; c++) {
			if (*c == '|')
				buf_str(out, ", ");
			else
				buf_byte(out, (uint8_t)*c);
		}
		lead = "; ";
	}
	/* -1 of a descriptor stands for none and is no news to anyone. */
	if (row->def && row->arg && *row->def && strcmp(row->def, "-1")) {
		buf_printf(out, "%sdefault %s", lead, row->def);
		lead = "; ";
	}
	if (row->flags & PARAM_REPEAT) {
		buf_printf(out, "%smay be repeated", lead);
		lead = "; ";
	}
	opt_env_name(p, row, false, env, sizeof env);
	buf_printf(out, "%s%s)", lead, row->flags & PARAM_BY_HAND ? "not from the environment" : env);
}

static void
help_row(struct buf *out, const struct program *p, const struct param *row, bool full)
{
	struct buf left = { 0 }, right = { 0 };

	if (row->letter)
		buf_printf(&left, "  -%c, --%s", row->letter, row->name);
	else
		buf_printf(&left, "      --%s", row->name);
	if (row->arg)
		buf_printf(&left, row->flags & PARAM_BARE ? "[=%s]" : " %s", row->arg);
	size_t n = row->help ? strlen(row->help) : 0;
	if (!full && row->help) /* one clause of one line; --help has the rest */
		n = strcspn(row->help, ";");
	buf_put(&right, row->help ? row->help : "", n);
	if (full)
		help_details(&right, p, row);
	buf_put(out, left.data, left.len);
	int col = (int)left.len;
	if (col + 2 > HELP_COLUMN) {
		buf_byte(out, '\n');
		col = 0;
	}
	help_wrap(out, (char *)right.data, HELP_COLUMN, col, HELP_WIDTH);
	buf_clear(&left);
	buf_clear(&right);
}

static void
help_rows(struct buf *out, const struct program *p, bool full)
{
	static const struct param common[] = {
		{ .name = "help", .kind = PARAM_BOOL, .help = "all options, examples, exit codes; -h: one screen" },
		{ .name = "version", .letter = 'V', .kind = PARAM_BOOL,
		  .help = "the version and those of the libraries" },
	};

	for (const struct param *row = p->rows; row && row->kind != PARAM_NONE; row++)
		if (!(row->flags & (PARAM_HIDDEN | (full ? 0 : PARAM_RARE))))
			help_row(out, p, row, full);
	for (size_t i = 0; i < (full ? 2 : 1); i++)
		help_row(out, p, &common[i], false);
}

static void
help_examples(struct buf *out, const struct program *p, size_t most)
{
	const struct program_example *x = p->examples;

	for (size_t i = 0; x && x[i].run && i < most; i++) {
		/* The clause beside the command, or above it where that is long. */
		int col = 2 + (int)strlen(x[i].run);
		if (x[i].say && col + 4 + (int)strlen(x[i].say) > HELP_WIDTH)
			buf_printf(out, "  # %s\n  %s\n", x[i].say, x[i].run);
		else if (x[i].say)
			buf_printf(out, "  %s  # %s\n", x[i].run, x[i].say);
		else
			buf_printf(out, "  %s\n", x[i].run);
	}
}

void
help_short(struct buf *out, const struct program *p)
{
	help_usage(out, p);
	buf_byte(out, '\n');
	if (p->examples && p->examples[0].run) {
		help_examples(out, p, 2);
		buf_byte(out, '\n');
	}
	help_rows(out, p, false);
}

void
help_full(struct buf *out, const struct program *p)
{
	struct exits_row row;

	help_usage(out, p);
	for (const char *const *d = p->doc; d && *d; d++) {
		buf_byte(out, '\n');
		help_wrap(out, *d, 0, 0, HELP_WIDTH);
	}
	buf_str(out, "\nOptions, each with its environment variable:\n\n");
	help_rows(out, p, true);
	if (p->examples && p->examples[0].run) {
		buf_str(out, "\nExamples:\n\n");
		help_examples(out, p, SIZE_MAX);
	}
	buf_str(out, "\nExit status:\n\n");
	for (size_t i = 0; exits_of(p, i, &row); i++) {
		buf_printf(out, "%5d  ", row.code);
		help_wrap(out, row.say, 7, 7, HELP_WIDTH);
	}
	buf_printf(out, "\nMore: man %s, man dsvc\n", p->name);
}

void
help_version(struct buf *out, const struct program *p)
{
	buf_printf(out, "%s (dsvc) %s\n", p->name, PROGRAM_VERSION);
	if (p->versions)
		p->versions(out);
}
