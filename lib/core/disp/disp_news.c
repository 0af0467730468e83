/* SPDX-License-Identifier: MIT
 *
 * STREAMS: where the streams of a pass are, told to its readers whenever that changes.
 *
 * Each change is a message for each reader. A few hear of it at once. For many, changes are
 * collected, so that the pass sends no more than so many messages in a millisecond; the first
 * change after a quiet time is told at once, however many they are.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_news.h"
#include "core/disp/disp_role.h"

enum {
	NEWS_MSG = 2000,       /* streams in one message, */
	NEWS_BYTES = 4 << 20,  /* and bytes of their endpoints */
	NEWS_MS = 10,          /* messages in a millisecond to the readers of a pass, */
	NEWS_MOST_MS = 500     /* which wait no longer than this */
};

static void
news_fill_stream(const struct disp *d, const struct seat *r, struct stream *s, struct msg_stream *out)
{
	bool local = s->worker && !strcmp(str_or_empty(s->worker->host), r->host);
	const struct view *v = &s->views[r->view];
	/* Else the worker does not know of it yet, or not of what it has. */
	bool running = s->running && !v->moves && !v->joins && !hold_owes(s, r->number);

	*out = (struct msg_stream){ .stream = s->index, .gen = s->gen, .length = views_length(s, r->view), .made = s->ended,
		.own = s->ended && s->iter->job->opts.tail_of == TAIL_OF_PASS ? views_own(s, r->view, s->length) :
			views_length(s, r->view),
		.floor = intervals_gap(&s->views[r->view].acked, 0),
		.missed = views_missed(&s->views[r->view]),
		.state = s->finished ? STREAM_FINISHED : s->ended && (s->tail_known || !round_is(s->iter)) ? STREAM_ENDED :
			running ? STREAM_RUNNING : STREAM_WAITING };
	if (s->failure.code && !s->finished) {
		out->state = STREAM_FAILED;
		out->length = views_own(s, r->view, s->failure.length);
		out->split = s->failure.split;
	}
	if (running && !s->finished && s->worker && (local || s->iter->job->opts.target != TARGET_LOCAL)) {
		out->local = local;
		uint64_t whose[] = { r->number, r->view };

		out->ticket = secret_derive(stream_secret(d, s), whose, 2);
		out->worker = s->worker->id;
		out->endpoint = mem_strdup(s->worker->endpoint);
	}
}

/* How many streams there are for it. */
static uint32_t
news_total(const struct seat *r)
{
	return (uint32_t)(r->only.n ? r->only.n : r->iter->n_streams);
}

/* Fills *m from the list at *at on, as far as one message may reach; moves both on. */
static void
news_fill(const struct disp *d, struct seat *r, struct list_node **at, struct msg_streams *m)
{
	struct list_node *end = &r->iter->versions;
	size_t bytes = 0, cap = 0;

	for (; *at != end && m->list.n < NEWS_MSG && bytes < NEWS_BYTES; *at = (*at)->next) {
		struct stream *s = LIST_OF(*at, struct stream, by_version);

		r->sent_version = s->version;
		if (!job_shards_has(&r->only, s->index))
			continue;
		bytes += s->worker && s->worker->endpoint ? strlen(s->worker->endpoint) : 0;
		m->list.v = mem_grow(m->list.v, &cap, m->list.n + 1, sizeof *m->list.v);
		news_fill_stream(d, r, s, &m->list.v[m->list.n++]);
	}
	m->version = r->sent_version;
}

void
news_send(struct disp *d, struct seat *r)
{
	struct iteration *it = r->iter;
	struct list_node *n = it->versions.prev;
	bool news = !r->sent_version || !r->only.n;

	for (; n != &it->versions && LIST_OF(n, struct stream, by_version)->version > r->sent_version; n = n->prev)
		news |= job_shards_has(&r->only, LIST_OF(n, struct stream, by_version)->index);
	if (!news)
		return;
	n = n->next;
	do {
		struct msg *m = disp_send(d, r->peer, MSG_STREAMS, 0);

		m->streams.iteration = it->id;
		m->streams.since = r->sent_version;
		m->streams.all_known = it->all_known || !cut_left(&it->cut);
		m->streams.total = news_total(r);
		news_fill(d, r, &n, &m->streams);
	} while (n != &it->versions);
}

/* When its readers may be told again. */
static int64_t
news_due(const struct iteration *it)
{
	uint32_t ms = it->n_seats / NEWS_MS;

	return it->told_at + (ms < NEWS_MOST_MS ? ms : NEWS_MOST_MS) * 1000000ll;
}

void
news_soon(struct disp *d, struct iteration *it)
{
	int64_t due = news_due(it);

	if (it->notify)
		return;
	if (ring_empty(&d->notify) || due < d->notify_due)
		d->notify_due = due;
	it->notify = true;
	ring_push(&d->notify, &it->notify_node);
}

static void
news_tell_all(struct disp *d, struct iteration *it)
{
	ring_drop(&it->notify_node);
	it->notify = false;
	it->told_at = d->now;
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		struct seat *r = LIST_OF(n, struct seat, node);

		if (r->peer && r->opened && r->sent_version < it->version)
			news_send(d, r);
	}
}

void
news_tell(struct disp *d)
{
	if (ring_empty(&d->notify) || d->notify_due > d->now)
		return;
	d->notify_due = INT64_MAX;
	for (struct list_node *n = d->notify.next, *next; n != &d->notify; n = next) {
		struct iteration *it = LIST_OF(n, struct iteration, notify_node);
		int64_t due = news_due(it);

		next = n->next;
		if (due <= d->now)
			news_tell_all(d, it);
		else if (due < d->notify_due)
			d->notify_due = due;
	}
}

int64_t
news_deadline(const struct disp *d)
{
	return ring_empty(&d->notify) || d->notify_due <= d->now ? INT64_MAX : d->notify_due;
}

/* A STREAMS that was sent before the last BEAT and has not come is lost: a
 * message to a peer that is slow for long may be dropped on the way. */
void
news_beat(struct disp *d, struct seat *r, uint64_t version)
{
	if (r->opened && version < r->sent_version && r->beat_version == r->sent_version) {
		r->sent_version = version;
		if (iter_live(r->iter))
			news_soon(d, r->iter);
	}
	r->beat_version = r->sent_version;
}
