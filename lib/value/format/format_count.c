/* SPDX-License-Identifier: MIT
 * count: how many elements there were, at the end.
 */
#include "value/format/format_desc.h"

static enum status
count_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	(void)state;
	(void)e;
	buf_printf(out, "%llu\n", (unsigned long long)count);
	return ST_OK;
}

const struct format_desc format_count = { .flags = FORMAT_IS_FRAMED | FORMAT_IS_BLIND, .end = count_end };
