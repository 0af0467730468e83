/* SPDX-License-Identifier: MIT
 *
 * The outbox: messages on their way to peers, in order.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

struct msg *
disp_send(struct disp *d, const struct peer *p, enum msg_type t, uint64_t req)
{
	if (d->out_first == d->n_out)
		d->out_first = d->n_out = 0;
	if (d->n_out == d->cap_out)
		d->out = mem_grow(d->out, &d->cap_out, d->n_out + 1, sizeof *d->out);
	struct out_msg *o = &d->out[d->n_out++];
	*o = (struct out_msg){ .peer = p->id, .msg = { .type = t, .req = req } };
	return &o->msg;
}

/* Words for people, as much of them as a message may hold: they may tell of two specs. */
static char *
disp_words(const char *text)
{
	static const char more[] = "...";
	if (!text || strlen(text) <= WIRE_TEXT_MAX)
		return mem_strdup(text);
	size_t n = str_utf8_valid(text, WIRE_TEXT_MAX - sizeof more);
	return mem_printf("%.*s%s", (int)n, text, more);
}

void
disp_error(struct disp *d, const struct peer *p, uint64_t req, uint32_t code,
	   const char *text, const char *help)
{
	struct msg *m = disp_send(d, p, MSG_ERROR, req);

	m->error.code = code;
	m->error.text = disp_words(text);
	m->error.help = disp_words(help);
}
