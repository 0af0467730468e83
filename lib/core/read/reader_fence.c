/* SPDX-License-Identifier: MIT
 *
 * Rounds: an end on which all consumers agree.
 *
 *	reader_stop_at -> STOP, again and again, until FENCE -> READER_FENCE
 *	HALT -> READER_HALT -> reader_stop_at
 *
 * Unless the program sees to it, HALT is answered here: all that was delivered has begun, and after the
 * last round the reader closes.
 */
#include "core/read/reader_inner.h"

void
reader_fence_begin(struct reader *r)
{
	for (size_t i = 0; i < r->n_streams && r->rounds; i++)
		r->stats.before += r->streams[i] ? r->streams[i]->pos : 0;
}

uint64_t
reader_rounds(const struct reader *r, uint64_t n)
{
	uint64_t places = r->stats.places ? r->stats.places : 1;

	return (r->stats.before + n + places - 1) / places;
}

uint64_t
reader_fence_room(const struct reader *r)
{
	uint64_t had = r->stats.before + r->stats.delivered;

	if (r->o.stops || !r->rounds || (!r->stopping && !r->fenced))
		return UINT64_MAX;
	if (!r->fenced)
		return 0;
	if (r->fence > UINT64_MAX / r->stats.places)
		return UINT64_MAX;
	return r->fence * r->stats.places > had ? r->fence * r->stats.places - had : 0;
}

void
reader_fence_end(struct reader *r)
{
	if (r->o.stops || !r->fenced || !r->aligned || r->closing || r->over || r->first || reader_fence_room(r))
		return;
	for (size_t i = 0; i < r->n_streams; i++) /* they are in no position yet */
		if (r->streams[i] && (r->streams[i]->unsaved.n || r->streams[i]->saving.n))
			return;
	reader_close(r, r->now, r->o.job.checkpoint);
}

static void
reader_fenced(struct reader *r, uint64_t rounds)
{
	if (r->fenced || r->closing || r->over)
		return;
	r->fenced = true;
	r->fence = rounds;
	reader_do(r, READER_FENCE)->offset = rounds;
}

void
reader_fence_job(struct reader *r, const struct msg_job *m)
{
	if (m->fenced)
		reader_fenced(r, m->fence);
	else if (r->stopping)
		reader_fence_again(r);
}

void
reader_fence(struct reader *r, const struct msg_fence *m)
{
	if (r->opened && m->iteration == r->iteration && r->stopping)
		reader_fenced(r, m->rounds);
}

void
reader_halt(struct reader *r, const struct msg_halt *m)
{
	if (!r->opened || m->iteration != r->iteration || m->seat != r->seat || r->fenced || r->closing || r->over)
		return;
	if (m->multiple > r->stop_multiple)
		r->stop_multiple = m->multiple;
	if (r->stopping)
		reader_fence_again(r);
	else if (!r->o.stops)
		reader_stop_at(r, r->now, 0, 0);
	else if (!r->halted)
		reader_do(r, READER_HALT);
	r->halted = true;
}

void
reader_fence_again(struct reader *r)
{
	if (r->stopping && !r->fenced && r->opened && !r->closing && r->contact.connected)
		reader_tell(r, MSG_STOP)->stop = (struct msg_stop){ r->iteration, r->seat, r->stop_rounds, r->stop_multiple };
}

void
reader_stop_at(struct reader *r, int64_t now_ns, uint64_t rounds, uint64_t multiple)
{
	r->now = now_ns;
	if (r->stopping || r->over)
		return;
	if (!r->o.stops && rounds < reader_rounds(r, r->stats.delivered))
		rounds = reader_rounds(r, r->stats.delivered);
	r->stopping = true;
	r->stop_rounds = rounds;
	if (multiple > r->stop_multiple)
		r->stop_multiple = multiple;
	reader_fence_again(r);
}
