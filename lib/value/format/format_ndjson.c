/* SPDX-License-Identifier: MIT
 * ndjson: one JSON value a line.
 */
#include "value/format/format_desc.h"
#include "value/json/json_out.h"

static bool
ndjson_elems(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out, rules);

	(void)before;
	for (uint32_t i = 0; i < n; i++) {
		w = json_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
		*w++ = '\n';
	}
	json_out_end(&o, w);
	return !o.refused;
}

const struct format_desc format_ndjson = { .elems = ndjson_elems };
