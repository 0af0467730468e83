/* SPDX-License-Identifier: MIT
 *
 * Functions of time: seconds since 1970 as a float. Clocks show UTC unless a zone is given.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/zone.h"
#include "expr/fn.h"
#include "expr/vm.h"

enum { TIME_FORMAT_MAX = 200, TIME_TEXT_MAX = 1000, TIME_DAY = 86400 };
#define TIME_MOST 1e12 /* seconds from 1970, more than any calendar has */

/* Reads `least` to `most` digits from *p on; false: there are fewer. */
static bool
time_digits(const char **p, unsigned least, unsigned most, int *out)
{
	unsigned n = 0;

	for (*out = 0; n < most && **p >= '0' && **p <= '9'; n++, ++*p)
		*out = *out * 10 + (**p - '0');
	return n >= least;
}

/* Finds the zone of argument k; *z is NULL if it is not given. */
static enum status
time_zone_of(struct expr_vm *vm, const char *call, const struct val *a, unsigned n, unsigned k,
	     const struct zone **z)
{
	struct err e = { 0 };

	*z = NULL;
	if (k >= n || zone_find((const char *)a[k].p, a[k].n, z, &e) == ST_OK)
		return ST_OK;
	return vm_fault(vm, "%s(): %s; %s", call, e.text, e.help);
}

/* Reads an offset: Z, +02:00, -0700, +05; *given: there is one. */
static bool
time_offset(const char **p, int *seconds, bool *given)
{
	int sign = **p == '-' ? -1 : 1, hours, minutes = 0;

	*seconds = 0;
	*given = true;
	if (**p == 'Z' || **p == 'z') {
		++*p;
		return true;
	}
	*given = **p == '+' || **p == '-';
	if (!*given)
		return true;
	++*p;
	if (!time_digits(p, 2, 2, &hours))
		return false;
	if (**p == ':')
		++*p;
	if (**p >= '0' && **p <= '9' && !time_digits(p, 2, 2, &minutes))
		return false;
	*seconds = sign * (hours * 3600 + minutes * 60);
	return hours < 24 && minutes < 60;
}

