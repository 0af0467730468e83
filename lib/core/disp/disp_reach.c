/* SPDX-License-Identifier: MIT
 *
 * Half of a network: readers say which workers they cannot connect to (UNREACHED). A worker
 * out of reach of all who are to take some of the elements gets no stream of that pass, and those
 * that it has go to others. A reader that can reach none of the workers that live is told so.
 *
 * What a reader has said is forgotten after a while, for networks are mended, too.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

#define REACH_KEPT_NS (600 * 1000000000ll)
#define REACH_SLACK_NS 1000000000ll
enum { REACH_SHOWN = 8, REACH_WHY = 300 /* bytes of a reason */ };

void
reach_clear(struct iteration *it, struct reaches *l)
{
	it->n_unreached -= l->n;
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->v[i].why);
	mem_free(l->v);
	*l = (struct reaches){ 0 };
}

static const struct reach *
reach_of(const struct disp *d, const struct seat *r, const struct peer *w)
{
	for (size_t i = 0; i < r->unreached.n; i++)
		if (r->unreached.v[i].worker == w->id && d->now - r->unreached.v[i].at < REACH_KEPT_NS)
			return &r->unreached.v[i];
	return NULL;
}

/* Whether its streams are for this reader at all. */
static bool
reach_is_for(const struct seat *r, const struct peer *w)
{
	return r->iter->job->opts.target != TARGET_LOCAL || !strcmp(r->host, str_or_empty(w->host));
}

/* Whether another reader, who takes of the same elements, may reach it. */
static bool
reach_by_another(const struct disp *d, const struct seat *r, const struct peer *w)
{
	for (const struct list_node *n = r->iter->seats.next; n != &r->iter->seats; n = n->next) {
		const struct seat *o = LIST_OF(n, struct seat, node);

		if (o->peer && o->view == r->view && reach_is_for(o, w) && !reach_of(d, o, w))
			return true;
	}
	return false;
}

bool
reach_avoids(const struct disp *d, const struct iteration *it, const struct peer *w)
{
	if (!it->n_unreached)
		return false;
	for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		/* shards that it reads it reads alone */
		if (r->peer && reach_of(d, r, w) && (r->only.n || !reach_by_another(d, r, w)))
			return true;
	}
	return false;
}

static const struct reach *
reach_add(struct disp *d, struct seat *r, const struct peer *w, const char *why)
{
	struct reaches *l = &r->unreached;
	struct reach *e = NULL;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].worker == w->id)
			e = &l->v[i];
	/* those of workers that are no more make room */
	for (size_t i = 0; !e && i < l->n; i++)
		if (!disp_peer(d, l->v[i].worker))
			e = &l->v[i];
	if (!e) {
		l->v = mem_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
		e = &l->v[l->n++];
		*e = (struct reach){ 0 };
		r->iter->n_unreached++;
	}
	mem_free(e->why);
	*e = (struct reach){ w->id, d->now, mem_printf("%.*s", REACH_WHY, str_or_empty(why)) };
	return e;
}

/* Its streams of the pass go elsewhere, if there is somewhere. */
static void
reach_move(struct disp *d, struct iteration *it, const struct peer *w)
{
	bool other = false;

	if (!reach_avoids(d, it, w))
		return;
	for (struct list_node *n = d->workers.next; n != &d->workers && !other; n = n->next) {
		struct peer *o = LIST_OF(n, struct peer, workers);

		other = o->tagged && place_fits(d, it, o);
	}
	for (size_t i = 0; i < it->n_streams && other; i++) {
		struct stream *s = it->streams[i];

		if (s->worker == w && !s->finished)
			service_move(d, s, MOVE_UNREACHABLE);
	}
}

/* One that has been heard lately, so that it is not about to be taken for lost. */
static bool
reach_lives(const struct disp *d, const struct peer *w)
{
	return w->known && d->now - w->heard <= 2 * (int64_t)d->o.beat_ms * 1000000 + REACH_SLACK_NS;
}

/* Whether it can reach none of those that fit. Appends them. */
static bool
reach_none(const struct disp *d, const struct seat *r, struct buf *list)
{
	size_t n = 0;

	for (const struct list_node *at = d->workers.next; at != &d->workers; at = at->next) {
		const struct peer *w = LIST_OF(at, struct peer, workers);
		const struct reach *e = reach_of(d, r, w);
		const char *ep = str_or_empty(w->endpoint);

		if (!place_wanted(r->iter, w))
			continue;
		if (!e || !reach_lives(d, w))
			return false;
		if (++n <= REACH_SHOWN)
			buf_printf(list, "%s%.64s at %.*s: %s", n > 1 ? "; " : "", w->name ? w->name : "a worker",
				   (int)strcspn(ep, " "), ep, e->why);
	}
	if (n > REACH_SHOWN)
		buf_printf(list, "; and %zu more", n - REACH_SHOWN);
	return n > 0;
}

void
reach_message(struct disp *d, struct seat *r, const struct msg_unreached *m)
{
	struct peer *w = disp_peer(d, m->worker);
	struct buf list = { 0 };

	if (!w || w->role != ROLE_WORKER || r->iter->state != ITER_RUNNING)
		return; /* it is told where its streams are now */
	bool again = reach_of(d, r, w);
	const struct reach *e = reach_add(d, r, w, m->why);
	if (!again)
		events_unreached(d, r, w, e->why);
	reach_move(d, r->iter, w);
	if (again && reach_none(d, r, &list)) {
		struct msg *out = disp_send(d, r->peer, MSG_GONE, 0);

		out->gone = (struct msg_gone){ r->iter->id, r->number, ST_UNAVAIL,
			mem_printf("no worker can be reached: %s", (const char *)list.data) };
		seat_gone(d, r);
	}
	buf_clear(&list);
}
