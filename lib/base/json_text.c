/* SPDX-License-Identifier: MIT */
#include "base/json_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

static bool
json_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* Gives the number of bytes that the character becomes. */
static size_t
json_escape(unsigned char c, char out[JSON_TEXT_MOST])
{
	static const char hex[] = "0123456789abcdef";
	char word = c == '\n' ? 'n' : c == '\t' ? 't' : c == '"' || c == '\\' ? (char)c : 'u';

	out[0] = '\\';
	out[1] = word;
	if (word != 'u')
		return 2;
	out[2] = out[3] = '0';
	out[4] = hex[c >> 4];
	out[5] = hex[c & 15];
	return JSON_TEXT_MOST;
}

/* Bytes of the character of more than one byte that begins at s; 0: none does. */
static size_t
json_wide(const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;
	size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	return len <= n && str_utf8_valid(s, len) == len ? len : 0;
}

char *
json_text(char *to, const char *end, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		char escaped[JSON_TEXT_MOST];
		const char *from = s + i;
		size_t k = 1, len;

		if (json_plain(c)) {
			if (to == end)
				break;
			*to++ = s[i++];
			continue;
		}
		if (c < 0x80) {
			len = json_escape(c, escaped);
			from = escaped;
		} else if ((len = json_wide(s + i, n - i))) {
			k = len;
		} else {
			len = 3;
			from = "\xef\xbf\xbd";
		}
		if ((size_t)(end - to) < len)
			break;
		memcpy(to, from, len);
		to += len;
		i += k;
	}
	return to;
}

char *
json_uint(char *to, uint64_t v)
{
	char digits[JSON_INT_MOST], *p = digits + sizeof digits;

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	size_t n = (size_t)(digits + sizeof digits - p);
	memcpy(to, p, n);
	return to + n;
}

char *
json_int(char *to, int64_t v)
{
	if (v >= 0)
		return json_uint(to, (uint64_t)v);
	*to = '-';
	return json_uint(to + 1, -(uint64_t)v);
}
