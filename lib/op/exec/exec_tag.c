/* SPDX-License-Identifier: MIT
 *
 * tag=true: each line of an answer begins with the element that it answers, and a tab.
 */
#include <string.h>

#include "op/exec/exec_op.h"
#include "op/typed.h"
#include "value/mp.h"

enum status
exec_tag_typing(const struct op_node *n, const struct op_typing *t, struct err *e)
{
	const struct exec *x = n->params;
	bool text = x->proto == FRAME_ARG || x->proto == FRAME_LINE || x->proto == FRAME_NUL;

	if (!x->tag || (!x->field && !x->bytes && text))
		return ST_OK;
	typed_fail(t, n, e, "tag=true is for answers that are text: proto=arg, line or nul, without field= and bytes=");
	err_help(e, "into= puts an answer into a field of its element");
	return ST_DATA;
}

/* The element as text on one line. */
static void
tag_print(const struct elem *el, struct buf *out)
{
	struct buf own = { 0 };
	size_t n;
	const uint8_t *p = frame_text(el, &own, &n);

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n' || p[i] == '\t')
			buf_str(out, p[i] == '\n' ? "\\n" : "\\t");
		else
			buf_byte(out, p[i]);
	}
	buf_byte(out, '\t');
	buf_clear(&own);
}

void
exec_tag_put(const struct elem *el, const uint8_t *answer, size_t n, struct buf *out)
{
	struct mp m;
	const uint8_t *end = answer + n;
	struct buf text = { 0 }, tag = { 0 };

	mp_head(answer, end, &m);
	tag_print(el, &tag);
	const uint8_t *p = m.p, *stop = m.p + m.n;
	do {
		const uint8_t *line = memchr(p, '\n', (size_t)(stop - p));

		buf_put(&text, tag.data, tag.len);
		buf_put(&text, p, (size_t)((line ? line + 1 : stop) - p));
		p = line ? line + 1 : stop;
	} while (p < stop);
	buf_reset(out);
	uint8_t *to = buf_room(out, text.len + MP_HEAD_MAX);
	out->len = (size_t)(mp_put_text(to, text.data, (uint32_t)text.len) - to);
	buf_clear(&text);
	buf_clear(&tag);
}
