/* SPDX-License-Identifier: MIT
 *
 * Formats that need a file of their own, behind format.h: rows, arrays, frames,
 * archives. Unlike text they may refuse an element.
 */
#ifndef VALUE_FORMAT_KIN_H
#define VALUE_FORMAT_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct format_kin {
	size_t state_size;               /* zeroed at the start */
	/* One element, checked. On an error what it appended is taken back. */
	enum status (*elem)(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e);
	void (*end)(void *state, struct buf *out);    /* may be NULL, as the next two */
	void (*seekable)(void *state);
	bool (*patch)(void *state, struct buf *out);
	void (*clear)(void *state);
};

extern const struct format_kin format_csv, format_tsv, format_npy, format_tfrecord, format_tar;

/* "a record", "text", ...: what the value at p is, in messages. */
const char *format_what(const uint8_t *p, size_t n);

#endif
