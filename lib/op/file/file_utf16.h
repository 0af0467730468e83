/* SPDX-License-Identifier: MIT
 *
 * UTF-16 in, UTF-8 out: text that begins with a byte order mark of UTF-16. Bytes that
 * are no UTF-16 are an error, as nothing of a text is changed without a word.
 */
#ifndef FILE_FILE_UTF16_H
#define FILE_FILE_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { UTF16_ROOM = 4 }; /* bytes that an answer of file_utf16_read must have room for */

struct file_utf16;

/* Whether text begins with the mark; a text of fewer than two bytes does not. */
bool file_utf16_is(const uint8_t *p, size_t n);
/* Whether more bytes are needed to tell. */
static inline bool
file_utf16_undecided(const uint8_t *p, size_t n)
{
	return n == 1 && (*p == 0xff || *p == 0xfe);
}

struct file_utf16 *file_utf16_new(void);
void file_utf16_free(struct file_utf16 **u);
/* Begins a text with its first bytes, at least the mark; copies them. */
void file_utf16_start(struct file_utf16 *u, const uint8_t *p, size_t n);

/* Where the bytes come from: as file_bytes_read. */
typedef enum status file_utf16_from(void *arg, uint8_t *p, size_t room, size_t *n, struct err *e);
/* Gives up to `room` bytes, at least UTF16_ROOM. ST_END: there are no more. */
enum status file_utf16_read(struct file_utf16 *u, file_utf16_from *from, void *arg, uint8_t *p,
			    size_t room, size_t *n, struct err *e);

#endif
