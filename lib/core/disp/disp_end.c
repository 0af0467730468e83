/* SPDX-License-Identifier: MIT
 *
 * The end of a service that a tool asks for: at once, or when the workers have handed over what
 * they have. A message that is lost with its connection is sent again when the worker comes back.
 */
#include "core/disp/disp_end.h"

/* Workers that are there; those awaited since a restart may never come. */
static uint32_t
end_workers(const struct disp *d)
{
	uint32_t n = 0;

	for (const struct list_node *at = d->workers.next; at != &d->workers; at = at->next)
		n += LIST_OF(at, struct peer, workers)->known;
	return n;
}

void
end_joined(struct disp *d, struct peer *worker)
{
	if (d->ends == END_DRAIN)
		disp_send(d, worker, MSG_BYE, 0)->bye.drain = true;
}

void
end_message(struct disp *d, struct peer *p, const struct msg *m)
{
	bool drain = m->end.how == END_DRAIN && d->ends < END_DRAIN;

	if (m->end.how > d->ends)
		d->ends = m->end.how;
	for (struct list_node *at = d->workers.next; drain && at != &d->workers; at = at->next)
		if (LIST_OF(at, struct peer, workers)->known)
			end_joined(d, LIST_OF(at, struct peer, workers));
	disp_send(d, p, MSG_ENDING, m->req)->ending =
		(struct msg_ending){ .how = d->ends, .workers = end_workers(d), .readers = d->n_readers };
}

bool
disp_ends(const struct disp *d)
{
	return d->ends == END_NOW || (d->ends == END_DRAIN && !end_workers(d));
}
