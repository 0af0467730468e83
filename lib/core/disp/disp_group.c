/* SPDX-License-Identifier: MIT
 *
 * Groups of readers that share a job. A group that comes when streams are under way begins
 * with the oldest element that their worker still has, or where they are made again for it: at a
 * restart point before what the others lack, or with `start` at the first element. It has missed
 * all that lies before; this stands in its ledger beside what it acknowledged, so that nothing is
 * waited for and nothing lost in silence.
 *
 * A group ends when its last reader has closed, or was away for long. Then nothing is kept
 * for it any more, unless it is the only one: without anybody nothing is to be made.
 */
#include "core/disp/disp_group.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

bool
group_shares(const struct iteration *it)
{
	return views_whole(it) && it->job->places == 1;
}

bool
group_live(const struct iteration *it, size_t view)
{
	return !group_shares(it) || (view < it->groups.n && !it->groups.v[view].ended);
}

bool
group_view(const struct iteration *it, const char *name, uint32_t *view)
{
	for (size_t i = 0; i < it->groups.n; i++)
		if (!strcmp(it->groups.v[i].name, name)) {
			*view = (uint32_t)i;
			return true;
		}
	return false;
}

bool
group_meets(const struct seat *r, const struct asked *a)
{
	uint32_t view;

	return !group_shares(r->iter) || (group_view(r->iter, str_or_empty(a->group), &view) && view == r->view);
}

/* Coming */

/* Why it cannot be read from its start any more; NULL: it can. Gives. */
static char *
group_too_late(const struct iteration *it)
{
	for (size_t i = 0; i < it->n_streams; i++) {
		const struct stream *s = it->streams[i];

		if (s->finished && s->length)
			return mem_printf("stream %u is finished", s->index);
		if (s->first_split)
			return mem_printf("stream %u cannot begin before element %llu", s->index,
					  (unsigned long long)(s->n_points ? s->points[0].offset : 0));
	}
	return NULL;
}

bool
group_admits(struct disp *d, struct peer *p, const struct msg *m, const struct iteration *it, const struct asked *a)
{
	uint32_t view;
	bool known = group_view(it, str_or_empty(a->group), &view);
	char *text = NULL;

	if (!group_shares(it) || !iter_live(it) || (known && !it->groups.v[view].ended))
		return true;
	if (!known && (it->groups.n >= DISP_GROUPS || it->n_streams * (it->groups.n + 1) > DISP_VIEWS)) {
		disp_error(d, p, m->req, ST_UNAVAIL, "the job has reached its limit of groups", "");
		return false;
	}
	if (m->open.job.from == FROM_START && (text = group_too_late(it))) {
		char *words = mem_printf("the pass can no longer be read from its start: %s", text);

		disp_error(d, p, m->req, ST_NOINPUT, words, "--from window begins with what is still there");
		mem_free(words);
		mem_free(text);
		return false;
	}
	return true;
}

/* One more view of every stream; the first is there from the start. */
static uint32_t
group_add(struct disp *d, struct iteration *it, const char *name)
{
	uint32_t view = (uint32_t)it->groups.n;

	it->groups.v = mem_grow(it->groups.v, &it->groups.cap, it->groups.n + 1, sizeof *it->groups.v);
	it->groups.v[it->groups.n++] = (struct group){ .name = mem_strdup(name), .since = d->now };
	if (view) {
		it->views = mem_grow(it->views, &it->cap_views, it->n_views + 1, sizeof *it->views);
		it->views[it->n_views++] = ROUND_ALL;
		for (size_t i = 0; i < it->n_streams; i++)
			views_add(it->streams[i]);
	}
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	return view;
}

/* With an order all groups go through one sequence, each at its own place: then the one that is
 * behind all others waits for nothing that they keep. So a group that comes late begins in all
 * streams at the same turn, which nobody has reached, and has missed what comes before it. */
static uint64_t
group_turn(const struct disp *d, const struct iteration *it)
{
	uint64_t block = d->o.block ? d->o.block : DISP_BLOCK, end = 0;

	for (size_t i = 0; i < it->n_streams; i++)
		end = views_end(it->streams[i]) > end ? views_end(it->streams[i]) : end;
	return (end + block - 1) / block * block;
}

/* Whether nothing of the stream was ever made. */
static bool
group_untouched(const struct stream *s)
{
	return s->gen == 1 && !s->running && !s->n_points && !views_end(s);
}

