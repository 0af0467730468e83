/* SPDX-License-Identifier: MIT
 *
 * Peers: who is connected or awaited, and what follows when one is lost.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_tap.h"

void
disp_busy(struct disp *d)
{
	bool busy = d->n_readers || d->n_tools;

	if (busy)
		d->idle_since = INT64_MAX;
	else if (d->idle_since == INT64_MAX)
		d->idle_since = d->now;
}

struct peer *
disp_peer(struct disp *d, uint64_t id)
{
	return hash_get(&d->peers, &id, sizeof id);
}

struct peer *
disp_peer_new(struct disp *d, uint64_t id, enum wire_role role)
{
	struct peer *p = mem_zalloc(sizeof *p);

	p->id = id;
	p->role = role;
	p->heard = p->came = d->now;
	ring_init(&p->asks);
	ring_init(&p->streams);
	ring_push(&d->by_heard, &p->by_heard);
	hash_put(&d->peers, &id, sizeof id, p);
	if (role == ROLE_WORKER) {
		ring_push(&d->workers, &p->workers);
		d->n_workers++;
		d->n_awaited++;
	} else if (role == ROLE_READER) {
		d->n_readers++;
	} else {
		d->n_tools++;
	}
	disp_busy(d);
	return p;
}

struct peer *
disp_peer_await(struct disp *d, uint64_t id, enum wire_role role)
{
	struct peer *p = disp_peer(d, id);

	return p ? p : disp_peer_new(d, id, role);
}

void
disp_peer_free(struct disp *d, struct peer *p)
{
	ask_forget(d, p);
	ring_drop(&p->by_heard);
	ring_drop(&p->workers);
	place_leave(d, p);
	hash_del(&d->peers, &p->id, sizeof p->id);
	mem_free(p->name);
	mem_free(p->host);
	mem_free(p->hostname);
	mem_free(p->endpoint);
	mem_free(p->user);
	words_clear(&p->tags);
	buf_clear(&p->report);
	tap_leave(p);
	mem_free(p);
}

/* Lost or left: what it had goes to others. A reader that is only silent may have
 * been stopped and come back: where nobody else waits for what it has, it is
 * waited for. */
void
disp_peer_lost(struct disp *d, struct peer *p, bool silent)
{
	p->lost = true;
	d->n_awaited -= p->role == ROLE_WORKER && !p->known;
	events_peer_lost(d, p);
	if (p->role == ROLE_WORKER) {
		ring_drop(&p->workers);
		place_leave(d, p);
		d->n_workers--;
		d->slots -= p->slots;
		iter_worker_left(d, p);
	} else if (p->role == ROLE_READER) {
		d->n_readers--;
		if (p->waiting)
			waiting_free(d, p->waiting);
		if (p->seat && !p->seat->struck && seat_awaited(p->seat, silent))
			seat_away(d, p->seat);
		else if (p->seat)
			seat_gone(d, p->seat);
	} else {
		d->n_tools--;
	}
	disp_peer_free(d, p);
	disp_busy(d);
}

/* Those that are awaited were there before all others. */
void
disp_peer_replaced(struct disp *d, const char *name, const char *user)
{
	struct list_node *n = d->workers.next;

	for (uint32_t left = *str_or_empty(name) ? d->n_awaited : 0; left && n != &d->workers; n = n->next) {
		struct peer *p = LIST_OF(n, struct peer, workers);

		if (p->known)
			continue;
		left--;
		if (!strcmp(str_or_empty(p->name), name) && !strcmp(str_or_empty(p->user), str_or_empty(user))) {
			disp_peer_lost(d, p, false);
			return;
		}
	}
}
