/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

static const char events_moved, events_failed, events_waits; /* their addresses stand for kinds of events */

static struct disp_event *
events_at(const struct disp *d, uint64_t number)
{
	return &((struct disp *)d)->events->v[number % EVENTS_KEPT];
}

/* A new event without its text; its place is that of the oldest one. */
static struct disp_event *
events_add(struct disp *d, const struct job *j)
{
	if (!d->events)
		d->events = mem_zalloc(sizeof *d->events);
	struct disp_event *ev = events_at(d, ++d->events->n);

	mem_free(ev->text);
	mem_free(ev->owner);
	*ev = (struct disp_event){ .number = d->events->n, .at = d->now, .job = j ? j->number : 0, .times = 1,
		.owner = j ? mem_strdup(str_or_empty(j->owner)) : NULL };
	return ev;
}

static void __attribute__((format(printf, 3, 4)))
events_say(struct disp *d, const struct job *j, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	events_add(d, j)->text = mem_vprintf(fmt, ap);
	va_end(ap);
}

/* An event that counts `times` more than the newest one if that is of the same kind and about the
 * same things, and replaces it. Its number is new: whoever follows hears of it again. */
static struct disp_event *
events_again(struct disp *d, const void *what, const struct job *j, uint64_t peer, uint64_t times)
{
	struct disp_event *last = d->events ? events_at(d, d->events->n) : NULL, *ev;

	if (last && last->what == what && last->job == j->number && last->peer == peer) {
		times += last->times;
		mem_free(last->text);
		mem_free(last->owner);
		*last = (struct disp_event){ 0 };
	}
	ev = events_add(d, j);
	ev->what = what;
	ev->peer = peer;
	ev->times = times;
	return ev;
}

/* "job train", "job #12": those without a name are known by their number. Gives. */
static char *
events_job(const struct job *j)
{
	return *j->opts.name ? mem_printf("job %s", j->opts.name) : mem_printf("job #%" PRIu64, j->number);
}

static const char *
events_peer(const struct peer *p)
{
	return p->name && *p->name ? p->name : "without a name";
}

void
events_worker_joined(struct disp *d, const struct peer *w)
{
	events_say(d, NULL, "worker %s joined, with %u slot%s", events_peer(w), w->slots, str_s(w->slots));
}

void
events_worker_drains(struct disp *d, const struct peer *w)
{
	events_say(d, NULL, "worker %s is asked for no more; %u stream%s to be delivered", events_peer(w), w->n_streams,
		   w->n_streams == 1 ? " is" : "s are");
}

void
events_unreached(struct disp *d, const struct seat *r, const struct peer *w, const char *why)
{
	const char *ep = str_or_empty(w->endpoint);

	events_say(d, r->iter->job, "reader %s cannot reach worker %s at %.*s: %s", events_peer(r->peer), events_peer(w),
		   (int)strcspn(ep, " "), ep, why);
}

void
events_peer_lost(struct disp *d, const struct peer *p)
{
	bool struck = p->seat && p->seat->struck;
	const char *how = struck ? "was shut out: its key was struck out" : p->leaves ? "left" : "was lost";

	if (p->role == ROLE_WORKER && p->n_streams)
		events_say(d, NULL, "worker %s %s; its %u stream%s to others", events_peer(p), how, p->n_streams,
			   p->n_streams == 1 ? " goes" : "s go");
	else if (p->role == ROLE_WORKER)
		events_say(d, NULL, "worker %s %s", events_peer(p), how);
	else if (p->role == ROLE_READER && p->seat && !p->leaves) {
		char *job = events_job(p->seat->iter->job);

		events_say(d, p->seat->iter->job, "reader %s of %s %s", events_peer(p), job, how);
		mem_free(job);
	}
}

void
events_job_began(struct disp *d, const struct iteration *it)
{
	char *job = events_job(it->job);

	events_say(d, it->job, "%s began pass %u", job, it->epoch);
	mem_free(job);
}

void
events_job_over(struct disp *d, const struct iteration *it)
{
	char *job = events_job(it->job);
	double s = it->ran ? (double)(d->now - it->ran) / 1e9 : 0;

	if (it->state == ITER_FAILED)
		events_say(d, it->job, "%s: pass %u failed: %.300s", job, it->epoch, str_or_empty(it->text));
	else
		events_say(d, it->job, "%s is done with pass %u: %" PRIu64 " element%s in %.1f s", job, it->epoch,
			   it->elements, str_s(it->elements), s);
	mem_free(job);
}

void
events_job_forgotten(struct disp *d, const struct job *j)
{
	char *job = events_job(j);

	events_say(d, j, "%s was forgotten", job);
	mem_free(job);
}

void
events_stream_moved(struct disp *d, const struct stream *s, const struct peer *w)
{
	struct disp_event *ev = events_again(d, &events_moved, s->iter->job, w->id, 1);
	char *job = events_job(s->iter->job);

	ev->text = mem_printf("%" PRIu64 " stream%s of %s went to worker %s", ev->times, str_s(ev->times), job,
			      events_peer(w));
	mem_free(job);
}

void
events_stream_waits(struct disp *d, const struct stream *s, const struct peer *w, const char *why)
{
	struct disp_event *ev = events_again(d, &events_waits, s->iter->job, w->id, 1);
	char *job = events_job(s->iter->job);

	ev->text = mem_printf("%" PRIu64 " stream%s of %s on worker %s stand%s still: %s", ev->times, str_s(ev->times), job,
			      events_peer(w), ev->times == 1 ? "s" : "", why);
	mem_free(job);
}

void
events_elements_failed(struct disp *d, const struct iteration *it, uint64_t n)
{
	struct disp_event *ev = events_again(d, &events_failed, it->job, 0, n);
	char *job = events_job(it->job);

	ev->text = mem_printf("%" PRIu64 " element%s of %s failed and %s left out", ev->times, str_s(ev->times), job,
			      ev->times == 1 ? "was" : "were");
	mem_free(job);
}

static bool
events_shown(const struct disp_event *ev, const char *user)
{
	return ev->text && (!user || !ev->owner || (*user && !strcmp(ev->owner, user)));
}

static uint64_t
events_oldest(const struct disp *d)
{
	return d->events->n > EVENTS_KEPT ? d->events->n - EVENTS_KEPT + 1 : 1;
}

const struct disp_event *
events_next(const struct disp *d, const char *user, uint64_t after)
{
	uint64_t number = d->events ? events_oldest(d) : 0;

	if (number <= after)
		number = after + 1;
	for (; d->events && number <= d->events->n; number++)
		if (events_shown(events_at(d, number), user))
			return events_at(d, number);
	return NULL;
}

uint64_t
events_before(const struct disp *d, const char *user, unsigned n)
{
	uint64_t number = d->events ? d->events->n : 0;

	for (; number && number >= events_oldest(d); number--)
		if (events_shown(events_at(d, number), user) && !n--)
			break;
	return number;
}

void
events_clear(struct disp *d)
{
	for (size_t i = 0; d->events && i < EVENTS_KEPT; i++) {
		mem_free(d->events->v[i].text);
		mem_free(d->events->v[i].owner);
	}
	mem_free(d->events);
	d->events = NULL;
}
