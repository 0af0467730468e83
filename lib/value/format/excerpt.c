/* SPDX-License-Identifier: MIT */
#include "value/format/excerpt.h"

#include "value/format/format.h"

enum { EXCERPT_LARGE = 64 * 1024 }; /* an element larger than this is not printed at all */

void
excerpt_print(const uint8_t *p, size_t len, struct buf *out)
{
	size_t at = out->len;

	if (len > EXCERPT_LARGE) {
		buf_printf(out, "(%zu bytes)", len);
		return;
	}
	json_print(p, len, out);
	if (out->len - at <= EXCERPT_BYTES)
		return;
	size_t end = at + EXCERPT_BYTES;
	while (end > at && (out->data[end] & 0xc0) == 0x80)
		end--;
	out->len = end;
	buf_str(out, "...");
}
