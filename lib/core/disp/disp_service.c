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

const double disp_commit_seconds[DISP_COMMIT_STEPS] = { 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3 };

static void
service_costs(struct buf *b, const struct disp *d)
{
	struct disp_costs c = { 0 };

	if (!d->o.costs) {
		record_put_nil(b, "state");
		return;
	}
	d->o.costs(d->o.costs_arg, &c);
	record_put_key(b, "state");
	record_put_head(b, 4);
	record_put_uint(b, "bytes", c.bytes);
	record_put_uint(b, "commits", c.commits);
	record_put_float(b, "commit_seconds", (double)c.commit_ns * 1e-9);
	record_put_list(b, "within", DISP_COMMIT_STEPS);
	for (size_t i = 0; i < DISP_COMMIT_STEPS; i++) {
		record_put_head(b, 2);
		record_put_float(b, "seconds", disp_commit_seconds[i]);
		record_put_uint(b, "commits", c.within[i]);
	}
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
	service_costs(b, d);
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
