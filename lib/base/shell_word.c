/* SPDX-License-Identifier: MIT */
#include "base/shell_word.h"

#include <string.h>

static bool
word_plain(const char *p, size_t n, bool first)
{
	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
			continue;
		if (!c || !strchr("_-./:@%+,=", c) || (first && c == '='))
			return false;
	}
	return n > 0;
}

void
shell_word(const char *p, size_t n, bool first, struct buf *out)
{
	if (word_plain(p, n, first)) {
		buf_put(out, p, n);
		return;
	}
	buf_byte(out, '\'');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\'')
			buf_str(out, "'\\''");
		else
			buf_byte(out, (uint8_t)p[i]);
	}
	buf_byte(out, '\'');
}

static bool
word_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

void
shell_word_line(const char *p, size_t n, bool first, struct buf *out)
{
	bool control = false;

	for (size_t i = 0; i < n && !control; i++)
		control = word_control(p[i]);
	if (!control) {
		shell_word(p, n, first, out);
		return;
	}
	buf_str(out, "$'");
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n')
			buf_str(out, "\\n");
		else if (p[i] == '\t')
			buf_str(out, "\\t");
		else if (word_control(p[i]))
			buf_printf(out, "\\%03o", (unsigned char)p[i]);
		else if (p[i] == '\'' || p[i] == '\\')
			buf_printf(out, "\\%c", p[i]);
		else
			buf_byte(out, (uint8_t)p[i]);
	}
	buf_byte(out, '\'');
}
