/* SPDX-License-Identifier: MIT */
#include "base/zone_rule.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

enum { RULE_DAY = 86400, RULE_USUAL_CHANGE = 7200 };

static bool
rule_name(const char **s, const char *end, char out[ZONE_RULE_NAME])
{
	bool quoted = *s < end && **s == '<';
	const char *p = *s + quoted;
	size_t n = 0;

	while (p + n < end && (quoted ? p[n] != '>' : isalpha((unsigned char)p[n])))
		n++;
	if (n < 3 || n >= ZONE_RULE_NAME || (quoted && p + n == end))
		return false;
	memcpy(out, p, n);
	out[n] = '\0';
	*s = p + n + quoted;
	return true;
}

static bool
rule_number(const char **s, const char *end, int most, int *out)
{
	const char *p = *s;

	for (*out = 0; p < end && isdigit((unsigned char)*p) && *out <= most; p++)
		*out = *out * 10 + (*p - '0');
	bool any = p > *s;
	*s = p;
	return any && *out <= most;
}

/* Reads [+-]hours[:minutes[:seconds]]. */
static bool
rule_seconds(const char **s, const char *end, int32_t *out)
{
	int sign = 1, hours, parts[2] = { 0, 0 };

	if (*s < end && (**s == '-' || **s == '+'))
		sign = *(*s)++ == '-' ? -1 : 1;
	if (!rule_number(s, end, 167, &hours))
		return false;
	for (int i = 0; i < 2 && *s < end && **s == ':'; i++) {
		++*s;
		if (!rule_number(s, end, 59, &parts[i]))
			return false;
	}
	*out = sign * (hours * 3600 + parts[0] * 60 + parts[1]);
	return true;
}

static bool
rule_mark(const char **s, const char *end, char c)
{
	if (*s == end || **s != c)
		return false;
	++*s;
	return true;
}

/* Reads M3.5.0, J60 or 59, and /time. */
static bool
rule_change(const char **s, const char *end, struct zone_change *out)
{
	bool good;

	out->kind = *s < end && (**s == 'M' || **s == 'J') ? *(*s)++ : 'D';
	if (out->kind == 'M')
		good = rule_number(s, end, 12, &out->month) && rule_mark(s, end, '.')
			&& rule_number(s, end, 5, &out->week) && rule_mark(s, end, '.')
			&& rule_number(s, end, 6, &out->day) && out->month && out->week;
	else
		good = rule_number(s, end, 365, &out->day) && (out->kind == 'D' || out->day);
	out->seconds = RULE_USUAL_CHANGE;
	return good && (!rule_mark(s, end, '/') || rule_seconds(s, end, &out->seconds));
}

bool
zone_rule_parse(const char *s, size_t n, struct zone_rule *out)
{
	const char *end = s + n;

	*out = (struct zone_rule){ 0 };
	if (!n)
		return true;
	if (!rule_name(&s, end, out->names[0]) || !rule_seconds(&s, end, &out->offsets[0]))
		return false;
	out->given = true;
	out->offsets[0] = -out->offsets[0]; /* POSIX counts them towards the west */
	if (s == end)
		return true;
	out->summer = true;
	out->offsets[1] = out->offsets[0] + 3600;
	if (!rule_name(&s, end, out->names[1]))
		return false;
	if (s < end && *s != ',') {
		if (!rule_seconds(&s, end, &out->offsets[1]))
			return false;
		out->offsets[1] = -out->offsets[1];
	}
	return rule_mark(&s, end, ',') && rule_change(&s, end, &out->from) && rule_mark(&s, end, ',')
		&& rule_change(&s, end, &out->to) && s == end;
}

static bool
rule_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100) || year % 400 == 0;
}

/* When the change is in a year, in seconds after its beginning as clocks show them. */
static int64_t
rule_seconds_in(const struct zone_change *c, int64_t year, int first_day)
{
	static const int lengths[12] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = rule_leap(year);
	int day = c->day;

	if (c->kind == 'J') {
		day = c->day - 1 + (leap && c->day >= 60);
	} else if (c->kind == 'M') {
		int begin = 0, length = lengths[c->month - 1] + (c->month == 2 && leap);

		for (int m = 1; m < c->month; m++)
			begin += lengths[m - 1] + (m == 2 && leap);
		day = (c->day - (first_day + begin) % 7 + 7) % 7 + (c->week - 1) * 7;
		if (day >= length)
			day -= 7;
		day += begin;
	}
	return (int64_t)day * RULE_DAY + c->seconds;
}

int32_t
zone_rule_offset(const struct zone_rule *r, int64_t t, const char **abbreviation)
{
	bool summer = false;
	struct tm tm;
	time_t local = (time_t)t + r->offsets[0];

	if (r->summer && gmtime_r(&local, &tm)) {
		struct tm begin = { .tm_year = tm.tm_year, .tm_mday = 1 };
		int64_t first = timegm(&begin), year = 1900 + (int64_t)tm.tm_year;
		int64_t from = first + rule_seconds_in(&r->from, year, begin.tm_wday) - r->offsets[0];
		int64_t to = first + rule_seconds_in(&r->to, year, begin.tm_wday) - r->offsets[1];

		summer = from < to ? t >= from && t < to : t >= from || t < to;
	}
	if (abbreviation)
		*abbreviation = r->names[summer];
	return r->offsets[summer];
}
