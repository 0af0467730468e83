/* SPDX-License-Identifier: MIT */
#include "value/arrow/arrow_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "value/num.h"

enum { TEXT_DAY = 86400, TEXT_WORDS = 8 };

/* Year, month and day of a day since 1970, in the Gregorian calendar before its time, too: eras of 400 years
 * that begin on a first of March. */
static void
text_day(int64_t day, int64_t *year, int *month, int *of_month)
{
	day += 719468;
	int64_t era = (day >= 0 ? day : day - 146096) / 146097;
	int64_t in_era = day - era * 146097;
	int64_t of_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int64_t of_year = in_era - (365 * of_era + of_era / 4 - of_era / 100);
	int64_t m = (5 * of_year + 2) / 153;

	*of_month = (int)(of_year - (153 * m + 2) / 5 + 1);
	*month = (int)(m < 10 ? m + 3 : m - 9);
	*year = of_era + era * 400 + (*month <= 2);
}

static size_t
text_date(int64_t day, char *out)
{
	int64_t year;
	int month, of_month;

	text_day(day, &year, &month, &of_month);
	return (size_t)sprintf(out, year < 0 || year > 9999 ? "%+05lld-%02d-%02d" : "%04lld-%02d-%02d",
			       (long long)year, month, of_month);
}

static size_t
text_fraction(int64_t part, int64_t unit, char *out)
{
	return unit == 1000 ? (size_t)sprintf(out, ".%03lld", (long long)part)
		: unit == 1000000 ? (size_t)sprintf(out, ".%06lld", (long long)part)
		: unit == 1000000000 ? (size_t)sprintf(out, ".%09lld", (long long)part) : 0;
}

static int64_t
text_floor(int64_t v, int64_t by, int64_t *rest)
{
	int64_t whole = v / by - (v % by < 0);

	*rest = v % by + (v % by < 0 ? by : 0);
	return whole;
}

size_t
arrow_time_text(const struct arrow_node *n, int64_t v, char *out)
{
	int64_t unit = n->unit ? n->unit : 1, part, of_day;
	size_t len = 0;

	if (n->kind == ARROW_DATE && !n->unit)
		return text_date(v, out);
	if (n->kind == ARROW_SPAN) { /* PT12.5S */
		uint64_t all = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

		len = (size_t)sprintf(out, "%sPT%llu", v < 0 ? "-" : "", (unsigned long long)(all / (uint64_t)unit));
		len += text_fraction((int64_t)(all % (uint64_t)unit), unit, out + len);
		out[len] = 'S';
		return len + 1;
	}
	int64_t second = text_floor(v, unit, &part);
	int64_t day = text_floor(second, TEXT_DAY, &of_day);
	if (n->kind != ARROW_TIME)
		len = text_date(day, out);
	if (n->kind == ARROW_DATE)
		return len;
	if (n->kind == ARROW_STAMP)
		out[len++] = 'T';
	len += (size_t)sprintf(out + len, "%02d:%02d:%02d", (int)(of_day / 3600), (int)(of_day / 60 % 60),
			       (int)(of_day % 60));
	len += text_fraction(part, n->unit, out + len);
	if (n->kind == ARROW_STAMP && n->text) /* its column has a zone, so it is in UTC */
		out[len++] = 'Z';
	return len;
}

double
arrow_time_seconds(const struct arrow_node *n, int64_t v)
{
	return n->unit ? (double)v / (double)n->unit : (double)v * TEXT_DAY;
}

/* Reads the number's size into words, least first; gives whether it is negative. */
static bool
text_words(const struct arrow_node *n, const uint8_t *p, uint32_t w[TEXT_WORDS])
{
	size_t words = (size_t)n->width / 4;
	bool negative = p[n->width - 1] & 0x80;
	uint64_t carry = 1;

	memset(w, 0, TEXT_WORDS * sizeof *w);
	memcpy(w, p, (size_t)n->width);
	for (size_t i = 0; negative && i < words; i++) {
		carry += (uint32_t)~w[i];
		w[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return negative;
}

/* Writes the digits of w, the last first; gives their number. */
static int
text_digits(uint32_t w[TEXT_WORDS], char *out)
{
	int n = 0, top = TEXT_WORDS;

	for (;;) {
		uint64_t rest = 0;

		while (top && !w[top - 1])
			top--;
		if (!top)
			return n;
		for (int i = top - 1; i >= 0; i--) {
			rest = rest << 32 | w[i];
			w[i] = (uint32_t)(rest / 10);
			rest %= 10;
		}
		out[n++] = (char)('0' + rest);
	}
}

size_t
arrow_decimal_text(const struct arrow_node *n, const uint8_t *p, char *out)
{
	uint32_t w[TEXT_WORDS];
	bool negative = text_words(n, p, w);
	char digits[ARROW_DECIMAL_MAX];
	int count = text_digits(w, digits);
	char *o = out;

	if (negative)
		*o++ = '-';
	while (n->scale > 0 && count <= n->scale)
		digits[count++] = '0';
	if (!count)
		digits[count++] = '0';
	for (int i = count; i-- > 0; ) {
		*o++ = digits[i];
		if (i && i == n->scale)
			*o++ = '.';
	}
	for (int i = n->scale; i < 0 && !(count == 1 && digits[0] == '0'); i++)
		*o++ = '0';
	return (size_t)(o - out);
}

double
arrow_decimal_float(const struct arrow_node *n, const uint8_t *p)
{
	char text[ARROW_DECIMAL_MAX];
	double v = 0;
	int64_t small = 0;

	if (n->width <= 8) {
		memcpy(&small, p, (size_t)n->width);
		small = n->width == 4 ? (int32_t)small : small;
	} else {
		int64_t high;

		memcpy(&small, p, 8);
		memcpy(&high, p + 8, 8);
		if (n->width > 16 || high != small >> 63)
			small = INT64_MAX;
	}
	/* Both are exact, so that their quotient is rounded once. */
	if (n->scale >= 0 && n->scale <= NUM_TENS && small < (1LL << 53) && small > -(1LL << 53))
		return (double)small / num_tens[n->scale];
	num_parse_float(text, arrow_decimal_text(n, p, text), &v);
	return v;
}
