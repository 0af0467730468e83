/* SPDX-License-Identifier: MIT */
#include "op/byte_word.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool
byte_word_read(const char *s, uint8_t *out)
{
	static const char signs[] = "n\nt\tr\r\\\\";
	const char *sign;
	char *end;

	if (!s || !*s)
		return false;
	if (!s[1]) {
		*out = (uint8_t)*s;
		return true;
	}
	if (*s != '\\')
		return false;
	if (s[1] == 'x' && s[2] && strspn(s + 2, "0123456789abcdefABCDEF") == strlen(s + 2)
	    && strlen(s) <= 4) {
		*out = (uint8_t)strtoul(s + 2, &end, 16);
		return true;
	}
	if (s[2])
		return false;
	*out = 0;
	if (s[1] == '0')
		return true;
	sign = strchr(signs, s[1]);
	if (!sign || (sign - signs) % 2)
		return false;
	*out = (uint8_t)sign[1];
	return true;
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