/* Reads 2024-02-29[T12:30[:59[.25]][offset]]; without an offset it is what clocks of the zone show. */
static bool
time_iso(const char *p, const struct zone *z, double *out)
{
	struct tm tm = { 0 };
	double fraction = 0, unit = 0.1;
	int offset = 0;
	bool given = false;

	if (!time_digits(&p, 4, 4, &tm.tm_year) || *p++ != '-' || !time_digits(&p, 2, 2, &tm.tm_mon)
	    || *p++ != '-' || !time_digits(&p, 2, 2, &tm.tm_mday))
		return false;
	if (*p == 'T' || *p == 't' || *p == ' ') {
		p++;
		if (!time_digits(&p, 2, 2, &tm.tm_hour) || *p++ != ':'
		    || !time_digits(&p, 2, 2, &tm.tm_min))
			return false;
		if (*p == ':') {
			p++;
			if (!time_digits(&p, 2, 2, &tm.tm_sec))
				return false;
		}
		if (*p == '.' || *p == ',')
			for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
				fraction += (*p - '0') * unit;
		if (*p == ' ')
			p++;
		if (!time_offset(&p, &offset, &given))
			return false;
	}
	if (*p || tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31
	    || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	int day = tm.tm_mday;
	bool leap = tm.tm_sec == 60;
	time_t t = timegm(&tm);
	*out = (double)(z && !given ? zone_time(z, t) : t - offset) + fraction;
	return tm.tm_mday == day || leap; /* the 30th of February would have moved */
}

static enum status
time_parse(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char text[TIME_TEXT_MAX + 1], format[TIME_FORMAT_MAX + 1];
	const struct zone *z;
	double seconds;

	if (time_zone_of(vm, "parse_time", a, n, 2, &z))
		return ST_DATA;
	if (a->n > TIME_TEXT_MAX || (n > 1 && a[1].n > TIME_FORMAT_MAX))
		return vm_fault(vm, "parse_time() of so long a text");
	memcpy(text, a->p, a->n);
	text[a->n] = '\0';
	if (n > 1 && a[1].n) {
		struct tm tm = { .tm_mday = 1, .tm_year = 70, .tm_gmtoff = LONG_MIN };

		memcpy(format, a[1].p, a[1].n);
		format[a[1].n] = '\0';
		const char *end = strptime(text, format, &tm);
		if (!end || *end)
			return vm_fault(vm, "parse_time(): \"%.60s\" is not of the form \"%.60s\"",
					text, format);
		long offset = tm.tm_gmtoff; /* set by %z, and by %s */
		time_t clock = timegm(&tm);
		seconds = (double)(offset != LONG_MIN ? clock - offset : z ? zone_time(z, clock) : clock);
	} else if (!time_iso(text, z, &seconds)) {
		return vm_fault(vm, "parse_time(): \"%.60s\" is not like "
				"2024-02-29T12:30:00Z", text);
	}
	*out = val_float(seconds);
	return ST_OK;
}

static enum status
time_print(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char text[TIME_TEXT_MAX + 1], format[TIME_FORMAT_MAX + 1];
	double seconds = val_to_float(a), whole = floor(seconds);
	int micro = 0;
	time_t t = 0;
	const struct zone *z;
	const char *name = NULL;
	struct tm tm;
	size_t len;
	long offset = 0;

	if (time_zone_of(vm, "fmt_time", a, n, 2, &z))
		return ST_DATA;
	if (fabs(seconds) < TIME_MOST) {
		/* rounded, since a float is rarely exactly what was written */
		micro = (int)lrint((seconds - whole) * 1e6);
		t = (time_t)whole + ((n < 2 || !a[1].n) && micro == 1000000);
		offset = z ? zone_offset(z, t, &name) : 0;
		t += offset;
	}
	if (!(fabs(seconds) < TIME_MOST) || !gmtime_r(&t, &tm))
		return vm_fault(vm, "fmt_time() of %g seconds", seconds);
	if (z) {
		tm.tm_gmtoff = offset;
		tm.tm_zone = name;
	}
	if (n > 1 && a[1].n) {
		if (a[1].n > TIME_FORMAT_MAX)
			return vm_fault(vm, "fmt_time() with so long a form");
		memcpy(format, a[1].p, a[1].n);
		format[a[1].n] = '\0';
		len = strftime(text, sizeof text, format, &tm);
	} else {
		len = (size_t)snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d",
				       tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
				       tm.tm_min, tm.tm_sec);
		if (micro % 1000000) {
			len += (size_t)snprintf(text + len, sizeof text - len, ".%06d", micro);
			while (text[len - 1] == '0')
				len--;
		}
		if (z && offset)
			len += (size_t)snprintf(text + len, sizeof text - len, "%c%02ld:%02ld", offset < 0 ? '-' : '+',
						labs(offset) / 3600, labs(offset) / 60 % 60);
		else
			text[len++] = 'Z';
	}
	buf_reset(&vm->tmp);
	buf_put(&vm->tmp, text, len);
	return vm_take_tmp(vm, VAL_TEXT, out);
}

static enum status
time_now(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	(void)a;
	(void)n;
	*out = val_float((double)(vm_now(vm) / 1000) / 1e6);
	return ST_OK;
}

/* Reads "hour", "15 minutes": the number, and the word for the unit; NULL: it is none. */
static const char *
time_unit(const struct val *v, int64_t *number)
{
	static const char *const units[] = { "second", "minute", "hour", "day", "week", "month", "quarter", "year" };
	const char *s = (const char *)v->p, *end = s + v->n;
	bool counted = s < end && *s >= '0' && *s <= '9';

	for (*number = counted ? 0 : 1; s < end && *s >= '0' && *s <= '9' && *number <= TIME_DAY; s++)
		*number = *number * 10 + (*s - '0');
	while (counted && s < end && *s == ' ')
		s++;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t n = strlen(units[i]), have = (size_t)(end - s);

		if ((have == n || (have == n + 1 && s[n] == 's')) && !memcmp(s, units[i], n))
			return !counted || i < 3 ? units[i] : NULL;
	}
	return NULL;
}

