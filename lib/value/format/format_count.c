/* SPDX-License-Identifier: MIT
 * count: how many elements there were, at the end.
 */
#include "value/format/format_desc.h"

static void
count_end(void *state, uint64_t count, struct buf *out)
{
	(void)state;
	buf_printf(out, "%llu\n", (unsigned long long)count);
}

const struct format_desc format_count = { .flags = FORMAT_IS_FRAMED | FORMAT_IS_BLIND, .end = count_end };
