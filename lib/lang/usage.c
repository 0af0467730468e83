/* SPDX-License-Identifier: MIT */
#include "lang/usage.h"
#include "op/table.h"

#include <ctype.h>

const char *
usage_kind(const struct param *row)
{
	switch (row->kind) {
	case PARAM_INT:
	case PARAM_FLOAT:
		return "a number";
	case PARAM_SIZE:
		return "a size";
	case PARAM_DURATION:
		return "a duration";
	case PARAM_BOOL:
		return "true or false";
	case PARAM_WORD:
	case PARAM_WORDS:
		return row->flags & PARAM_PATH ? "a file name" : "a word";
	case PARAM_CHOICE:
		return "a choice";
	case PARAM_VALUE:
		return "a value";
	case PARAM_EXPR:
	case PARAM_NAMED:
		return "an expression";
	case PARAM_PIPE:
	case PARAM_PIPES:
		return "a pipeline in parentheses";
	case PARAM_FRAGMENT:
		return "a fragment, (| op ...),";
	case PARAM_COMMAND:
		return "a command";
	case PARAM_NONE:
		break;
	}
	return "something";
}

/* The value that follows key=. */
static const char *
usage_key(const struct param *row)
{
	switch (row->kind) {
	case PARAM_INT:
		return row->flags & PARAM_ALLOW_AUTO ? "N|auto" : row->flags & PARAM_ALLOW_INF ? "N|inf" : "N";
	case PARAM_FLOAT:
		return "X";
	case PARAM_SIZE:
		return "SIZE";
	case PARAM_DURATION:
		return "DURATION";
	case PARAM_BOOL:
		return "true|false";
	case PARAM_WORD:
	case PARAM_WORDS:
		return row->flags & PARAM_PATH ? "FILE" : "WORD";
	case PARAM_VALUE:
		return "VALUE";
	case PARAM_EXPR:
		return "EXPR";
	default:
		return NULL;
	}
}

static void
usage_row(const struct param *r, struct buf *out)
{
	bool key = r->flags & PARAM_KEY_ONLY;
	const char *word = key ? usage_key(r) : NULL;

	if (key && r->kind != PARAM_NAMED)
		buf_printf(out, "%s=", r->name);
	if (word) {
		buf_str(out, word);
		return;
	}
	switch (r->kind) {
	case PARAM_CHOICE:
		buf_str(out, r->choices);
		return;
	case PARAM_PIPE:
		buf_str(out, "(PIPELINE)");
		return;
	case PARAM_PIPES:
		buf_str(out, "(PIPELINE)...");
		return;
	case PARAM_FRAGMENT:
		buf_str(out, "(| OP ...)");
		return;
	case PARAM_NAMED:
		buf_str(out, "NAME=CALL...");
		return;
	case PARAM_COMMAND:
		buf_str(out, "-- COMMAND...");
		return;
	default:
		for (const char *c = r->name; *c; c++)
			buf_byte(out, (uint8_t)toupper((unsigned char)*c));
		if (r->flags & PARAM_ALLOW_ALL)
			buf_str(out, "|all");
		if (r->flags & PARAM_REST)
			buf_str(out, "...");
	}
}

void
usage_print(const struct op_desc *d, struct buf *out)
{
	buf_str(out, d->name);
	/* A command comes last, since it takes everything that follows. */
	for (int last = 0; last < 2; last++)
		for (const struct param *r = d->params; r && r->kind; r++) {
			bool option = r->def || (r->flags & PARAM_OPTIONAL);
			if ((r->flags & PARAM_HIDDEN) || (r->kind == PARAM_COMMAND) != last)
				continue;
			buf_str(out, option ? " [" : " ");
			usage_row(r, out);
			if (option)
				buf_byte(out, ']');
		}
}

const char *
usage_word(size_t i)
{
	const struct op_desc *d = op_at(i);

	if (d)
		return d->name;
	return i == 0 || op_at(i - 1) ? "then" : NULL;
}
