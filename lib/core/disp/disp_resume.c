/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_resume.h"

#include "base/mem.h"
#include "base/str.h"

uint32_t
job_shards(const struct job *j)
{
	return j->opts.shards ? (uint32_t)j->opts.shards : j->shards;
}

/* Whether the number of streams that OPEN asks for is one that its position says, which somebody may not have asked
 * for. */
static bool
job_shards_had(const struct msg *m)
{
	return (m->open.resume || m->open.have.n) && job_is_fixed(&m->open.job) && !m->open.job.checkpoint_rounds;
}

/* Readers that ask for this number, and those that leave it open, mean the same job. */
void
job_from_position(struct job *j, const struct msg *m)
{
	if (!job_shards_had(m))
		return;
	j->shards = (uint32_t)j->opts.shards;
	j->opts.shards = 0;
}

/* A job that readers without a position have begun: its number is open until its first pass has streams. */
static bool
job_shards_open(const struct job *j)
{
	if (j->opts.shards || j->shards)
		return false;
	for (size_t i = 0; i < j->n_iters; i++)
		if (j->iters[i]->state != ITER_LISTING)
			return false;
	return true;
}

void
job_shards_take(struct disp *d, struct job *j, const struct msg *m)
{
	if (!job_shards_had(m) || !job_shards_open(j))
		return;
	j->shards = (uint32_t)m->open.job.shards;
	disp_dirty(d, &j->dirty, DIRTY_ROW);
}

uint64_t
job_asked_shards(const struct job *j, const struct msg *m, uint32_t places)
{
	uint64_t asked = m->open.job.shards;

	if (!j->opts.shards && j->shards && asked == j->shards)
		return 0;
	if (job_shards_had(m) && job_shards_open(j))
		return 0;
	for (size_t i = 0; i < j->n_iters && m->open.have.n && places > 1; i++) {
		const struct iteration *it = j->iters[i];
		uint32_t n = it->n_streams > 0 ? it->n_streams : it->had_streams;

		if (n > 0 && n == asked)
			return j->opts.shards;
	}
	return asked;
}

/* Whether in a pass that is over, of which no stream is left, the readers of the view had more than so many. */
static bool
job_ended_behind(const struct iteration *it, const struct asked *asked, uint32_t view, uint64_t n)
{
	if (it->state != ITER_FINISHED || asked->only.n)
		return false;
	if (round_is(it))
		return n < round_all(it) * views_part(it, view).n;
	return it->n_views == 1 && n < it->elements;
}

/* Whether the view's reader has acknowledged more than this position knows of: it
 * has gone on, from this position or a later one. */
bool
job_went_on(const struct iteration *it, const struct ranges_list *have, const struct asked *asked, uint32_t view)
{
	struct intervals more = { 0 };
	uint64_t n = 0;
	bool went_on = false;

	for (size_t i = 0; i < have->n; i++)
		for (size_t k = 0; k < have->v[i].ranges.n; k++)
			n += have->v[i].ranges.v[k].end - have->v[i].ranges.v[k].start;
	if (it->state != ITER_RUNNING)
		return job_ended_behind(it, asked, view, n);
	for (size_t i = 0; i < it->n_streams && !went_on; i++) {
		if (!job_shards_has(&asked->only, (uint32_t)i))
			continue;
		intervals_copy(&more, &it->streams[i]->views[view].acked);
		intervals_sub_all(&more, &it->streams[i]->views[view].missed);
		for (size_t k = 0; k < have->n; k++)
			for (size_t h = 0; have->v[k].stream == i && h < have->v[k].ranges.n; h++)
				intervals_sub(&more, have->v[k].ranges.v[h].start, have->v[k].ranges.v[h].end);
		went_on = more.n > 0 && !it->streams[i]->views[view].missed_more;
	}
	intervals_clear(&more);
	return went_on;
}

/* A position that counts rounds names no iteration: it fits any pass in which its places have not gone on. */
bool
job_passed(struct disp *d, struct peer *p, const struct msg *m, const struct iteration *it, const struct asked *asked)
{
	uint32_t view = 0;
	char *text;

	if (m->open.resume || !m->open.have.n || it->state == ITER_LISTING || !iter_view_of(it, &asked->part, &view) ||
	    !job_went_on(it, &m->open.have, asked, view))
		return false;
	text = mem_printf("consumers of job `%s` have gone on from this position", it->job->opts.name);
	disp_error(d, p, m->req, ST_DATA, text, "begin from it in a job of another name, all consumers together");
	mem_free(text);
	return true;
}