void
group_enter(struct disp *d, struct seat *r, const char *name, bool from_start)
{
	struct iteration *it = r->iter;
	bool is_new, known, first = !it->groups.n, in_turn = it->job->opts.order != ORDER_ANY;
	uint64_t turn = in_turn && !from_start ? group_turn(d, it) : 0;

	if (!group_shares(it))
		return;
	known = group_view(it, name, &r->view);
	is_new = !known;
	if (is_new)
		r->view = group_add(d, it, name);
	struct group *g = &it->groups.v[r->view];
	is_new |= g->ended && !group_had_all(it, r->view);
	g->ended = false;
	g->n_over = is_new ? 0 : g->n_over;
	group_add_seat(r);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	for (size_t i = 0; is_new && !first && i < it->n_streams; i++) {
		struct stream *s = it->streams[i];

		s->n_done = 0;
		if (s->finished)
			group_missed(g, s, r->view);
		else
			s->views[r->view].moves = true;
		s->views[r->view].is_new = !known;
		s->views[r->view].fresh = !s->finished && !from_start && !in_turn && !group_untouched(s);
		if (!s->finished)
			group_skip(&s->views[r->view], s->ended && turn > s->length ? s->length : turn);
		s->views[r->view].dirty = true;
		disp_dirty(d, &s->dirty, DIRTY_LEDGER);
	}
}

/* Groups are looked at by then. */
static void
group_look_by(struct disp *d, int64_t at)
{
	d->group_due = at < d->group_due ? at : d->group_due;
}

void
group_settle_soon(struct disp *d, struct iteration *it)
{
	it->groups.settles = true;
	group_look_by(d, d->now);
}

void
group_assigned(struct disp *d, struct stream *s, uint64_t offset)
{
	struct iteration *it = s->iter;

	for (size_t i = 0; group_shares(it) && i < it->n_views; i++) {
		struct view *v = &s->views[i];

		if (!v->fresh || v->joins)
			continue;
		v->fresh = false;
		group_skip(v, offset);
		v->dirty = true;
		disp_dirty(d, &s->dirty, DIRTY_LEDGER);
		stream_changed(d, s);
		group_settle_soon(d, it);
	}
}

void
group_copy(struct disp *d, struct iteration *it)
{
	const struct job *j = it->job;
	const struct iteration *last = NULL;

	for (size_t i = 0; i < j->n_iters; i++)
		if (j->iters[i] != it && j->iters[i]->epoch < it->epoch)
			last = j->iters[i];
	for (size_t i = 0; last && group_shares(it) && i < last->groups.n; i++)
		if (!last->groups.v[i].ended || last->groups.v[i].had_all)
			group_add(d, it, last->groups.v[i].name);
}

void
group_add_seat(struct seat *r)
{
	struct group *g;

	if (!group_shares(r->iter))
		return;
	g = &r->iter->groups.v[r->view];
	g->seats++;
	g->last_seat = r->number;
	g->since = INT64_MAX;
}

/* Going */

/* Whether a reader of this view may go on to a later pass: one that is only silent, without a position, may
 * for as long as a group is kept without a reader. */
static bool
group_may_come(const struct disp *d, const struct iteration *it, uint32_t view)
{
	for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		if (r->view == view && (r->peer || seat_placed(r) || d->now - r->away_since < d->o.group_gc_ns))
			return true;
	}
	return false;
}

/* Whether it has readers in an earlier pass of the job, from which they may come. Those in a later
 * one have left this one behind. */
static bool
group_elsewhere(const struct disp *d, const struct iteration *it, const struct group *g)
{
	const struct job *j = it->job;

	for (size_t i = 0; i < j->n_iters; i++) {
		uint32_t view;

		if (j->iters[i]->epoch < it->epoch && group_view(j->iters[i], g->name, &view) &&
		    group_may_come(d, j->iters[i], view))
			return true;
	}
	return false;
}

/* Whether a reader of it has come, who has to wait for workers. */
static bool
group_comes(const struct iteration *it, const struct group *g)
{
	for (struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next)
		if (!strcmp(str_or_empty(LIST_OF(n, struct waiting, node)->group), g->name))
			return true;
	return false;
}

static bool
group_alone(const struct iteration *it, const struct group *g)
{
	for (size_t i = 0; i < it->groups.n; i++)
		if (&it->groups.v[i] != g && !it->groups.v[i].ended)
			return false;
	return true;
}

