/* SPDX-License-Identifier: MIT */
#include "expr/text/token.h"

#include <stdio.h>

enum status
token_fault(struct tokens *t, size_t at, size_t len, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(t->e, ST_DATA, "%s", text);
	err_place(t->e, t->src->file, t->src->text, t->src->len, at, len);
	return ST_DATA;
}

void
token_clear(struct tokens *t)
{
	buf_clear(&t->now.value);
}
