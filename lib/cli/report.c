/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/transfer.h"
#include "cli/exits.h"

/* Texts from users and files may contain control characters, which a terminal would obey. */
static void
report_text(struct buf *out, const char *s, const char *keep)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		buf_byte(out, (c < ' ' || c == 0x7f) && !strchr(keep, c) ? '?' : c);
	}
}

/* The source line, and carets below it. Tabs stay tabs in both lines, so that
 * the carets stand right whatever a tab is. */
static void
report_source(struct buf *out, const struct err *e, bool colour)
{
	char number[16];
	size_t digits;
	unsigned at = 1 + e->shift;
	struct buf n = { 0 };

	buf_printf(&n, "%u", e->line);
	digits = n.len < sizeof number ? n.len : sizeof number - 1;
	memcpy(number, n.data, digits);
	number[digits] = '\0';
	buf_clear(&n);

	buf_printf(out, "  %s | %s", number, e->shift ? "..." : "");
	report_text(out, e->source, "\t");
	buf_byte(out, '\n');
	if (e->col == 0)
		return;
	buf_printf(out, "  %*s | %s", (int)digits, "", e->shift ? "   " : "");
	for (const char *s = e->source; at < e->col; at++) {
		buf_byte(out, *s == '\t' ? '\t' : ' ');
		if (*s)
			s++;
		while (((unsigned char)*s & 0xc0) == 0x80)
			s++;
	}
	if (colour)
		buf_str(out, "\033[1;31m");
	unsigned width = e->width ? e->width : 1;
	if (width > ERR_LINE)
		width = ERR_LINE;
	while (width--)
		buf_byte(out, '^');
	buf_str(out, colour ? "\033[0m\n" : "\n");
}

/* FILE:LINE:COLUMN, if it is known, and what is wrong. */
static void
report_sentence(struct buf *out, const struct err *e)
{
	if (e->line) {
		report_text(out, e->file[0] ? e->file : "<arg>", "");
		buf_printf(out, ":%u:", e->line);
		if (e->col)
			buf_printf(out, "%u:", e->col);
		buf_byte(out, ' ');
	}
	report_text(out, e->text, "\n\t");
}

/* Under --log-format json: the error as an object. False: it is to be text. */
static bool
report_json(const struct err *e)
{
	struct buf text = { 0 };

	report_sentence(&text, e);
	buf_byte(&text, '\0');
	bool told = log_error_json((const char *)text.data, e->help, exits_code(e->kind));
	buf_clear(&text);
	return told;
}

void
report_format(struct buf *out, const char *program, const struct err *e, bool colour)
{
	buf_printf(out, "%s: ", program);
	report_sentence(out, e);
	buf_byte(out, '\n');
	if (e->line && (e->source[0] || e->col))
		report_source(out, e, colour);
	if (e->help[0]) {
		buf_str(out, colour ? "  \033[1mhelp:\033[0m " : "  help: ");
		report_text(out, e->help, "\n\t");
		buf_byte(out, '\n');
	}
}

int
report(const char *program, const struct err *e)
{
	struct buf out = { 0 };
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool colour = isatty(STDERR_FILENO) && (!no_color || !*no_color) &&
		      (!term || strcmp(term, "dumb"));

	if (e->kind == ST_OK || e->kind == ST_END || (e->kind == ST_NO && !e->text[0]))
		return exits_code(e->kind);
	if (report_json(e))
		return exits_code(e->kind);
	report_format(&out, program, e, colour);
	log_status(NULL);
	/* One write: lines of several programs on one terminal do not mix. */
	transfer_write(STDERR_FILENO, out.data, out.len);
	buf_clear(&out);
	return exits_code(e->kind);
}
