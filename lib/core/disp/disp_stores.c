/* SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_stores.h"

/* The sum grows by as much as one of its parts. A stream that is made again has less at first, and then the same. */
static bool
stores_more(uint64_t *of, uint64_t *sum, uint64_t told)
{
	if (told <= *of)
		return false;
	*sum += told - *of;
	*of = told;
	return true;
}

void
stores_message(struct disp *d, const struct peer *p, struct stream *s, const struct msg_stores *m)
{
	struct msg_stored *sum = &s->iter->stored;
	bool waits = *str_or_empty(m->waits);

	if (stores_more(&s->stored.files, &sum->files, m->sum.files) |
	    stores_more(&s->stored.elements, &sum->elements, m->sum.elements) |
	    stores_more(&s->stored.bytes, &sum->bytes, m->sum.bytes)) {
		disp_dirty(d, &s->dirty, DIRTY_ROW);
		disp_dirty(d, &s->iter->dirty, DIRTY_ROW);
	}
	if (waits && !s->waits)
		events_stream_waits(d, s, p, m->waits);
	stores_leave(s);
	s->waits = waits ? mem_strdup(m->waits) : NULL;
}

void
stores_leave(struct stream *s)
{
	mem_free(s->waits);
	s->waits = NULL;
}
