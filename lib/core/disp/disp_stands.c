/* SPDX-License-Identifier: MIT
 *
 * Where the dispatcher stands, in one line.
 */
#include <stdio.h>

#include "base/str.h"
#include "core/disp/disp_inner.h"

void
disp_stands(const struct disp *d, char out[DISP_STANDS])
{
	size_t live = 0, awaited = 0, draining = 0, streams = 0;

	for (const struct list_node *n = d->workers.next; n != &d->workers; n = n->next) {
		const struct peer *p = LIST_OF(n, struct peer, workers);

		*(!p->known ? &awaited : p->draining ? &draining : &live) += 1;
		streams += p->n_streams;
	}
	int at = snprintf(out, DISP_STANDS, "%zu worker%s with %zu slot%s", live, str_s(live), (size_t)d->slots,
			  str_s(d->slots));
	if (draining)
		at += snprintf(out + at, DISP_STANDS - (size_t)at, ", %zu draining", draining);
	if (awaited)
		at += snprintf(out + at, DISP_STANDS - (size_t)at, ", %zu awaited", awaited);
	snprintf(out + at, DISP_STANDS - (size_t)at, "; %zu stream%s; %zu reader%s; %u job%s", streams, str_s(streams),
		 (size_t)d->n_readers, str_s(d->n_readers), d->n_jobs, str_s(d->n_jobs));
}
