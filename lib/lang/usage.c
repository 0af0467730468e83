/* SPDX-License-Identifier: MIT */
#include "lang/usage.h"

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

void
usage_print(const struct op_desc *d, struct buf *out)
{
	buf_str(out, d->name);
	for (const struct param *r = d->params; r && r->kind; r++) {
		bool option = r->def || (r->flags & PARAM_OPTIONAL);
		bool key = r->flags & PARAM_KEY_ONLY;
		const char *name = r->name;
		if (r->flags & PARAM_HIDDEN)
			continue;
		buf_str(out, option ? " [" : " ");
		if (key)
			buf_printf(out, "%s=", name);
		switch (r->kind) {
		case PARAM_CHOICE:
			buf_str(out, r->choices);
			break;
		case PARAM_PIPE:
			buf_str(out, "(PIPELINE)");
			break;
		case PARAM_PIPES:
			buf_str(out, "(PIPELINE)...");
			break;
		case PARAM_FRAGMENT:
			buf_str(out, "(| OP ...)");
			break;
		case PARAM_COMMAND:
			buf_str(out, "-- COMMAND...");
			break;
		default:
			for (const char *c = name; *c; c++)
				buf_byte(out, (uint8_t)toupper((unsigned char)*c));
			if (r->flags & PARAM_REST)
				buf_str(out, "...");
		}
		if (option)
			buf_byte(out, ']');
	}
}
