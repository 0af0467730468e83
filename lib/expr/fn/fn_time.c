/* SPDX-License-Identifier: MIT
 *
 * Functions of time: seconds since 1970 as a float, always UTC.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "expr/fn.h"
#include "expr/vm.h"

enum { TIME_FORMAT_MAX = 200, TIME_TEXT_MAX = 1000 };

/* Reads `least` to `most` digits from *p on; false: there are fewer. */
static bool
time_digits(const char **p, unsigned least, unsigned most, int *out)
{
	unsigned n = 0;

	for (*out = 0; n < most && **p >= '0' && **p <= '9'; n++, ++*p)
		*out = *out * 10 + (**p - '0');
	return n >= least;
}

/* Reads a zone: Z, +02:00, -0700, +05. */
static bool
time_zone(const char **p, int *seconds)
{
	int sign = **p == '-' ? -1 : 1, hours, minutes = 0;

	*seconds = 0;
	if (**p == 'Z' || **p == 'z') {
		++*p;
		return true;
	}
	if (**p != '+' && **p != '-')
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

/* Reads 2024-02-29[T12:30[:59[.25]][zone]]. */
static bool
time_iso(const char *p, double *out)
{
	struct tm tm = { 0 };
	double fraction = 0, unit = 0.1;
	int zone = 0;

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
		if (!time_zone(&p, &zone))
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
	*out = (double)(t - zone) + fraction;
	return tm.tm_mday == day || leap; /* the 30th of February would have moved */
}

static enum status
time_parse(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	char text[TIME_TEXT_MAX + 1], format[TIME_FORMAT_MAX + 1];
	double seconds;

	if (a->n > TIME_TEXT_MAX || (n > 1 && a[1].n > TIME_FORMAT_MAX))
		return vm_fault(vm, "parse_time() of so long a text");
	memcpy(text, a->p, a->n);
	text[a->n] = '\0';
	if (n > 1) {
		struct tm tm = { .tm_mday = 1, .tm_year = 70 };

		memcpy(format, a[1].p, a[1].n);
		format[a[1].n] = '\0';
		const char *end = strptime(text, format, &tm);
		if (!end || *end)
			return vm_fault(vm, "parse_time(): \"%.60s\" is not of the form \"%.60s\"",
					text, format);
		long zone = tm.tm_gmtoff;
		seconds = (double)(timegm(&tm) - zone);
	} else if (!time_iso(text, &seconds)) {
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
	struct tm tm;
	size_t len;

	if (fabs(seconds) < 1e12) {
		/* rounded, since a float is rarely exactly what was written */
		micro = (int)lrint((seconds - whole) * 1e6);
		t = (time_t)whole + (n < 2 && micro == 1000000);
	}
	if (!(fabs(seconds) < 1e12) || !gmtime_r(&t, &tm))
		return vm_fault(vm, "fmt_time() of %g seconds", seconds);
	if (n > 1) {
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

const struct fn fn_time[] = {
	{ "parse_time", "t?t", "float", .call = time_parse, .args = "text[, form]",
	  .brief = "the seconds since 1970 of a time, in ISO 8601 or a strptime(3) format",
	  .example = "parse_time(\"2024-02-29T12:30:00.5+01:00\")", .output = "1709206200.5" },
	{ "fmt_time", "n?t", "text", .call = time_print, .args = "number[, form]",
	  .brief = "seconds since 1970 as a date and time in UTC, in ISO 8601 or a "
		  "strftime(3) format",
	  .example = "fmt_time(86400)", .output = "1970-01-02T00:00:00Z" },
	{ "now", "", "float", .call = time_now, .flags = FN_VARIES, .args = "",
	  .brief = "the seconds since 1970; the same for all elements of a stream, but not when "
		  "the stream is produced again",
	  .example = "now() > parse_time(\"2020-01-01\")", .output = "true" },
	{ 0 }
};