/* Nothing is kept for it any more. */
static void
group_end(struct disp *d, struct iteration *it, struct group *g)
{
	uint32_t view = (uint32_t)(g - it->groups.v);
	/* Nobody may have read in it since a restart, or since the pass began. */
	uint64_t seat = g->last_seat ? g->last_seat : UINT64_MAX - view;

	g->ended = true;
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	for (size_t i = 0; i < it->n_streams; i++) {
		struct stream *s = it->streams[i];

		s->views[view].fresh = s->views[view].joins = false;
		if (!s->finished && s->place == STREAM_ASSIGNED)
			stream_tell_gone(d, s, seat, view);
	}
}

void
group_left(struct disp *d, struct seat *r, bool closed)
{
	struct iteration *it = r->iter;
	struct group *g;

	if (!group_shares(it))
		return;
	g = &it->groups.v[r->view];
	if (--g->seats)
		return;
	g->since = closed ? INT64_MIN : d->now;
	g->last_seat = r->number;
	if (closed && it->state == ITER_RUNNING && !group_alone(it, g) && !group_comes(it, g)) {
		g->had_all = group_over(it, r->view);
		g->ended = true; /* its streams are about to be told that the reader is gone */
		for (size_t i = 0; i < it->n_streams; i++)
			it->streams[i]->views[r->view].fresh = it->streams[i]->views[r->view].joins = false;
	}
	group_look_by(d, d->now);
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}

void
group_settle(struct disp *d, struct iteration *it)
{
	struct job *j = it->job;
	int64_t since = j->users ? d->now : j->idle_since; /* that a group ends is not a use of the job */

	if (!group_shares(it))
		return;
	job_used(d, j);
	for (size_t i = 0; it->state == ITER_RUNNING && i < it->n_streams; i++)
		stream_finish_check(d, it->streams[i]);
	job_left_since(d, j, since);
}

/* Ends groups that were without a reader for too long; says when the next one is due. */
static void
group_look(struct disp *d, struct iteration *it)
{
	int64_t due = INT64_MAX, gc = d->o.group_gc_ns;
	bool ended = it->groups.settles;

	it->groups.settles = false;
	if (ended)
		group_tell_over(d, it);

	for (size_t i = 0; it->state == ITER_RUNNING && i < it->groups.n; i++) {
		struct group *g = &it->groups.v[i];
		int64_t at;

		if (g->ended || g->seats || gc == INT64_MAX)
			continue;
		if (group_elsewhere(d, it, g) || group_comes(it, g))
			g->since = d->now;
		at = g->since == INT64_MIN ? g->since : g->since > INT64_MAX - gc ? INT64_MAX : g->since + gc;
		if (at <= d->now && !group_alone(it, g)) {
			group_end(d, it, g);
			ended = true;
		} else if (at > d->now && at < due) {
			due = at;
		}
	}
	group_look_by(d, due);
	if (ended)
		group_settle(d, it); /* may free it */
}

/* Streams that are being made get one more view, or are made again from where the new group begins. */
void
group_begin(struct disp *d, struct iteration *it)
{
	if (!group_shares(it))
		return;
	group_look(d, it); /* others may have been there only because nobody was */
	for (size_t i = 0; it->state == ITER_RUNNING && i < it->n_streams; i++) {
		struct stream *s = it->streams[i];
		bool moves = group_join(d, s);

		if (moves && !s->finished && s->place == STREAM_ASSIGNED)
			stream_fence(d, s);
		else if (moves && !s->finished && s->place == STREAM_ORPHAN && !s->orphan.next)
			stream_orphan(d, s);
	}
	if (it->state == ITER_RUNNING)
		iter_place(d, it);
}

void
group_tick(struct disp *d)
{
	struct list_node *n, *next;

	if (d->group_due > d->now)
		return;
	d->group_due = INT64_MAX;
	for (n = d->running.next; n != &d->running; n = next) {
		struct iteration *it = LIST_OF(n, struct iteration, running_node);

		next = n->next;
		if (group_shares(it))
			group_look(d, it);
	}
}

/* After a restart */

void
group_loaded(struct disp *d, struct iteration *it)
{
	it->groups.settles = true;
	for (size_t i = 0; i < it->groups.n; i++)
		it->groups.v[i].since = d->now;
	for (; it->n_views < it->groups.n; it->n_views++) {
		it->views = mem_grow(it->views, &it->cap_views, it->n_views + 1, sizeof *it->views);
		it->views[it->n_views] = ROUND_ALL;
	}
}
