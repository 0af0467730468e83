/* SPDX-License-Identifier: MIT
 * tsv: rows with tabs between fields (csv_out.h).
 */
#include "value/format/csv_out.h"
#include "value/format/format_desc.h"

static enum status
tsv_elem(void *state, const uint8_t *p, size_t n, struct buf *out, struct err *e)
{
	return csv_out_elem(state, true, p, n, out, e);
}

static enum status
tsv_set(void *state, const struct format_opts *o, const struct type *type, struct err *e)
{
	((struct csv_out *)state)->tabs = true;
	return csv_out_set(state, o, type, e);
}

const struct format_desc format_tsv = { .flags = FORMAT_IS_FRAMED | FORMAT_HAS_HEADER,
	.state_size = sizeof(struct csv_out), .set = tsv_set, .elem = tsv_elem,
	.end = csv_out_end, .rest = csv_out_rest, .clear = csv_out_clear };
