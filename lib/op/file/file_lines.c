/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "op/file/file_source.h"
#include "op/file/line_seek.h"
#include "value/mp.h"

/* The limit before which lines must begin: the end of the window, or of the split. */
static const uint8_t *
lines_limit(const struct file_source *s, const uint8_t *p, const uint8_t *end)
{
	return s->end - s->offset < (uint64_t)(end - p) ? p + (s->end - s->offset) : end;
}

enum status
file_lines(struct op_inst *self, struct file_source *s, struct run *out, struct err *e)
{
	const uint8_t *start = s->window ? s->window->data + s->from : NULL, *p = start;
	const uint8_t *end = s->window ? s->window->data + s->to : NULL, *limit = lines_limit(s, p, end);
	const uint8_t *full = (size_t)(limit - p) > RUN_BYTES ? p + RUN_BYTES : limit;
	size_t max = file_source_element_max(self), searched = s->searched;
	size_t line_max = max > MP_HEAD_MAX ? max - MP_HEAD_MAX : 0;
	bool long_line = false;

	if (line_seek(self, s, out))
		return ST_OK;
	while (p < full && out->n < RUN_USUAL) {
		const uint8_t *stop = memchr(p + searched, s->delim, (size_t)(end - p) - searched);

		searched = 0;
		if (!stop && !s->eof) {
			long_line = (size_t)(end - p) > line_max;
			break;
		}
		size_t n = (size_t)((stop ? stop : end) - p);
		if (n > line_max) {
			long_line = true;
			break;
		}
		run_done(out, mp_put_text(run_room(out, MP_HEAD_MAX + n), p, (uint32_t)n), out->n);
		p += n + (stop != NULL);
	}
	if (out->n) {
		file_source_take(s, (size_t)(p - start), out->n);
		return ST_OK;
	}
	if (!long_line) {
		s->searched = (size_t)(end - p);
		return ST_END;
	}
	enum status st = file_source_too_large(self, s, "line", e);
	return st == ST_OK ? file_source_drop_line(self, s, e) : st;
}
