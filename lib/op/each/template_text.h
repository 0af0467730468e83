/* SPDX-License-Identifier: MIT
 *
 * The text of a template: literal text with {EXPRESSION} or {EXPRESSION:%FORMAT} in it; {{ and }}
 * are braces. FORMAT is as in printf: flags - + 0 and blank, width, precision, and one of
 * d x X o e f g s.
 *
 * All expressions are put together into one, a list, in a text of the same length: each stands
 * there in its own place, so that errors about it point into the template.
 *
 *	{.id}: {.ms:%.2f}
 *	[.id  ,.ms      ]
 */
#ifndef EACH_TEMPLATE_TEXT_H
#define EACH_TEMPLATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/json_rules.h"

#define TEMPLATE_NAME "<template>" /* the name of the text in errors */
enum { TEMPLATE_PLACES = 1000, TEMPLATE_WIDTH = 1000 };

/* A place, and the literal text before it. */
struct template_place {
	size_t at, len;         /* place of the literal text in `literal` */
	bool left, zero, plus, space;
	int width, precision;   /* precision -1: none was given */
	char conversion;        /* 0: any value as text */
};

struct template_text {
	struct template_place *v;
	size_t n, cap;
	struct buf literal;     /* the text outside of braces; behind the last place: from `rest` on */
	size_t rest;
	struct buf list;        /* the expression of all */
};

/* Zero is an empty template. ST_DATA, with the place in the text. */
enum status template_text_read(const char *text, struct template_text *out, struct err *e);
void template_text_clear(struct template_text *t);
/* Appends a value, as the place wants it. NULL, or what is wrong with the value. */
const char *template_text_put(const struct template_place *p, const uint8_t *v, size_t len,
			      const struct json_rules *rules,
			      struct buf *out);

#endif
