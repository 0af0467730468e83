/* SPDX-License-Identifier: MIT
 *
 * What was asked of a peer. An ask holds names, not pointers: what it says is
 * made afresh from the objects each time it is sent, and one whose object has
 * gone is dropped.
 */
#include "base/mem.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_resume.h"

struct ask_name { uint64_t kind, peer, iteration, stream_gen, seat; };

/* A stream's asks are found without their generation: a later one replaces. */
static struct ask_name
ask_name(enum ask_kind kind, const struct peer *p, struct stream_key key, uint64_t seat)
{
	return (struct ask_name){ kind, p->id, key.iteration, (uint64_t)key.stream << 32 |
		(kind == ASK_REVOKE ? key.gen : 0), seat };
}

static void
ask_free(struct disp *d, struct ask *a)
{
	struct ask_name name = ask_name(a->kind, a->peer, a->key, a->seat);

	hash_del(&d->ask_index, &name, sizeof name);
	ring_drop(&a->by_due);
	ring_drop(&a->by_peer);
	mem_free(a);
}

static void
ask_fill_gone(const struct stream *s, const struct ask *a, struct msg *m)
{
	m->reader_gone.key = a->key;
	m->reader_gone.seat = a->seat;
	for (size_t i = 0; i < s->n_gone; i++)
		if (s->gone[i].seat == a->seat)
			m->reader_gone.view = s->gone[i].view;
	m->reader_gone.ended = !group_live(s->iter, m->reader_gone.view);
	m->reader_gone.acked = intervals_give(&s->views[m->reader_gone.view].acked);
	if (m->reader_gone.acked.n > WIRE_RANGES_MAX)
		m->reader_gone.acked.n = WIRE_RANGES_MAX;
}

/* False: it does not matter any more. size: one case per kind */
static bool
ask_send(struct disp *d, struct ask *a)
{
	struct iteration *it = iter_find(d, a->key.iteration);
	struct stream *s = it ? iter_stream(it, a->key.stream) : NULL;
	bool current = s && s->gen == a->key.gen;
	struct msg *m;

	switch (a->kind) {
	case ASK_LIST:
		if (!it || it->state != ITER_LISTING || it->lister != a->peer)
			return false;
		m = disp_send(d, a->peer, MSG_LIST, it->list_req);
		m->list.spec = mem_strdup(it->job->dataset->spec);
		m->list.sharding = (uint32_t)it->job->opts.sharding;
		m->list.in_order = it->job->opts.sharding == SHARD_DYNAMIC && it->job->opts.order == ORDER_SOURCE &&
			job_shards(it->job) != 1;
		m->list.seeded = it->job->opts.seeded;
		m->list.programs = dataset_programs(it->job->dataset);
		return true;
	case ASK_ASSIGN:
		if (!current || s->worker != a->peer)
			return false;
		stream_fill_assign(d, s, disp_send(d, a->peer, MSG_ASSIGN, 0));
		return true;
	case ASK_REVOKE:
		disp_send(d, a->peer, MSG_REVOKE, 0)->revoke.key = a->key;
		return true;
	case ASK_HOLD:
		if (!current || !hold_owes(s, a->seat))
			return false;
		disp_send(d, a->peer, MSG_HOLD, 0)->hold.key = a->key;
		return true;
	case ASK_YIELD:
		if (!current || s->worker != a->peer || !s->yields)
			return false;
		disp_send(d, a->peer, MSG_YIELD, 0)->yield.key = a->key;
		return true;
	case ASK_VIEW: {
		struct msg_view_add add;

		if (!current || s->worker != a->peer || !group_fill_view(s, a->seat, &add))
			return false;
		disp_send(d, a->peer, MSG_VIEW, 0)->view_add = add;
		return true;
	}
	case ASK_HALT:
		if (!it || !it->fence.asking || !a->peer->seat || a->peer->seat->number != a->seat)
			return false;
		disp_send(d, a->peer, MSG_HALT, 0)->halt = (struct msg_halt){ it->id, a->seat, it->fence.multiple };
		return true;
	case ASK_GONE:
		if (!current || s->worker != a->peer)
			return false;
		ask_fill_gone(s, a, disp_send(d, a->peer, MSG_READER_GONE, 0));
		return true;
	case ASK_DONE:
		if (!it || (it->state < ITER_FINISHED && !(a->peer->seat && seat_over(a->peer->seat))))
			return false;
		m = disp_send(d, a->peer, MSG_DONE, 0);
		m->done.iteration = it->id;
		m->done.code = it->code;
		m->done.text = mem_strdup(it->text);
		m->done.help = mem_strdup(it->help);
		m->done.elements = a->peer->seat && a->peer->seat->only.n ? a->peer->seat->had : it->elements;
		if (group_shares(it) && a->peer->seat)
			group_fill_done(it, it->groups.v[a->peer->seat->view].name, m);
		fault_fill(it, m);
		return true;
	}
	return false;
}

void
ask_put(struct disp *d, enum ask_kind kind, struct peer *p, struct stream_key key, uint64_t seat)
{
	struct ask_name name = ask_name(kind, p, key, seat);
	struct ask *a;

	if (p->lost)
		return;
	a = hash_get(&d->ask_index, &name, sizeof name);
	if (!a) {
		a = mem_zalloc(sizeof *a);
		*a = (struct ask){ .kind = kind, .peer = p, .seat = seat };
		hash_put(&d->ask_index, &name, sizeof name, a);
		ring_push(&p->asks, &a->by_peer);
	}
	a->key = key;
	a->due = d->now + DISP_ASK_NS;
	ring_push(&d->asks, &a->by_due);
	/* A peer awaited after a restart is asked at its HELLO. */
	if (p->known && !ask_send(d, a))
		ask_free(d, a);
}

bool
ask_drop(struct disp *d, enum ask_kind kind, const struct peer *p, struct stream_key key, uint64_t seat)
{
	struct ask_name name = ask_name(kind, p, key, seat);
	struct ask *a = hash_get(&d->ask_index, &name, sizeof name);

	if (!a || a->key.gen != key.gen)
		return false;
	ask_free(d, a);
	return true;
}

void
ask_again(struct disp *d, struct peer *p)
{
	struct list_node *n, *next;

	for (n = p->asks.next; n != &p->asks; n = next) {
		struct ask *a = LIST_OF(n, struct ask, by_peer);

		next = n->next;
		if (!ask_send(d, a)) {
			ask_free(d, a);
		} else {
			a->due = d->now + DISP_ASK_NS;
			ring_push(&d->asks, &a->by_due);
		}
	}
}

void
ask_forget(struct disp *d, struct peer *p)
{
	while (!ring_empty(&p->asks))
		ask_free(d, LIST_OF(p->asks.next, struct ask, by_peer));
}

void
ask_tick(struct disp *d)
{
	while (!ring_empty(&d->asks)) {
		struct ask *a = LIST_OF(d->asks.next, struct ask, by_due);

		if (a->due > d->now)
			break;
		a->due = d->now + DISP_ASK_NS;
		ring_push(&d->asks, &a->by_due);
		if (a->peer->known && !ask_send(d, a))
			ask_free(d, a);
	}
}

int64_t
ask_deadline(const struct disp *d)
{
	return ring_empty(&d->asks) ? INT64_MAX : LIST_OF(d->asks.next, struct ask, by_due)->due;
}