/* Goes back to the beginning of the unit on a clock that shows `clock`. */
static int64_t
time_begin(int64_t clock, char unit, const char *word, int64_t seconds)
{
	int64_t day = clock - ((clock % TIME_DAY) + TIME_DAY) % TIME_DAY;
	time_t t = (time_t)clock;
	struct tm tm;

	if (seconds)
		return day + (clock - day) / seconds * seconds;
	if (unit == 'd')
		return day;
	if (unit == 'w') /* 1970 began with a Thursday */
		return day - ((day / TIME_DAY + 3) % 7 + 7) % 7 * TIME_DAY;
	gmtime_r(&t, &tm);
	struct tm begin = { .tm_year = tm.tm_year, .tm_mday = 1,
			    .tm_mon = *word == 'y' ? 0 : *word == 'q' ? tm.tm_mon / 3 * 3 : tm.tm_mon };
	return timegm(&begin);
}

static enum status
time_trunc(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	double t = floor(val_to_float(a));
	const struct zone *z;
	int64_t number;
	const char *word = time_unit(&a[1], &number);
	int64_t one = !word ? 0 : !strcmp(word, "second") ? 1 : !strcmp(word, "minute") ? 60 : *word == 'h' ? 3600 : 0;

	if (time_zone_of(vm, "trunc_time", a, n, 2, &z))
		return ST_DATA;
	if (!word || !number || (one && number > TIME_DAY / one))
		return vm_fault(vm, "trunc_time() to \"%.*s\": it takes second, minute, hour, day, week, month, "
				"quarter, year, and texts such as \"15 minutes\", up to a day",
				(int)(a[1].n < 40 ? a[1].n : 40), (const char *)a[1].p);
	if (!(fabs(t) < TIME_MOST))
		return vm_fault(vm, "trunc_time() of %g seconds", t);
	int64_t from = (int64_t)t, offset = z ? zone_offset(z, from, NULL) : 0;
	int64_t clock = time_begin(from + offset, *word, word, one * number);
	/* Where the clocks were set in between, the hour that is meant is the one on this side. */
	bool same = !z || zone_offset(z, clock - offset, NULL) == offset;
	*out = val_float((double)(same ? clock - offset : zone_time(z, clock)));
	return ST_OK;
}

const struct fn fn_time[] = {
	{ "parse_time", "t?tt", "float", .call = time_parse, .args = "text[, form[, zone]]",
	  .brief = "the seconds since 1970 of a time, in ISO 8601 or a strptime(3) format; a text without an "
		  "offset of its own is in UTC, or in the zone, as in fmt_time; with the form \"\" it is ISO 8601",
	  .example = "parse_time(\"2024-02-29T12:30:00.5+01:00\")", .output = "1709206200.5" },
	{ "fmt_time", "n?tt", "text", .call = time_print, .args = "number[, form[, zone]]",
	  .brief = "seconds since 1970 as a date and time, in ISO 8601 (also with the form \"\") or a "
		  "strftime(3) format; in UTC, or in a zone such as Europe/Berlin or +02:00",
	  .example = "fmt_time(86400, \"\", \"+05:30\")", .output = "1970-01-02T05:30:00+05:30" },
	{ "trunc_time", "nt?t", "float", .call = time_trunc, .args = "number, unit[, zone]",
	  .brief = "the beginning of the second, minute, hour, day, week (from Monday), month, quarter or "
		  "year that a time lies in, on the clocks of the zone; a unit may also be like "
		  "\"15 minutes\", counted from midnight",
	  .example = "fmt_time(trunc_time(parse_time(\"2024-02-29T12:38:00Z\"), \"15 minutes\"))",
	  .output = "2024-02-29T12:30:00Z" },
	{ "now", "", "float", .call = time_now, .flags = FN_VARIES, .args = "",
	  .brief = "the seconds since 1970; the same for all elements of a stream, but not when "
		  "the stream is produced again",
	  .example = "now() > parse_time(\"2020-01-01\")", .output = "true" },
	{ 0 }
};
