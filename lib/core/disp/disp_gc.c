/* SPDX-License-Identifier: MIT
 *
 * Jobs that nobody reads, and seats of readers that are away: how long they are kept.
 *
 * A job that is over is kept for a short time, for audits; so is an anonymous one, since
 * nobody can come back to it. A position is good for much longer, and a named job that
 * stopped halfway as well, because starting it again must not lose what it has given.
 * A reader that is away keeps its seat for as long as its job is kept.
 *
 * Each kind has a ring of its own, in which the one that has waited longest comes first. The
 * kind of a job may change while it waits; that is noticed when it is due.
 */
#include "core/disp/disp_rest.h"

static int64_t
gc_ns(const struct disp *d, enum gc_kind k)
{
	return k == GC_DONE || k == GC_UNFINISHED ? d->o.unfinished_gc_ns : d->o.job_gc_ns;
}

static int64_t
gc_at(const struct disp *d, enum gc_kind k, int64_t since)
{
	int64_t ns = gc_ns(d, k);

	return since > INT64_MAX - ns ? INT64_MAX : since + ns;
}

/* Whether some element of the job was acknowledged. */
static bool
gc_given(const struct job *j)
{
	for (size_t i = 0; i < j->n_iters; i++) {
		const struct iteration *it = j->iters[i];

		if (it->acked)
			return true;
		for (size_t k = 0; k < it->n_streams; k++)
			if (views_end(it->streams[k]))
				return true;
	}
	return false;
}

static enum gc_kind
gc_kind(const struct job *j)
{
	bool named = *j->opts.name, over = job_over(j);

	if (j->keep)
		return over ? GC_DONE : GC_UNFINISHED;
	if (named && !over && gc_given(j))
		return GC_UNFINISHED;
	return named ? GC_OVER : GC_AUDIT;
}

static struct job *
gc_job(struct list_node *n)
{
	return LIST_OF(n, struct job, idle);
}

static struct seat *
gc_seat(struct list_node *n)
{
	return LIST_OF(n, struct seat, away);
}

static void
gc_drop(struct disp *d, struct job *j)
{
	if (j->idle_kind != GC_KINDS)
		d->n_idle[j->idle_kind]--;
	ring_drop(&j->idle);
}

/* Jobs that have just begun to wait come last; few are entered with an earlier time. */
static void
gc_file(struct disp *d, struct job *j)
{
	gc_drop(d, j);
	j->idle_kind = gc_kind(j);
	ring_push_by_time(&d->idle[j->idle_kind], &j->idle, RING_TIME(struct job, idle, idle_since));
	d->n_idle[j->idle_kind]++;
}

void
gc_idle(struct disp *d, struct job *j, int64_t since)
{
	static const uint32_t most[GC_KINDS] = { [GC_AUDIT] = DISP_ENDED_JOBS, [GC_DONE] = DISP_DONE_JOBS };
	enum gc_kind k;

	j->idle_since = since;
	gc_file(d, j);
	job_rest_soon(d, j);
	k = j->idle_kind;
	if (most[k] && d->n_idle[k] > most[k])
		job_free(d, gc_job(d->idle[k].next));
}

void
gc_busy(struct disp *d, struct job *j)
{
	gc_drop(d, j);
	j->idle_kind = GC_KINDS;
	j->idle_since = INT64_MAX;
	ring_push(&d->busy, &j->idle);
}

void
gc_away(struct disp *d, struct seat *r)
{
	ring_push_by_time(&d->away[gc_kind(r->iter->job)], &r->away, RING_TIME(struct seat, away, away_since));
}

/* A reader that has been away for as long as its job is kept does not come back. The job
 * has waited for just as long, if it has no other reader. */
static void
gc_seat_tick(struct disp *d, enum gc_kind k)
{
	while (!ring_empty(&d->away[k])) {
		struct seat *r = gc_seat(d->away[k].next);
		struct job *j = r->iter->job;
		int64_t since = r->away_since;

		if (gc_at(d, k, since) > d->now)
			break;
		if (gc_at(d, gc_kind(j), since) > d->now) {
			gc_away(d, r);
			continue;
		}
		job_used(d, j);
		seat_gone(d, r);
		job_left_since(d, j, since); /* may free it */
	}
}

static void
gc_job_tick(struct disp *d, enum gc_kind k)
{
	while (!ring_empty(&d->idle[k])) {
		struct job *j = gc_job(d->idle[k].next);

		if (gc_at(d, k, j->idle_since) > d->now)
			break;
		if (gc_at(d, gc_kind(j), j->idle_since) > d->now)
			gc_file(d, j);
		else
			job_free(d, j);
	}
}

void
gc_tick(struct disp *d)
{
	for (unsigned k = 0; k < GC_KINDS; k++)
		gc_seat_tick(d, (enum gc_kind)k);
	for (unsigned k = 0; k < GC_KINDS; k++)
		gc_job_tick(d, (enum gc_kind)k);
}

int64_t
gc_deadline(const struct disp *d)
{
	int64_t at = INT64_MAX, due;

	for (unsigned k = 0; k < GC_KINDS; k++) {
		if (!ring_empty(&d->idle[k])) {
			due = gc_at(d, (enum gc_kind)k, gc_job(d->idle[k].next)->idle_since);
			at = due < at ? due : at;
		}
		if (!ring_empty(&d->away[k])) {
			due = gc_at(d, (enum gc_kind)k, gc_seat(d->away[k].next)->away_since);
			at = due < at ? due : at;
		}
	}
	return at;
}

int64_t
gc_due(const struct disp *d, const struct job *j)
{
	int64_t since = j->users ? INT64_MIN : j->idle_since;

	for (size_t i = 0; i < j->n_iters; i++) {
		if (!ring_empty(&j->iters[i]->waiting))
			return INT64_MAX;
		for (struct list_node *n = j->iters[i]->seats.next; n != &j->iters[i]->seats; n = n->next) {
			const struct seat *r = LIST_OF(n, struct seat, node);

			if (r->peer)
				return INT64_MAX;
			since = r->away_since > since ? r->away_since : since;
		}
	}
	return since == INT64_MIN ? INT64_MAX : gc_at(d, gc_kind(j), since);
}
