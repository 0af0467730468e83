/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/gate.h"
#include "base/str.h"

/* Cuts a text that did not fit between two characters. */
static void
err_trim(char *text, size_t size)
{
	size_t n = strlen(text);

	if (n == size - 1)
		text[str_utf8_valid(text, n)] = '\0';
}

void
err_clear(struct err *e)
{
	if (!e)
		return;
	e->kind = ST_OK;
	e->text[0] = e->help[0] = e->file[0] = e->source[0] = '\0';
	e->line = e->col = e->width = e->shift = 0;
}

enum status
err_set(struct err *e, enum status kind, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return kind;
	/* Arguments may point into e itself: the text is formatted before e is overwritten. */
	char text[ERR_TEXT];
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_trim(text, sizeof text);
	err_clear(e);
	e->kind = kind;
	memcpy(e->text, text, strlen(text) + 1);
	return kind;
}

enum status
err_errno(struct err *e, const char *fmt, ...)
{
	va_list ap;
	int code = errno;
	enum status kind = ST_IO;
	char why[ERR_TEXT / 2], help[ERR_HELP] = "";

	if (gate_refused(code))
		gate_say(code, why, sizeof why, help, sizeof help);
	else
		snprintf(why, sizeof why, "%s", strerror(code));
	if (code == ENOENT || code == ENOTDIR)
		kind = ST_NOINPUT;
	else if (code == EACCES || code == EPERM || gate_refused(code))
		kind = ST_PERM;
	if (!e)
		return kind;
	char text[ERR_TEXT];
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof text)
		snprintf(text + n, sizeof text - (size_t)n, ": %s", why);
	err_trim(text, sizeof text);
	err_clear(e);
	e->kind = kind;
	memcpy(e->text, text, strlen(text) + 1);
	memcpy(e->help, help, strlen(help) + 1);
	err_trim(e->help, sizeof e->help);
	errno = code;
	return kind;
}

enum status
err_wrap(struct err *e, const char *fmt, ...)
{
	va_list ap;
	char text[ERR_TEXT];

	if (!e)
		return ST_BUG;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof text)
		snprintf(text + n, sizeof text - (size_t)n, ": %.*s", ERR_TEXT - 1 - n, e->text);
	err_trim(text, sizeof text);
	memcpy(e->text, text, strlen(text) + 1);
	return e->kind;
}

void
err_help(struct err *e, const char *fmt, ...)
{
	va_list ap;
	char help[ERR_HELP];

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(help, sizeof help, fmt, ap);
	va_end(ap);
	err_trim(help, sizeof help);
	memcpy(e->help, help, strlen(help) + 1);
}

/* Number of characters in [s, s + n): bytes that do not continue another one. */
static size_t
err_chars(const char *s, size_t n)
{
	size_t chars = 0;

	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)s[i] & 0xc0) != 0x80;
	return chars;
}

void
err_place(struct err *e, const char *file, const char *text, size_t text_len, size_t at,
	  size_t len)
{
	if (!e)
		return;
	if (at > text_len)
		at = text_len;
	if (len > text_len - at)
		len = text_len - at;

	size_t start = at, end = at;
	unsigned line = 1;
	while (start > 0 && text[start - 1] != '\n')
		start--;
	while (end < text_len && text[end] != '\n')
		end++;
	for (size_t i = 0; i < start; i++)
		line += text[i] == '\n';
	if (at + len > end)
		len = end - at;
	e->line = line;
	e->col = (unsigned)err_chars(text + start, at - start) + 1;
	e->width = (unsigned)err_chars(text + at, len);
	if (e->width == 0)
		e->width = 1;
	snprintf(e->file, sizeof e->file, "%s", file ? file : "<arg>");
	err_trim(e->file, sizeof e->file);

	/* The part of a long line around the fault is kept. */
	size_t from = start;
	if (at + len - start >= sizeof e->source && at - start > ERR_LINE / 2) {
		from = at - ERR_LINE / 2;
		while (((unsigned char)text[from] & 0xc0) == 0x80 && from < at)
			from++;
	}
	e->shift = (unsigned)err_chars(text + start, from - start);
	size_t n = end - from;
	if (n >= sizeof e->source)
		n = sizeof e->source - 1;
	memcpy(e->source, text + from, n);
	e->source[n] = '\0';
	err_trim(e->source, sizeof e->source);
}

enum status
status_from_code(uint64_t code)
{
	if (code == 1)
		return ST_NO;
	if ((code >= ST_USAGE && code <= ST_CONFIG) || code == ST_TIMEOUT || code == ST_NORUN || code == ST_NOCMD)
		return (enum status)code;
	return ST_BUG;
}

unsigned
status_code(enum status failure)
{
	return failure == ST_NO ? 1 : (unsigned)status_from_code(failure == ST_END ? 0 : (uint64_t)failure);
}

const char *
status_name(enum status s)
{
	switch (s) {
	case ST_OK: return "OK";
	case ST_END: return "END";
	case ST_AGAIN: return "AGAIN";
	case ST_SKIP: return "SKIP";
	case ST_NO: return "FAIL";
	case ST_USAGE: return "USAGE";
	case ST_DATA: return "DATAERR";
	case ST_NOINPUT: return "NOINPUT";
	case ST_UNAVAIL: return "UNAVAILABLE";
	case ST_BUG: return "SOFTWARE";
	case ST_IO: return "IOERR";
	case ST_TEMP: return "TEMPFAIL";
	case ST_PROTO: return "PROTOCOL";
	case ST_PERM: return "NOPERM";
	case ST_CONFIG: return "CONFIG";
	case ST_TIMEOUT: return "TIMEOUT";
	case ST_NORUN: return "NORUN";
	case ST_NOCMD: return "NOCMD";
	}
	return "UNKNOWN";
}
