/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct str_unit {
	const char *name;
	int64_t factor;
};

static const struct str_unit str_sizes[] = {
	{ "k", 1LL << 10 },     { "M", 1LL << 20 },      { "G", 1LL << 30 },
	{ "T", 1LL << 40 },     { "Ki", 1LL << 10 },     { "Mi", 1LL << 20 },
	{ "Gi", 1LL << 30 },    { "Ti", 1LL << 40 },     { "K", 1LL << 10 },
	{ "kB", 1000 },         { "MB", 1000000 },       { "GB", 1000000000 },
	{ "TB", 1000000000000 }, { "KiB", 1LL << 10 },   { "MiB", 1LL << 20 },
	{ "GiB", 1LL << 30 },   { "TiB", 1LL << 40 },    { "B", 1 },
	{ NULL, 0 },
};
static const struct str_unit str_times[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "m", 60000000000 },
	{ "h", 3600000000000 },
	{ "d", 86400000000000 },
	{ NULL, 0 },
};

static bool
str_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The factor of the unit that s[0, n) names, 0: there is no such unit. */
static int64_t
str_factor(const struct str_unit *units, const char *s, size_t n)
{
	for (; units->name; units++)
		if (strlen(units->name) == n && !memcmp(units->name, s, n))
			return units->factor;
	return 0;
}

static int
str_hex(char c)
{
	if (str_is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads 0x40 and 0xff_ff: s[0, n) is the text after the prefix. */
static bool
str_hex_int(const char *s, size_t n, bool negative, int64_t *out)
{
	uint64_t value = 0;

	if (n == 0 || s[0] == '_' || s[n - 1] == '_')
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '_')
			continue;
		int digit = str_hex(s[i]);
		if (digit < 0 || value >> 60)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	if (value > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)-value : (int64_t)value;
	return true;
}

/* Reads digits with single underscores between them, from *i on. False: there is no digit, or
 * the value exceeds 2^63. */
static bool
str_digits(const char *s, size_t n, size_t *i, uint64_t *value)
{
	size_t start = *i;

	*value = 0;
	for (; *i < n; ++*i) {
		if (s[*i] == '_') {
			if (*i == start || *i + 1 >= n || !str_is_digit(s[*i + 1]))
				return false;
			continue;
		}
		if (!str_is_digit(s[*i]))
			break;
		uint64_t digit = (uint64_t)(s[*i] - '0');
		if (*value > ((uint64_t)INT64_MAX + 1 - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return *i > start;
}

bool
str_int(const char *s, size_t n, int64_t *out)
{
	bool negative = n > 0 && s[0] == '-';
	size_t i = negative;
	uint64_t value;

	if (n - i > 2 && s[i] == '0' && (s[i + 1] | 0x20) == 'x')
		return str_hex_int(s + i + 2, n - i - 2, negative, out);
	if (!str_digits(s, n, &i, &value))
		return false;
	if (i < n) {
		int64_t factor = str_factor(str_sizes, s + i, n - i);
		if (!factor || __builtin_mul_overflow(value, (uint64_t)factor, &value))
			return false;
	}
	if (value > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)-value : (int64_t)value;
	return true;
}

/* Reads a number with a fraction and a unit, exactly: 1.5G, 0.5s. `bare` is the factor when
 * there is no unit. Never negative. */
static bool
str_with_unit(const char *s, size_t n, const struct str_unit *units, int64_t bare, int64_t *out)
{
	__extension__ typedef __int128 wide;
	size_t i = 0;
	uint64_t whole = 0, part = 0, scale = 1;

	if (n && s[0] != '.' && !str_digits(s, n, &i, &whole))
		return false;
	if (i < n && s[i] == '.') {
		size_t from = ++i;
		for (; i < n && str_is_digit(s[i]); i++) {
			if (scale < 1000000000000) { /* finer than any unit */
				part = part * 10 + (uint64_t)(s[i] - '0');
				scale *= 10;
			}
		}
		if (i == from)
			return false;
	}
	if (i == 0)
		return false;
	int64_t factor = i < n ? str_factor(units, s + i, n - i) : bare;
	if (!factor)
		return false;
	wide value = (wide)whole * factor + (wide)part * factor / (wide)scale;
	if (value > INT64_MAX)
		return false;
	*out = (int64_t)value;
	return true;
}

bool
str_size(const char *s, size_t n, int64_t *out)
{
	int64_t value;

	if (n > 2 && s[0] == '0' && (s[1] | 0x20) == 'x') {
		if (!str_int(s, n, &value))
			return false;
		*out = value;
		return true;
	}
	return str_with_unit(s, n, str_sizes, 1, out);
}

bool
str_duration_ns(const char *s, size_t n, int64_t *out)
{
	return str_with_unit(s, n, str_times, 1000000000, out);
}

bool
str_float(const char *s, size_t n, double *out)
{
	char text[128];
	size_t len = 0;

	if (n == 0 || n >= sizeof text)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '_' && i > 0 && i + 1 < n && str_is_digit(s[i - 1]) &&
		    str_is_digit(s[i + 1]))
			continue;
		/* No blanks, no 0x1p3, no nan, no leading plus sign. */
		if (!str_is_digit(s[i]) && !strchr(".eE-+", s[i]))
			break;
		text[len++] = s[i];
		if (i + 1 == n) {
			char *end;
			text[len] = '\0';
			if (text[0] == '+')
				return false;
			double value = strtod(text, &end);
			if (*end || end == text || isinf(value))
				return false;
			*out = value;
			return true;
		}
	}
	bool negative = s[0] == '-';
	if (n - negative == 3 && !memcmp(s + negative, "inf", 3)) {
		*out = negative ? -(double)INFINITY : (double)INFINITY;
		return true;
	}
	return false;
}

bool
str_bool(const char *s, size_t n, bool *out)
{
	static const char *const words[] = { "0", "1",   "false", "true",
					     "no", "yes", "off",   "on" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strlen(words[i]) == n && !memcmp(words[i], s, n)) {
			*out = i % 2;
			return true;
		}
	}
	return false;
}

enum { STR_WORD = 64 }; /* longer words are hardly misspellings */

/* Whether they are the same letter, large or small. */
static inline bool
str_same(char a, char b)
{
	return a == b || ((a ^ b) == 0x20 && (a | 0x20) >= 'a' && (a | 0x20) <= 'z');
}

/* The number of insertions, deletions, changes and swaps of neighbours that turn a into b, if large and small letters
 * are the same. */
static unsigned
str_distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[3][STR_WORD + 1];
	unsigned *before = row[0], *last = row[1], *now = row[2];

	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = last[j - 1] + !str_same(a[i - 1], b[j - 1]);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && str_same(a[i - 1], b[j - 2]) && str_same(a[i - 2], b[j - 1]) &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		unsigned *oldest = before;
		before = last;
		last = now;
		now = oldest;
	}
	return last[nb];
}

