/* SPDX-License-Identifier: MIT
 *
 * What a worker is told of a stream that it is given: where it begins, and what
 * it leaves out.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"

/* Elements that are taken: acknowledged, or held by a live reader. */
void
stream_taken(const struct stream *s, struct intervals *out)
{
	intervals_copy(out, &s->acked);
	for (size_t i = 0; i < s->n_held; i++)
		intervals_add_all(out, &s->held[i].got);
}

void
stream_fill_assign(struct disp *d, struct stream *s, struct msg *m)
{
	const struct iteration *it = s->iter;
	struct intervals taken = { 0 };
	const struct point *from = NULL;
	uint64_t missing;

	stream_taken(s, &taken);
	missing = intervals_gap(&taken, 0);
	for (unsigned i = 0; i < s->n_points; i++)
		if (s->points[i].offset <= missing)
			from = &s->points[i];
	m->assign = (struct msg_assign){ .key = stream_key_of(s), .job = mem_strdup(it->job->opts.name),
		.spec = mem_strdup(it->job->dataset->spec), .seed = it->seed,
		.by_split = it->by_split, .sharding = (uint32_t)it->sharding, .order = it->job->opts.order,
		.streams = (uint32_t)it->n_streams, .all_known = it->all_known,
		.compression = (uint32_t)it->job->opts.compression, .secret = stream_secret(d, s) };
	if (from) {
		m->assign.offset = from->offset;
		m->assign.split = from->split;
		m->assign.failed = from->failed;
		m->assign.has_state = from->has_state;
		m->assign.state.n = from->state.n;
		m->assign.state.p = from->state.n ? mem_dup(from->state.p, from->state.n) : NULL;
	}
	intervals_sub(&taken, 0, m->assign.offset);
	m->assign.skip = intervals_give(&taken);
	if (m->assign.skip.n > WIRE_RANGES_MAX)
		m->assign.skip.n = WIRE_RANGES_MAX;
	s->from = m->assign.offset;
	s->skipped = intervals_count(&taken);
	intervals_clear(&taken);
}
