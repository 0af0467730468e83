/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static _Thread_local const char *mem_operator;

const char *
mem_for(const char *op)
{
	const char *before = mem_operator;

	mem_operator = op;
	return before;
}

/* Nothing here may allocate memory. */
static void __attribute__((noreturn, cold))
mem_exhausted(size_t wanted)
{
	char text[512];
	int n = snprintf(text, sizeof text, "%s: out of memory%s%s (wanted %zu bytes more)\n"
			 "  help: give it more memory, or let it hold less at once: smaller batches, "
			 "windows and shuffles, a filter ahead of sort, group_by or join\n",
			 program_invocation_short_name, mem_operator ? " in operator " : "",
			 mem_operator ? mem_operator : "", wanted);

	if (n > 0 && write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(ST_IO);
	_exit(ST_IO);
}

void *
mem_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		mem_exhausted(size);
	return p;
}

void *
mem_zalloc(size_t size)
{
	return mem_array(1, size);
}

void *
mem_array(size_t n, size_t size)
{
	/* calloc checks the product itself. */
	void *p = n && size ? calloc(n, size) : calloc(1, 1);
	size_t bytes;

	if (!p)
		mem_exhausted(__builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes);
	return p;
}

void *
mem_realloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		mem_exhausted(size);
	return p;
}

void *
mem_grow(void *p, size_t *cap, size_t need, size_t item_size)
{
	size_t want = *cap, bytes;

	if (need <= *cap && p)
		return p;
	if (want < 8)
		want = 8;
	while (want < need) {
		if (want > SIZE_MAX / 2)
			mem_exhausted(SIZE_MAX);
		want *= 2;
	}
	if (__builtin_mul_overflow(want, item_size, &bytes))
		mem_exhausted(SIZE_MAX);
	p = mem_realloc(p, bytes);
	*cap = want;
	return p;
}

char *
mem_strdup(const char *s)
{
	return s ? mem_strndup(s, strlen(s)) : NULL;
}

char *
mem_strndup(const char *s, size_t n)
{
	char *p = mem_alloc(n + 1);

	if (n)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *
mem_vprintf(const char *fmt, va_list ap)
{
	char *p = NULL;

	if (vasprintf(&p, fmt, ap) < 0)
		mem_exhausted(strlen(fmt));
	return p;
}

char *
mem_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *p = mem_vprintf(fmt, ap);
	va_end(ap);
	return p;
}

void *
mem_dup(const void *p, size_t n)
{
	void *copy = mem_alloc(n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

void
mem_free(void *p)
{
	free(p);
}
