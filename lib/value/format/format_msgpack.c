/* SPDX-License-Identifier: MIT
 * msgpack: the values as they lie, end to end.
 */
#include "value/format/format_desc.h"

/* Copies adjacent elements together, as most are. */
static bool
msgpack_elems(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	(void)rules, (void)before;
	for (uint32_t i = 0; i < n;) {
		const uint8_t *start = e[i].p, *end = start;

		for (; i < n && e[i].p == end; i++)
			end += e[i].len;
		buf_put(out, start, (size_t)(end - start));
	}
	return true;
}

const struct format_desc format_msgpack = { .flags = FORMAT_IS_BINARY | FORMAT_IS_VERBATIM, .elems = msgpack_elems };
