/* SPDX-License-Identifier: MIT */
#include "value/json/json_fault.h"

#include <string.h>

#include "base/str.h"
#include "value/mp.h"
#include "value/num.h"

struct fault_src {
	const uint8_t *p;
	size_t n, at;
	unsigned depth;
	const char *reason; /* NULL: no fault so far */
};

static bool
fault_is(struct fault_src *s, size_t at, const char *reason)
{
	s->at = at;
	s->reason = reason;
	return true;
}

static int
fault_peek(struct fault_src *s)
{
	while (s->at < s->n && memchr(" \t\r\n", s->p[s->at], 4))
		s->at++;
	return s->at < s->n ? s->p[s->at] : -1;
}

static size_t
json_digits(const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= '0' && p[i] <= '9')
		i++;
	return i;
}

static char
json_int(const uint8_t *p, size_t n, bool minus, struct json_number *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, p[i] - '0', &v))
			return 0;
	if (minus) {
		if (v > (uint64_t)INT64_MAX + 1)
			return 0;
		out->i = (int64_t)(0 - v);
		return 'l';
	}
	out->u = v;
	return v > INT64_MAX ? 'u' : 'l';
}

size_t
json_number(const uint8_t *p, size_t n, struct json_number *out)
{
	bool minus = n && *p == '-';
	size_t start = minus, i = start, k = json_digits(p + i, n - i);

	out->kind = 'd';
	if (!k || (k > 1 && p[i] == '0'))
		return 0;
	i += k;
	if (i < n && p[i] == '.') {
		k = json_digits(p + i + 1, n - i - 1);
		if (!k)
			return 0;
		i += 1 + k;
	} else if (i == n || (p[i] != 'e' && p[i] != 'E')) {
		out->kind = json_int(p + start, k, minus, out);
		return i;
	}
	if (i < n && (p[i] == 'e' || p[i] == 'E')) {
		i++;
		if (i < n && (p[i] == '+' || p[i] == '-'))
			i++;
		k = json_digits(p + i, n - i);
		if (!k)
			return 0;
		i += k;
	}
	return i;
}

static bool
fault_number(struct fault_src *s)
{
	const uint8_t *p = s->p + s->at;
	struct json_number num;
	size_t len = json_number(p, s->n - s->at, &num);
	double f;

	if (!len)
		return fault_is(s, s->at, "this is not a number as JSON writes them");
	if (!num.kind)
		return fault_is(s, s->at, "this integer does not fit into 64 bits");
	if (num.kind == 'd' && !num_parse_float((const char *)p, len, &f))
		return fault_is(s, s->at, "this number is too large for a float");
	if (s->at + len < s->n && !strchr(" \t\r\n,]}:", p[len]))
		return fault_is(s, s->at, "this is not a number as JSON writes them");
	s->at += len;
	return false;
}

static int
fault_hex4(const uint8_t *p, size_t n)
{
	int v = 0;

	if (n < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		uint8_t c = p[i] | 0x20;

		if (p[i] >= '0' && p[i] <= '9')
			v = v * 16 + (p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			v = v * 16 + (c - 'a' + 10);
		else
			return -1;
	}
	return v;
}

/* with s->at at a backslash */
static bool
fault_escape(struct fault_src *s)
{
	const uint8_t *p = s->p + s->at;
	size_t n = s->n - s->at;

	if (n < 2 || !p[1] || !strchr("\"\\/bfnrtu", p[1]))
		return fault_is(s, s->at, "there is no such escape");
	if (p[1] != 'u') {
		s->at += 2;
		return false;
	}
	int v = fault_hex4(p + 2, n - 2);
	if (v < 0)
		return fault_is(s, s->at, "\\u wants four hexadecimal digits");
	s->at += 6;
	if (v < 0xd800 || v > 0xdfff)
		return false;
	int low = v < 0xdc00 && n >= 12 && p[6] == '\\' && p[7] == 'u'
		? fault_hex4(p + 8, n - 8) : -1;
	if (low < 0xdc00 || low > 0xdfff)
		return fault_is(s, s->at - 6, "lone surrogate");
	s->at += 6;
	return false;
}

static bool
fault_text(struct fault_src *s)
{
	size_t start = s->at++;

	while (s->at < s->n) {
		uint8_t c = s->p[s->at];

		if (c == '"') {
			s->at++;
			return false;
		}
		if (c == '\\') {
			if (fault_escape(s))
				return true;
		} else if (c < 0x20) {
			return fault_is(s, s->at, "a control character within a text must be escaped");
		} else if (c < 0x80) {
			s->at++;
		} else {
			size_t left = s->n - s->at, run = 1;

			while (run < left && s->p[s->at + run] >= 0x80)
				run++;
			size_t valid = str_utf8_valid(s->p + s->at, run);
			s->at += valid;
			if (valid < run)
				return fault_is(s, s->at, "this is not UTF-8");
		}
	}
	return fault_is(s, start, "the text that begins here has no closing quote");
}

static bool fault_value(struct fault_src *s);

/* with s->at after the opening bracket */
static bool
fault_items(struct fault_src *s, uint8_t close)
{
	bool record = close == '}';

	if (fault_peek(s) == close) {
		s->at++;
		return false;
	}
	for (;;) {
		if (record) {
			if (fault_peek(s) != '"')
				return fault_is(s, s->at, "expected a field name in quotes");
			if (fault_text(s))
				return true;
			if (fault_peek(s) != ':')
				return fault_is(s, s->at, "expected ':'");
			s->at++;
		}
		if (fault_value(s))
			return true;
		int c = fault_peek(s);
		if (c != ',' && c != close)
			return fault_is(s, s->at, record ? "expected ',' or '}'"
					: "expected ',' or ']'");
		s->at++;
		if (c == close)
			return false;
	}
}

static bool
fault_word(struct fault_src *s, const char *word)
{
	size_t n = strlen(word), left = s->n - s->at;

	if (left < n || memcmp(s->p + s->at, word, n)
	    || (left > n && !strchr(" \t\r\n,]}:[{\"", s->p[s->at + n]))
	    || (left > n && !s->p[s->at + n]))
		return fault_is(s, s->at, "expected a JSON value");
	s->at += n;
	return false;
}

static bool
fault_value(struct fault_src *s)
{
	int c = fault_peek(s);
	bool fault;

	switch (c) {
	case '{':
	case '[':
		if (s->depth == MP_DEPTH_MAX)
			return fault_is(s, s->at, "this is nested deeper than 128");
		s->depth++;
		s->at++;
		fault = fault_items(s, c == '{' ? '}' : ']');
		s->depth--;
		return fault;
	case '"': return fault_text(s);
	case 't': return fault_word(s, "true");
	case 'f': return fault_word(s, "false");
	case 'n': return fault_word(s, "null");
	case '-':
	case '0': case '1': case '2': case '3': case '4':
	case '5': case '6': case '7': case '8': case '9': return fault_number(s);
	default: return fault_is(s, s->at, "expected a JSON value");
	}
}

bool
json_fault(const uint8_t *p, size_t n, struct json_fault *f)
{
	struct fault_src s = { .p = p, .n = n };

	if (!fault_value(&s) && fault_peek(&s) >= 0)
		fault_is(&s, s.at, "something follows the value");
	f->at = s.at;
	f->reason = s.reason && s.at >= n && n ? "unexpected end" : s.reason;
	return s.reason;
}
