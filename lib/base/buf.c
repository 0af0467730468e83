/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void
buf_clear(struct buf *b)
{
	mem_free(b->data);
	*b = (struct buf){ 0 };
}

void
buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

uint8_t *
buf_room(struct buf *b, size_t n)
{
	size_t need;

	/* One more for the NUL. The sum cannot wrap for sizes that fit into memory; if it
	 * does, SIZE_MAX makes the allocation fail. */
	if (__builtin_add_overflow(b->len, n, &need) || ++need == 0)
		need = SIZE_MAX;
	if (need > b->cap)
		b->data = mem_grow(b->data, &b->cap, need < 64 ? 64 : need, 1);
	return b->data + b->len;
}

void
buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *at = buf_room(b, n);

	if (n)
		memcpy(at, p, n);
	at[n] = '\0';
	b->len += n;
}

void
buf_byte(struct buf *b, uint8_t c)
{
	uint8_t *at = buf_room(b, 1);

	at[0] = c;
	at[1] = '\0';
	b->len++;
}

void
buf_str(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void
buf_plain(struct buf *b, const void *p, size_t n, char instead)
{
	const uint8_t *s = p;

	for (size_t i = 0; i < n; i++)
		buf_byte(b, s[i] < ' ' || s[i] == 0x7f ? (uint8_t)instead : s[i]);
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	char *at = (char *)buf_room(b, 64);

	va_copy(again, ap);
	int n = vsnprintf(at, b->cap - b->len, fmt, ap);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		at = (char *)buf_room(b, (size_t)n);
		n = vsnprintf(at, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (n > 0)
		b->len += (size_t)n;
	b->data[b->len] = '\0';
}

char *
buf_take(struct buf *b)
{
	if (!b->data)
		buf_put(b, "", 0);
	char *text = (char *)b->data;
	*b = (struct buf){ 0 };
	return text;
}
