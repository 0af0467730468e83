/* SPDX-License-Identifier: MIT
 *
 * OPENs that are not answered yet: they wait for the units to be listed, and for
 * as many workers as their reader wants.
 */
#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"

bool
waiting_clear(struct waiting *w)
{
	w->peer->waiting = NULL;
	ring_drop(&w->node);
	ring_drop(&w->by_until);
	for (size_t i = 0; i < w->have.n; i++)
		mem_free(w->have.v[i].ranges.v);
	mem_free(w->have.v);
	for (size_t i = 0; i < w->marks.n; i++)
		mem_free(w->marks.v[i].base.v);
	mem_free(w->marks.v);
	words_clear(&w->took);
	bool last_there = place_reader_left(w->iter, w->host);
	mem_free(w->shard);
	job_shards_clear(&w->asked.only);
	mem_free(w->group);
	mem_free(w->host);
	mem_free(w);
	return last_there;
}

void
waiting_free(struct disp *d, struct waiting *w)
{
	struct iteration *it = w->iter;

	if (waiting_clear(w) && (it->job->users > 1 || *it->job->opts.name || it->job->keep))
		iter_readers_moved(d, it);
	job_left(d, it->job);
}

void
waiting_error(struct disp *d, struct waiting *w, uint32_t code, const char *text, const char *help)
{
	disp_error(d, w->peer, w->req, code, text, help);
	waiting_free(d, w);
}

/* With `auto`, the number of shards is known only now. False: an error was answered. */
static bool
waiting_fits(struct disp *d, struct iteration *it, struct waiting *w)
{
	const struct job_shards *only = &w->asked.only;
	uint32_t last = only->n ? only->v[only->n - 1] : 0;
	char *text, *help;

	if (last < it->n_streams || !only->n)
		return true;
	text = mem_printf("there is no shard %u: the job has %u shards", last, it->n_streams);
	help = mem_printf("they are numbered from 0 to %u", it->n_streams - 1);
	waiting_error(d, w, ST_USAGE, text, help);
	mem_free(text);
	mem_free(help);
	return false;
}

static void
waiting_seat(struct disp *d, struct iteration *it, struct waiting *w)
{
	struct seat *r = seat_new(d, it, w->peer, it->next_seat++, w->host);
	uint64_t req = w->req;

	struct ranges_list have = w->have;

	r->from = w->from;
	r->checkpoint = w->checkpoint;
	r->shard = w->shard;
	r->user = mem_strdup(str_or_empty(w->peer->user));
	r->only = w->asked.only;
	iter_view_of(it, &w->asked.part, &r->view);
	group_enter(d, r, str_or_empty(w->group), w->from_start);
	w->shard = NULL;
	w->asked.only = (struct job_shards){ 0 };
	for (size_t i = 0; i < r->only.n; i++) {
		const struct stream *s = iter_stream(it, r->only.v[i]);

		r->had += s && s->finished ? s->length : 0;
	}
	if (w->checkpoint && !it->job->keep) {
		it->job->keep = true;
		disp_dirty(d, &it->job->dirty, DIRTY_ROW);
	}
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	disp_dirty(d, &r->dirty, DIRTY_ROW);
	w->have = (struct ranges_list){ 0 };
	waiting_free(d, w);
	seat_open(d, r, req);
	hold_comes(d, r);
	/* Last, because this may end the iteration. */
	for (size_t i = 0; i < have.n; i++) {
		struct stream *s = iter_stream(it, have.v[i].stream);

		if (s)
			stream_acked(d, s, r->view, &have.v[i].ranges, NULL);
		mem_free(have.v[i].ranges.v);
	}
	mem_free(have.v);
}

void
waiting_until(struct disp *d, struct waiting *w, int64_t until)
{
	w->until = until;
	ring_drop(&w->by_until);
	ring_push_by_time(&d->waiting, &w->by_until, RING_TIME(struct waiting, by_until, until));
}

/* A reader that takes only from its own host has nothing to read before somebody is there. */
static uint32_t
waiting_least(const struct waiting *w)
{
	return w->min_workers || w->iter->job->opts.target != TARGET_LOCAL ? w->min_workers : 1;
}

/* The first OPEN that can be answered now. */
static struct waiting *
waiting_answerable(const struct disp *d, const struct iteration *it)
{
	for (struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		struct waiting *w = LIST_OF(n, struct waiting, node);

		if (it->state != ITER_RUNNING || place_ready(d, w) >= waiting_least(w))
			return w;
	}
	return NULL;
}

void
waiting_answer(struct disp *d, struct iteration *it)
{
	struct waiting *w;

	if (it->state == ITER_LISTING)
		return;
	/* Answering may end the iteration, or the last use of a failed one. */
	job_used(d, it->job);
	while ((w = waiting_answerable(d, it))) {
		if (it->state == ITER_FAILED) {
			waiting_error(d, w, it->code, it->text, it->help);
		} else if (it->state == ITER_FINISHED) {
			struct msg *m = disp_send(d, w->peer, MSG_DONE, w->req);

			m->done.iteration = it->id;
			m->done.elements = it->elements;
			group_fill_done(it, str_or_empty(w->group), m);
			fault_fill(it, m);
			waiting_free(d, w);
		} else if (waiting_fits(d, it, w)) {
			waiting_seat(d, it, w);
		}
	}
	group_begin(d, it);
	job_left(d, it->job);
}

/* Other consumers have not come. */
static void
waiting_alone(struct disp *d, struct waiting *w)
{
	char *missing = round_missing(w->iter);
	char *text = mem_printf("no consumer came for place %s of the %u of job `%s`", missing, w->iter->job->places,
				w->iter->job->opts.name);

	waiting_error(d, w, ST_TEMP, text, "a pass begins when all are there; --seat-wait is how long that may take");
	mem_free(missing);
	mem_free(text);
}

/* Whether nobody was ever let into any pass of the job. */
static bool
waiting_first(const struct job *j)
{
	if (j->keep || j->rest)
		return false;
	for (size_t i = 0; i < j->n_iters; i++)
		if (j->iters[i]->next_seat > 1)
			return false;
	return true;
}

/* Too few workers came. A job that was to begin with this OPEN does not begin without it, when workers
 * come after all: who hears an error has started nothing. */
static void
waiting_in_vain(struct disp *d, struct waiting *w)
{
	struct job *j = w->iter->job;
	char *help, *text = place_missing(d, w, &help);

	job_used(d, j);
	waiting_error(d, w, ST_UNAVAIL, text, help);
	mem_free(text);
	mem_free(help);
	if (j->users == 1 && waiting_first(j))
		job_free(d, j);
	else
		job_left(d, j);
}

void
waiting_tick(struct disp *d)
{
	while (!ring_empty(&d->waiting)) {
		struct waiting *w = LIST_OF(d->waiting.next, struct waiting, by_until);
		uint32_t ready = place_ready(d, w);

		if (w->until > d->now)
			break;
		if (!w->iter->gathered) {
			waiting_alone(d, w);
			continue;
		}
		if (ready && ready >= w->min_workers) {
			w->until = INT64_MAX; /* it does not wait for workers any more */
			ring_push(&d->waiting, &w->by_until);
			continue;
		}
		waiting_in_vain(d, w);
	}
}
