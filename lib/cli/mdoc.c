/* SPDX-License-Identifier: MIT */
#include "cli/mdoc.h"

#include <ctype.h>
#include <string.h>

#include "cli/exits.h"
#include "cli/opt.h"

/* n bytes of text on one line: what troff would read as its own is escaped. */
static void
mdoc_escape(struct buf *out, const char *s, size_t n)
{
	if (n && (s[0] == '.' || s[0] == '\''))
		buf_str(out, "\\&");
	for (size_t i = 0; i < n; i++) {
		switch (s[i]) {
		case '\\':
			buf_str(out, "\\e");
			break;
		case '-':
			buf_str(out, "\\-");
			break;
		case '`':
			buf_str(out, "\\(ga");
			break;
		case '~':
			buf_str(out, "\\(ti");
			break;
		case '^':
			buf_str(out, "\\(ha");
			break;
		case '\n':
			buf_byte(out, ' ');
			break;
		default:
			buf_byte(out, (uint8_t)s[i]);
		}
	}
}

void
mdoc_text(struct buf *out, const char *text)
{
	while (*text) {
		/* mdoc wants each sentence to end its line. */
		size_t n = 0;
		while (text[n] && !(strchr(".!?", text[n]) && isspace((unsigned char)text[n + 1])))
			n++;
		if (text[n])
			n++;
		mdoc_escape(out, text, n);
		buf_byte(out, '\n');
		text += n;
		while (isspace((unsigned char)*text))
			text++;
	}
}

/* One word as the argument of a macro: short ones could be macros themselves,
 * and punctuation would be moved. */
static void
mdoc_word(struct buf *out, const char *word)
{
	buf_str(out, strlen(word) < 4 ? "\\&" : "");
	mdoc_escape(out, word, strlen(word));
}

/* A clause as a sentence. */
static void
mdoc_sentence(struct buf *out, const char *clause)
{
	struct buf b = { 0 };

	if (!clause || !*clause)
		return;
	buf_str(&b, clause);
	b.data[0] = (uint8_t)toupper(b.data[0]);
	buf_byte(&b, '.');
	mdoc_text(out, (char *)b.data);
	buf_clear(&b);
}

static void
mdoc_argument(struct buf *out, const struct param *row)
{
	if (!row->arg)
		return;
	buf_str(out, row->flags & PARAM_BARE ? " Ns Op = Ns Ar " : " Ar ");
	mdoc_word(out, row->arg);
}

static void
mdoc_choices(struct buf *out, const struct param *row)
{
	char word[64];

	buf_str(out, "One of");
	for (int k = 0; param_choice(row->choices, k, word, sizeof word); k++) {
		buf_str(out, k ? " ,\n.Cm " : "\n.Cm ");
		mdoc_word(out, word);
	}
	buf_str(out, " .\n");
}

static void
mdoc_row(struct buf *out, const struct param *row)
{
	buf_str(out, ".It");
	if (row->letter) {
		buf_printf(out, " Fl \\&%c", row->letter);
		mdoc_argument(out, row);
		buf_str(out, " ,");
	}
	buf_str(out, " Fl \\-");
	mdoc_escape(out, row->name, strlen(row->name));
	mdoc_argument(out, row);
	buf_byte(out, '\n');
	mdoc_sentence(out, row->help);
	if (row->kind == PARAM_CHOICE)
		mdoc_choices(out, row);
	if (row->flags & PARAM_REPEAT)
		buf_str(out, "The option may be repeated.\n");
	if (row->def && row->arg && *row->def && strcmp(row->def, "-1")) {
		buf_str(out, "The default is\n.Cm ");
		mdoc_word(out, row->def);
		buf_str(out, " .\n");
	}
}

void
mdoc_options(struct buf *out, const struct program *p)
{
	static const struct param common[] = {
		{ .name = "help", .help = "show all options, examples and exit codes" },
		{ .name = "version", .help = "show the version", .letter = 'V' },
	};

	buf_str(out, ".Bl -tag -width Ds\n");
	for (const struct param *row = p->rows; row && row->kind != PARAM_NONE; row++)
		if (!(row->flags & PARAM_HIDDEN))
			mdoc_row(out, row);
	buf_str(out, ".It Fl \\&h\nShow the usual options, on one screen.\n");
	for (size_t i = 0; i < 2; i++)
		mdoc_row(out, &common[i]);
	buf_str(out, ".El\n");
}

void
mdoc_exits(struct buf *out, const struct program *p)
{
	struct exits_row row;

	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; exits_of(p, i, &row); i++) {
		buf_printf(out, ".It %d\n", row.code);
		mdoc_sentence(out, row.say);
	}
	buf_str(out, ".El\n");
}
