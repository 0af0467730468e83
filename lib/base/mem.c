/* SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem_wide.h"

enum {
	MEM_HUGE = 2 * 1024 * 1024, /* size of a huge page */
	MEM_WIDE = 2 * MEM_HUGE     /* size from which mem_grow_wide asks for them */
};

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

/* The capacity to grow to, and its size in *bytes. */
static size_t
mem_doubled(size_t cap, size_t need, size_t item_size, size_t *bytes)
{
	if (cap < 8)
		cap = 8;
	while (cap < need) {
		if (cap > SIZE_MAX / 2)
			mem_exhausted(SIZE_MAX);
		cap *= 2;
	}
	if (__builtin_mul_overflow(cap, item_size, bytes))
		mem_exhausted(SIZE_MAX);
	return cap;
}

void *
mem_grow(void *p, size_t *cap, size_t need, size_t item_size)
{
	size_t bytes;

	if (need <= *cap && p)
		return p;
	size_t want = mem_doubled(*cap, need, item_size, &bytes);
	p = mem_realloc(p, bytes);
	*cap = want;
	return p;
}

/* The size of the mapping for so many bytes; 0: they are few, and are allocated. */
static size_t
mem_mapped(size_t bytes)
{
	if (bytes > SIZE_MAX - MEM_HUGE)
		mem_exhausted(SIZE_MAX);
	return bytes < MEM_WIDE ? 0 : (bytes + MEM_HUGE - 1) / MEM_HUGE * MEM_HUGE;
}

void *
mem_grow_wide(void *p, size_t *cap, size_t need, size_t item_size)
{
	size_t bytes, old = p ? mem_mapped(*cap * item_size) : 0;

	if (need <= *cap && p)
		return p;
	size_t want = mem_doubled(*cap, need, item_size, &bytes), size = mem_mapped(bytes);
	if (!size) {
		p = mem_realloc(p, bytes);
		*cap = want;
		return p;
	}
	void *q = old ? mremap(p, old, size, MREMAP_MAYMOVE)
		      : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (q == MAP_FAILED)
		mem_exhausted(size);
	(void)madvise(q, size, MADV_HUGEPAGE);
	if (!old && p) {
		memcpy(q, p, *cap * item_size);
		free(p);
	}
	*cap = want;
	return q;
}

void
mem_cut_wide(void *p, size_t *cap, size_t keep, size_t item_size)
{
	size_t has = p ? mem_mapped(*cap * item_size) : 0, size = mem_mapped(keep * item_size);

	if (keep < *cap && size && size < has && mremap(p, has, size, 0) == p)
		*cap = keep;
}

void
mem_free_wide(void *p, size_t cap, size_t item_size)
{
	size_t size = p ? mem_mapped(cap * item_size) : 0;

	if (size)
		munmap(p, size);
	else
		free(p);
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
