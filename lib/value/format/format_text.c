/* SPDX-License-Identifier: MIT
 * text: one element a line.
 */
#include "value/format/format_desc.h"
#include "value/format/format_lines.h"
#include "value/json/json_out.h"
#include "value/mp.h"
#include "value/num.h"

/* Most elements in these formats are ints: they are printed here, without a call. */
bool
format_lines(const struct json_rules *rules, const struct elem *e, uint32_t n, char end, struct buf *out)
{
	struct json_out o;
	uint8_t *w = json_out_begin(&o, out, rules);

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *p = e[i].p;

		w = json_out_room(&o, w, 0);
		if (*p < 0x80) {
			w = (uint8_t *)num_print_uint(*p, (char *)w);
		} else if (*p == 0xcd) {
			w = (uint8_t *)num_print_uint(mp_u16(p + 1), (char *)w);
		} else if (*p == 0xce) {
			w = (uint8_t *)num_print_uint(mp_u32(p + 1), (char *)w);
		} else {
			w = text_put(&o, (struct json_at){ w, p }, p + e[i].len).w;
		}
		*w++ = (uint8_t)end;
	}
	json_out_end(&o, w);
	return !o.refused;
}

static bool
text_elems(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	(void)before;
	return format_lines(rules, e, n, '\n', out);
}

const struct format_desc format_text = { .elems = text_elems };
