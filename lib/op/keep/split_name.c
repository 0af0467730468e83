/* SPDX-License-Identifier: MIT */
#include "op/keep/split_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"
#include "value/json/json_print.h"
#include "value/mp.h"

static bool
split_name_plain(uint8_t c, bool utf8)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
		|| (c && strchr("-_+,=@:. ", c)) || (c >= 0x80 && utf8);
}

static const char *
split_name_text(const uint8_t *p, size_t n, struct buf *out)
{
	static const char hex[] = "0123456789ABCDEF";
	bool utf8 = str_utf8_valid(p, n) == n;
	size_t before = out->len;

	if (!n)
		buf_byte(out, '%');
	for (size_t i = 0; i < n && out->len - before <= SPLIT_NAME_MAX; i++) {
		if (split_name_plain(p[i], utf8) && (i || p[i] != '.')) {
			buf_byte(out, p[i]);
			continue;
		}
		buf_byte(out, '%');
		buf_byte(out, (uint8_t)hex[p[i] >> 4]);
		buf_byte(out, (uint8_t)hex[p[i] & 15]);
	}
	return out->len - before > SPLIT_NAME_MAX ? "the key is too long for the name of a file (200 bytes)" : NULL;
}

static const char *
split_name_one(const uint8_t *p, size_t len, struct buf *out)
{
	struct buf text = { 0 };
	struct mp m;

	mp_head(p, p + len, &m);
	switch (m.kind) {
	case MP_TEXT:
		return split_name_text(m.p, m.n, out);
	case MP_NIL:
		buf_str(out, "%null");
		return NULL;
	case MP_INT:
	case MP_FLOAT:
	case MP_BOOL:
		text_print(p, len, &text);
		break;
	default:
		return "the key is neither text, number, bool nor null, nor a list of these";
	}
	const char *why = split_name_text(text.data, text.len, out);
	buf_clear(&text);
	return why;
}

const char *
split_name(const uint8_t *p, size_t len, struct buf *out)
{
	const uint8_t *end = p + len, *next;
	const char *why = NULL;
	struct mp m;

	next = mp_head(p, end, &m);
	if (m.kind != MP_LIST)
		return split_name_one(p, len, out);
	if (m.n < 1 || m.n > SPLIT_NAME_PARTS)
		return "the key is a list of none or more than 8 values";
	for (uint32_t i = 0; i < m.n && !why; i++) {
		p = next;
		next = mp_skip(p, end);
		if (i)
			buf_byte(out, '/');
		why = split_name_one(p, (size_t)(next - p), out);
	}
	return why;
}

bool
split_name_valid(const uint8_t *p, size_t n)
{
	unsigned parts = 1;
	size_t from = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && p[i] != '/') {
			if (!split_name_plain(p[i], true) && p[i] != '%')
				return false;
			continue;
		}
		if (i == from || p[from] == '.' || i - from > SPLIT_NAME_MAX || parts > SPLIT_NAME_PARTS)
			return false;
		from = i + 1;
		parts += i < n;
	}
	return true;
}