bool
str_suggest(const char *word, const char *(*next)(void *arg, size_t i), void *arg, char *out,
	    size_t out_size)
{
	size_t n = strlen(word), len = 0;
	const char *best[3] = { 0 }, *other;
	unsigned distance[3] = { 3, 3, 3 };

	if (out_size)
		out[0] = '\0';
	if (n == 0 || n > STR_WORD)
		return false;
	for (size_t i = 0; (other = next(arg, i)); i++) {
		size_t m = strlen(other);
		if (m == 0 || m > STR_WORD || !strcmp(other, word))
			continue;
		unsigned d = str_distance(word, n, other, m);
		/* Two faults in a word of three letters make another word. */
		if (d > 2 || d >= n || (d == 2 && n < 4))
			continue;
		for (size_t k = 0; k < 3; k++) {
			if (d >= distance[k])
				continue;
			memmove(best + k + 1, best + k, (2 - k) * sizeof *best);
			memmove(distance + k + 1, distance + k, (2 - k) * sizeof *distance);
			best[k] = other;
			distance[k] = d;
			break;
		}
	}
	for (size_t k = 0; k < 3 && best[k] && len < out_size; k++)
		len += (size_t)snprintf(out + len, out_size - len, "%s`%s`", k ? ", " : "",
					best[k]);
	return best[0];
}

const char *
str_s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

const char *
str_or_empty(const char *s)
{
	return s ? s : "";
}

char *
str_take(char **s)
{
	char *text = *s ? *s : mem_strdup("");

	*s = NULL;
	return text;
}

bool
str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool
str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !memcmp(s + n - m, suffix, m);
}

/* Length of the character at p, 0: it is not valid. No surrogates, no overlong forms, nothing
 * above U+10FFFF. */
static size_t
str_utf8_char(const uint8_t *p, size_t n)
{
	uint8_t c = p[0];
	size_t len = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f) ||
	    (c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

size_t
str_utf8_valid(const void *s, size_t n)
{
	const uint8_t *p = s;
	size_t i = 0;

	while (i < n) {
		uint64_t eight;
		/* Most text is ASCII: eight bytes at a time. */
		while (n - i >= 8) {
			memcpy(&eight, p + i, 8);
			if (eight & 0x8080808080808080u)
				break;
			i += 8;
		}
		if (i == n)
			break;
		size_t len = str_utf8_char(p + i, n - i);
		if (len == 0)
			break;
		i += len;
	}
	return i;
}
