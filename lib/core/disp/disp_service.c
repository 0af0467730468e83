/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_service.h"

#include "core/disp/disp_inner.h"
#include "value/record_put.h"

#define SERVICE_SPLITS UINT32_MAX /* more of them are not counted */

void
service_move(struct disp *d, struct stream *s, enum move_cause why)
{
	d->service.moves[why] += s->worker && !s->finished;
	stream_fence(d, s);
}

/* Slots that have a stream which is not made completely. */
static uint64_t
service_used(const struct disp *d)
{
	uint64_t used = 0;

	for (const struct list_node *n = d->workers.next; n != &d->workers; n = n->next) {
		const struct peer *p = LIST_OF(n, struct peer, workers);
		uint32_t has = 0;

		for (const struct list_node *k = p->streams.next; k != &p->streams && has < p->slots; k = k->next)
			has += !LIST_OF(k, struct stream, by_worker)->ended;
		used += has;
	}
	return used;
}

void
service_report(struct buf *b, const struct disp *d)
{
	static const char *const causes[MOVES] = {
		[MOVE_LOST] = "lost", [MOVE_DRAINED] = "drained", [MOVE_UNREACHABLE] = "unreachable",
		[MOVE_BALANCED] = "balanced",
	};

	record_put_text(b, "version", d->o.version);
	record_put_uint(b, "started_ms", d->service.started_ms);
	record_put_uint(b, "slots_used", service_used(d));
	record_put_key(b, "moves");
	record_put_head(b, MOVES);
	for (int i = 0; i < MOVES; i++)
		record_put_uint(b, causes[i], d->service.moves[i]);
}

void
service_splits(struct buf *b, const struct iteration *it)
{
	uint32_t n = 0;

	if (it->state == ITER_RUNNING && it->by_split && !it->short_)
		n = cut_streams(&it->cut, SERVICE_SPLITS);
	if (it->state == ITER_LISTING || (it->state == ITER_RUNNING && !it->by_split) || n == SERVICE_SPLITS)
		record_put_nil(b, "splits_left");
	else
		record_put_uint(b, "splits_left", n);
}
