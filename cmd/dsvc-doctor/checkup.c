/* SPDX-License-Identifier: MIT */
#include "checkup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "value/format/format.h"
#include "value/mp.h"

enum { CHECK_TEXT = 600 };

/* Texts come from others, too: nothing in them may move the cursor. */
static void
check_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = ' ';
}

static void
check_put(struct checkup *c, bool ok, const char *what, const char *text, const char *cure)
{
	const char *pairs[] = { "check", what, "text", text, "help", cure };
	struct buf b = { 0 };

	if (ok && c->quiet)
		return;
	if (!c->json) {
		buf_printf(&c->out, "%-5s %-14s %s\n", ok ? "ok" : "WRONG", what, text);
		if (*cure)
			buf_printf(&c->out, "      help: %s\n", cure);
		return;
	}
	uint8_t *p = buf_room(&b, 16 * MP_HEAD_MAX + strlen(what) + strlen(text) + strlen(cure) + 32);
	p = mp_put_record_head(p, 4);
	p = mp_put_text(p, "ok", 2);
	*p++ = ok ? 0xc3 : 0xc2;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		p = mp_put_text(p, pairs[i], (uint32_t)strlen(pairs[i]));
	json_print(b.data, (size_t)(p - b.data), &c->out);
	buf_byte(&c->out, '\n');
	buf_clear(&b);
}

void
check_ok(struct checkup *c, const char *what, const char *fmt, ...)
{
	char text[CHECK_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	check_plain(text);
	check_put(c, true, what, text, "");
}

void
check_wrong(struct checkup *c, const char *what, const char *cure, const char *fmt, ...)
{
	char text[CHECK_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	check_plain(text);
	check_put(c, false, what, text, cure);
	c->wrong++;
}

void
check_error(struct checkup *c, const char *what, const struct err *e)
{
	check_wrong(c, what, e->help, "%s", e->text);
}
