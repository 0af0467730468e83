/* SPDX-License-Identifier: MIT
 * csv: rows with commas between fields (csv_out.h).
 */
#include "value/format/csv_out.h"
#include "value/format/format_desc.h"

static enum status
csv_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	return csv_out_elem(state, false, p, n, out, e);
}

const struct format_desc format_csv = { .flags = FORMAT_IS_FRAMED | FORMAT_HAS_HEADER,
	.state_size = sizeof(struct csv_out), .set = csv_out_set, .elem = csv_elem,
	.end = csv_out_end, .rest = csv_out_rest, .clear = csv_out_clear };
