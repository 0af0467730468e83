/* SPDX-License-Identifier: MIT */
#include "value/json/json_text.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

enum {
	TEXT_PIECE = 4096, /* bytes of input for which room is made at once */
	TEXT_GROWTH = 6    /* length of \u001f */
};

#define TEXT_EACH(byte) (0x0101010101010101u * (uint64_t)(byte))

/* Sets the top bit of each byte that must be escaped in a JSON string. Borrows make false
 * marks, but only above a true one: the lowest mark is exact. */
static inline uint64_t
text_marks(uint64_t x)
{
	uint64_t quote = x ^ TEXT_EACH('"'), back = x ^ TEXT_EACH('\\');
	uint64_t low = (x - TEXT_EACH(0x20)) & ~x;

	quote = (quote - TEXT_EACH(1)) & ~quote;
	back = (back - TEXT_EACH(1)) & ~back;
	return (low | quote | back | x) & TEXT_EACH(0x80);
}

static inline uint64_t
text_load(const uint8_t *s)
{
	uint64_t x;

	memcpy(&x, s, 8);
	return le64toh(x);
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static size_t
text_sequence(const uint8_t *s, size_t n)
{
	uint8_t c = s[0];
	size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	if (c < 0xc2 || c > 0xf4 || n < need)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, surrogates, above U+10FFFF */
	if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f)
	    || (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] > 0x8f))
		return 0;
	return need;
}

/* Escapes one byte or sequence that is not plain; *s moves past it. */
static uint8_t *
text_put_odd(struct json_out *o, uint8_t *w, const uint8_t **s, const uint8_t *end)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n',
					['\f'] = 'f', ['\r'] = 'r' };
	uint8_t c = **s;

	if (c >= 0x80) {
		size_t n = text_sequence(*s, (size_t)(end - *s));

		o->refused |= !n && o->rules.invalid_utf8 == JSON_INVALID_ERROR;
		memcpy(w, n ? (const void *)*s : "\xef\xbf\xbd", n ? n : 3);
		*s += n ? n : 1;
		return w + (n ? n : 3);
	}
	++*s;
	if (c >= 0x20 && c != '"' && c != '\\') {
		*w++ = c;
		return w;
	}
	*w++ = '\\';
	if (c >= 0x20) {
		*w++ = c;
	} else if (c < sizeof letters && letters[c]) {
		*w++ = (uint8_t)letters[c];
	} else {
		memcpy(w, "u00", 3);
		w[3] = (uint8_t)hex[c >> 4];
		w[4] = (uint8_t)hex[c & 15];
		w += 5;
	}
	return w;
}

/* Escapes from *s until it reaches `stop` (or the end of a sequence that began before). There
 * is room for TEXT_GROWTH times the bytes and 8 more. */
static uint8_t *
text_put_piece(struct json_out *o, uint8_t *w, const uint8_t **sp, const uint8_t *stop,
	       const uint8_t *text_end, const uint8_t *end)
{
	const uint8_t *s = *sp;

	while (s < stop) {
		size_t n = (size_t)(stop - s) < 8 ? (size_t)(stop - s) : 8;

		if (end - s >= 8) {
			uint64_t marks = text_marks(text_load(s));
			size_t plain = marks ? (size_t)__builtin_ctzll(marks) / 8 : 8;

			memcpy(w, s, 8); /* the surplus is overwritten */
			if (plain >= n) {
				w += n;
				s += n;
				continue;
			}
			w += plain;
			s += plain;
		}
		w = text_put_odd(o, w, &s, text_end);
	}
	*sp = s;
	return w;
}

uint8_t *
json_put_text(struct json_out *o, uint8_t *w, const uint8_t *s, size_t n, const uint8_t *end)
{
	const uint8_t *text_end = s + n;

	w = json_out_room(o, w, 0);
	*w++ = '"';
	while (s < text_end) {
		size_t left = (size_t)(text_end - s);
		size_t piece = left < TEXT_PIECE ? left : TEXT_PIECE;

		w = json_out_room(o, w, piece * TEXT_GROWTH);
		w = text_put_piece(o, w, &s, s + piece, text_end, end);
	}
	*w++ = '"';
	return w;
}

uint8_t *
json_put_base64(struct json_out *o, uint8_t *w, const uint8_t *s, size_t n)
{
	static const char code[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	w = json_out_room(o, w, n / 3 * 4 + 8);
	*w++ = '"';
	for (; n >= 3; n -= 3, s += 3) {
		uint32_t v = (uint32_t)s[0] << 16 | (uint32_t)s[1] << 8 | s[2];

		*w++ = (uint8_t)code[v >> 18];
		*w++ = (uint8_t)code[v >> 12 & 63];
		*w++ = (uint8_t)code[v >> 6 & 63];
		*w++ = (uint8_t)code[v & 63];
	}
	if (n) {
		uint32_t v = (uint32_t)s[0] << 16 | (n > 1 ? (uint32_t)s[1] << 8 : 0);

		*w++ = (uint8_t)code[v >> 18];
		*w++ = (uint8_t)code[v >> 12 & 63];
		*w++ = n > 1 ? (uint8_t)code[v >> 6 & 63] : '=';
		*w++ = '=';
	}
	*w++ = '"';
	return w;
}
