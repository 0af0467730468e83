/* SPDX-License-Identifier: MIT */
#include "op/file/byte_word.h"

#include <stdbool.h>
#include <string.h>

#include "expr/escape.h"

/* Adds the bytes that the word stands for. */
static bool
byte_word_bytes(const char *s, struct buf *out)
{
	size_t n = strlen(s), used;

	for (; n; s += used, n -= used) {
		if (*s != '\\') {
			used = 1;
			buf_byte(out, (uint8_t)*s);
		} else if (n > 1 && escape_read(s + 1, n - 1, out, &used)) {
			used++;
		} else {
			return false;
		}
	}
	return out->len > 0;
}

static bool
byte_word_read(const char *s, uint8_t *out)
{
	struct buf b = { 0 };
	size_t n = s ? strlen(s) : 0, used;
	bool ok = n == 1;

	if (ok) {
		*out = (uint8_t)*s;
	} else if (n > 1 && *s == '\\') {
		ok = escape_read(s + 1, n - 1, &b, &used) && used == n - 1 && b.len == 1;
		if (ok)
			*out = b.data[0];
	}
	buf_clear(&b);
	return ok;
}

enum status
byte_word_parse(const char *name, const char *s, uint8_t *out, struct err *e)
{
	if (byte_word_read(s, out))
		return ST_OK;
	err_set(e, ST_DATA, "%s='%.20s' is not one byte", name, s ? s : "");
	err_help(e, "one character, or one of \\n \\t \\r \\0 \\xHH");
	return ST_DATA;
}

enum status
byte_word_text(const char *name, const char *s, struct buf *out, struct err *e)
{
	if (!strcmp(s, "\\")) /* alone it begins nothing */
		buf_byte(out, '\\');
	else if (!byte_word_bytes(s, out))
		buf_reset(out);
	if (out->len)
		return ST_OK;
	err_set(e, ST_DATA, "%s='%.20s' is %s", name, s, *s ? "no text: it has a backslash that begins no escape" : "empty");
	err_help(e, "characters, in which \\n \\t \\r \\0 \\xHH stand for one byte, and \\\\ for a backslash");
	return ST_DATA;
}
