/* SPDX-License-Identifier: MIT
 * raw: the contents of each element, with nothing between.
 */
#include "value/format/format_desc.h"
#include "value/json/json_out.h"

static void
raw_elems(uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out);

	(void)before;
	for (uint32_t i = 0; i < n; i++)
		w = text_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
	json_out_end(&o, w);
}

const struct format_desc format_raw = { .elems = raw_elems };
