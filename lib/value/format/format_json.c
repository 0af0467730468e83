/* SPDX-License-Identifier: MIT
 * json: one list of all elements.
 */
#include "value/format/format_desc.h"
#include "value/json/json_out.h"

static bool
json_elems(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out, rules);

	for (uint32_t i = 0; i < n; i++) {
		w = json_out_room(&o, w, 0);
		*w++ = before + i ? ',' : '[';
		*w++ = '\n';
		w = json_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
	}
	json_out_end(&o, w);
	return !o.refused;
}

static enum status
json_end(void *state, uint64_t count, struct buf *out, struct err *e)
{
	(void)state;
	(void)e;
	buf_str(out, count ? "\n]\n" : "[]\n");
	return ST_OK;
}

const struct format_desc format_json = { .flags = FORMAT_IS_FRAMED, .elems = json_elems, .end = json_end };
