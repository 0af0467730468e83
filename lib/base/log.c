/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <stdatomic.h>
#include <unistd.h>

static struct {
	char program[64];
	atomic_int most; /* threads ask while a program sets it */
} log_state = { "dsvc", LOG_WARN };

void
log_init(const char *program, enum log_level most)
{
	snprintf(log_state.program, sizeof log_state.program, "%s", program);
	atomic_store_explicit(&log_state.most, (int)most, memory_order_relaxed);
}

enum log_level
log_most(void)
{
	return (enum log_level)atomic_load_explicit(&log_state.most, memory_order_relaxed);
}

void
log_say(enum log_level level, const char *fmt, ...)
{
	char line[4096];
	va_list ap;
	int code = errno;

	if (level > log_most())
		return;
	int head = snprintf(line, sizeof line, "%s: ", log_state.program);
	va_start(ap, fmt);
	int n = vsnprintf(line + head, sizeof line - (size_t)head - 1, fmt, ap);
	va_end(ap);
	size_t len = (size_t)head + (n > 0 ? (size_t)n : 0);
	if (len > sizeof line - 2)
		len = sizeof line - 2;
	/* What a peer sent may be in it: one line stays one line. */
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			line[i] = ' ';
	line[len++] = '\n';
	/* A log that cannot be written has nobody to tell. */
	if (write(STDERR_FILENO, line, len) < 0)
		errno = code;
	errno = code;
}
