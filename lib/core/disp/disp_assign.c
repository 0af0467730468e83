/* SPDX-License-Identifier: MIT
 *
 * What a worker is told of a stream that it is given: where it begins, and what
 * it leaves out.
 */
#include "base/mem.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_role.h"
#include "core/disp/disp_past.h"

/* The first element of the stream that is not taken. */
static uint64_t
assign_missing(const struct disp *d, const struct stream *s)
{
	uint64_t missing = UINT64_MAX, from = window_from(s);

	for (size_t i = 0; i < s->iter->n_views; i++) {
		struct intervals taken = { 0 };
		uint64_t at;

		if (!group_live(s->iter, i) || s->views[i].fresh)
			continue;
		views_taken(s, i, &taken);
		at = views_gap(s, i, &taken);
		if (at < from && hold_lacks(d, s, (uint32_t)i, NULL))
			at = from; /* it is not known yet which of those before are missed */
		missing = at < missing ? at : missing;
		intervals_clear(&taken);
	}
	return missing;
}

/* Counts what nobody is sent: of the whole if all views have all elements, else of each. */
static void
assign_count(struct stream *s, size_t view, struct intervals *common, const struct intervals *taken)
{
	struct intervals lacks = { 0 };

	if (!views_whole(s->iter)) {
		s->skipped += intervals_count(taken);
		return;
	}
	if (!group_live(s->iter, view))
		return;
	intervals_copy(&lacks, common);
	intervals_sub_all(&lacks, taken);
	intervals_sub_all(common, &lacks);
	s->skipped = intervals_count(common);
	intervals_clear(&lacks);
}

/* Each view leaves out what is taken. No more ranges than a message takes: elements that are made for
 * nothing are dropped by who gets them. */
static void
assign_views(struct stream *s, struct msg_assign *a)
{
	const struct iteration *it = s->iter;
	struct intervals common = { 0 };
	size_t room = WIRE_RANGES_MAX;

	intervals_add(&common, a->offset, INT64_MAX);
	a->places = views_part(it, 0).of;
	a->base = s->base;
	a->views.v = mem_array(it->n_views, sizeof *a->views.v);
	a->views.n = it->n_views;
	if (!s->running) { /* else it is told again, for the sake of its tail */
		s->from = a->offset;
		s->skipped = 0;
	}
	for (size_t i = 0; i < it->n_views; i++) {
		struct msg_view *v = &a->views.v[i];
		struct intervals taken = { 0 };

		views_taken(s, i, &taken);
		intervals_sub(&taken, 0, views_below(s, i, a->offset));
		if (!s->running)
			assign_count(s, i, &common, &taken);
		if (!group_live(it, i)) {
			intervals_clear(&taken);
			intervals_add(&taken, 0, INT64_MAX);
		}
		*v = (struct msg_view){ views_part(it, i).first, views_part(it, i).n, intervals_give(&taken) };
		v->skip.n = v->skip.n < room ? v->skip.n : room;
		room -= v->skip.n;
		intervals_clear(&taken);
	}
	intervals_clear(&common);
}

void
stream_fill_assign(struct disp *d, struct stream *s, struct msg *m)
{
	const struct iteration *it = s->iter;
	const struct point *from = NULL;
	uint64_t missing = assign_missing(d, s);

	if (s->ended && missing > s->length - views_rest(s, s->length))
		missing = s->length - views_rest(s, s->length); /* elements that fill no round are made anew */
	for (unsigned i = 0; i < s->n_points; i++)
		if (s->points[i].offset <= missing)
			from = &s->points[i];
	m->assign = (struct msg_assign){ .key = stream_key_of(s), .job = mem_strdup(it->job->opts.name),
		.spec = mem_strdup(it->job->dataset->spec), .seed = it->seed,
		.by_split = it->by_split, .sharding = (uint32_t)it->sharding, .order = it->job->opts.order,
		.streams = (uint32_t)it->n_streams, .all_known = it->all_known,
		.compression = (uint32_t)it->job->opts.compression, .secret = stream_secret(d, s),
		.programs = dataset_programs(it->job->dataset), .careful = blame_careful(s) };
	if (from) {
		m->assign.offset = from->offset;
		m->assign.split = from->split;
		m->assign.failed = from->failed;
		m->assign.has_state = from->has_state;
		m->assign.state = past_state(d, s, from);
	}
	/* The shares of one whole: it must be the same one. */
	if (it->sharding == SHARD_DATA || it->sharding == SHARD_HINT)
		m->assign.listed = split_list_names(&it->cut.units);
	s->asked = m->assign.split < s->asked ? m->assign.split : s->asked;
	group_assigned(d, s, m->assign.offset);
	m->assign.tail_known = s->tail_known;
	m->assign.tail_at = s->tail_at;
	m->assign.tail_n = s->tail_n;
	m->assign.tail_all = s->tail_all;
	m->assign.window = window_bytes(it);
	m->assign.shared = group_shares(it);
	m->assign.pad = job_tail_fills(it->job->opts.tail);
	assign_views(s, &m->assign);
}
