/* SPDX-License-Identifier: MIT */
#include "expr/escape.h"

#include <stdint.h>
#include <string.h>

/* An escape being read. */
struct escape {
	const char *s;
	size_t at, len;
};

static void
escape_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_byte(out, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		buf_byte(out, (uint8_t)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_byte(out, (uint8_t)(0xe0 | c >> 12));
		} else {
			buf_byte(out, (uint8_t)(0xf0 | c >> 18));
			buf_byte(out, (uint8_t)(0x80 | (c >> 12 & 63)));
		}
		buf_byte(out, (uint8_t)(0x80 | (c >> 6 & 63)));
	}
	buf_byte(out, (uint8_t)(0x80 | (c & 63)));
}

/* Reads up to `most` hex digits; gives their number. */
static unsigned
escape_hex(struct escape *x, unsigned most, uint32_t *out)
{
	unsigned n = 0;

	*out = 0;
	for (; n < most && x->at < x->len; n++, x->at++) {
		char c = x->s[x->at];

		if (c >= '0' && c <= '9')
			*out = *out * 16 + (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*out = *out * 16 + (uint32_t)((c | 32) - 'a' + 10);
		else
			break;
	}
	return n;
}

/* Reads the digits after \u. */
static bool
escape_unicode(struct escape *x, struct buf *out)
{
	uint32_t c, low;

	if (x->at < x->len && x->s[x->at] == '{') {
		x->at++;
		if (!escape_hex(x, 6, &c) || x->at >= x->len || x->s[x->at] != '}')
			return false;
		x->at++;
	} else {
		if (escape_hex(x, 4, &c) != 4)
			return false;
		if (c >= 0xd800 && c < 0xdc00 && x->len - x->at > 6
		    && !memcmp(x->s + x->at, "\\u", 2)) {
			x->at += 2;
			if (escape_hex(x, 4, &low) != 4 || low < 0xdc00 || low > 0xdfff)
				return false;
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return false;
	escape_utf8(out, c);
	return true;
}

bool
escape_read(const char *s, size_t len, struct buf *out, size_t *used)
{
	static const char from[] = "nrtbfv0ea\"\\/'@$";
	static const char to[] = "\n\r\t\b\f\v\0\033\a\"\\/'@$";
	struct escape x = { s, 1, len };
	const char *known;
	bool ok = true;
	uint32_t c;

	*used = 0;
	if (!len)
		return false;
	if (s[0] && (known = strchr(from, s[0])) != NULL)
		buf_byte(out, (uint8_t)to[known - from]);
	else if (s[0] == 'x' && escape_hex(&x, 2, &c) == 2)
		buf_byte(out, (uint8_t)c);
	else
		ok = s[0] == 'u' && escape_unicode(&x, out);
	*used = x.at < len ? x.at : len;
	return ok;
}
