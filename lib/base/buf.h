/* SPDX-License-Identifier: MIT
 *
 * A growing run of bytes. Zero is a valid empty buffer; buf_clear frees and
 * leaves zero, buf_reset keeps the memory. Text put in is always followed by a
 * NUL that is not counted, so `data` can be used as a C string once not NULL.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data; /* NULL while empty */
	size_t len, cap;
};

void buf_clear(struct buf *b);
void buf_reset(struct buf *b);
/* The end of the last byte; NULL while empty. */
static inline uint8_t *
buf_end(const struct buf *b)
{
	return b->data ? b->data + b->len : NULL;
}
/* Makes room for n more bytes, and lends their place. The caller adds to len. */
uint8_t *buf_room(struct buf *b, size_t n);
void buf_put(struct buf *b, const void *p, size_t n);
void buf_byte(struct buf *b, uint8_t c);
void buf_str(struct buf *b, const char *s);
/* Appends a text of others, for a terminal or a log: control characters, which could move the cursor,
 * become `instead`. */
void buf_plain(struct buf *b, const void *p, size_t n, char instead);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
/* Gives the text (never NULL) and leaves the buffer empty. */
char *buf_take(struct buf *b);

#endif
