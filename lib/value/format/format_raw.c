/* SPDX-License-Identifier: MIT
 * raw: the contents of each element, with nothing between: a text or bytes as they are, the numbers
 * of a tensor as they lie in memory, everything else as JSON.
 */
#include "value/format/format_desc.h"
#include "value/json/json_out.h"
#include "value/mp.h"
#include "value/tensor.h"

/* Whether the element is a tensor, whose data is then lent. */
static bool
raw_tensor(const struct elem *e, struct tensor *t)
{
	struct mp m;

	return mp_head(e->p, e->p + e->len, &m) && m.kind == MP_EXT && m.ext == MP_EXT_TENSOR
		&& tensor_read(m.p, m.n, t);
}

static bool
raw_elems(const struct json_rules *rules, uint64_t before, const struct elem *e, uint32_t n, struct buf *out)
{
	struct json_out o;
	struct tensor t;
	uint8_t *w = json_out_begin(&o, out, rules);

	(void)before;
	for (uint32_t i = 0; i < n; i++) {
		if (raw_tensor(&e[i], &t)) {
			bool refused = o.refused;
			json_out_end(&o, w);
			buf_put(out, t.data, t.size);
			w = json_out_begin(&o, out, rules);
			o.refused = refused;
			continue;
		}
		w = text_put(&o, (struct json_at){ w, e[i].p }, e[i].p + e[i].len).w;
	}
	json_out_end(&o, w);
	return !o.refused;
}

const struct format_desc format_raw = { .elems = raw_elems };
