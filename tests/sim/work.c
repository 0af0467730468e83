/* SPDX-License-Identifier: MIT
 *
 * The worker's program in the simulation: its messages, and what its machine asks for.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "core/cut.h"
#include "produce.h"

static void sim_work_listed(struct world *w, void *arg, uint64_t life);

void
sim_work_produced(struct node *n, struct stream_key key, uint32_t view, struct sim_chunk *c, uint64_t split)
{
	worker_produced(n->k->k, n->w->now, key, view, c, c->offset, c->n, (size_t)c->n * ELEM_BYTES, split);
}

void
sim_work_rest(struct node *n, struct stream_key key, struct sim_chunk *c, bool pad)
{
	worker_rest(n->k->k, n->w->now, key, c, ELEM_BYTES, pad);
}

/* Listing */

struct list_ref { struct node *n; uint64_t req; };

/* Events that own their argument. */
void
world_drop_events(struct world *w)
{
	for (size_t i = 0; i < w->n_heap; i++)
		if (producer_owns(&w->heap[i]) || w->heap[i].fn == sim_work_listed)
			mem_free(w->heap[i].arg);
}

static void
sim_work_listed(struct world *w, void *arg, uint64_t life)
{
	struct list_ref *ref = arg;
	struct node *n = ref->n;
	const struct sim_dataset *s = &w->set;
	struct msg_units u = { .times = s->times, .period = s->period, .files = s->files };

	if (n->alive && n->life == life) {
		for (unsigned i = 0; i < s->units && !s->whole; i++)
			sim_unit(s, i, &u.units);
		if (s->nothing)
			u.times = s->key % 2 ? CUT_ENDLESS : 1000000000;
		if (s->whole) {
			struct split one = { .kind = SPLIT_ALL, .times = 1 };

			u.times = 1;
			split_list_add(&u.units, &one);
		}
		worker_listed(n->k->k, w->now, ref->req, &u);
		sim_work_act(n);
	}
	mem_free(ref);
}

static void
sim_work_one(struct node *n, struct worker_action *a)
{
	struct world *w = n->w;
	struct producer *p = producer_find(n, a->key);
	struct node *to = a->peer ? node_by_peer(w, a->peer) : NULL;
	struct conn *c = to ? conn_find(w, to, n) : NULL;
	struct list_ref *ref;

	switch (a->kind) {
	case WORKER_TELL:
		if (a->msg.type == MSG_MISSED)
			w->told_missed++;
		conn_send(n->ctl, 0, &a->msg, NULL);
		break;
	case WORKER_SEND:
		if (c)
			conn_send(c, 1, &a->msg, NULL);
		break;
	case WORKER_CHUNK:
		if (c)
			conn_send(c, 1, &a->msg, a->handle);
		else if (a->peer == SIM_THIEF)
			world_fail(n->w, "a chunk for a stranger without a ticket");
		break;
	case WORKER_FREE: chunk_unref(a->handle); break;
	case WORKER_START: producer_start(n, a); break;
	case WORKER_STOP: producer_stop(n, a->key); break;
	case WORKER_LIST:
		ref = mem_zalloc(sizeof *ref);
		*ref = (struct list_ref){ n, a->msg.req };
		world_at(w, w->now + some_time(w, 5 * MS), sim_work_listed, ref, n->life);
		break;
	case WORKER_LEAVE:
		n->k->drained = true;
		break;
	case WORKER_LOST:
		world_say(w, "%s lost: %s", n->name, a->err->text);
		world_lost_contact(n, a->err->text);
		n->k->drained = true;
		break;
	default:
		if (p)
			producer_told(n, p, a);
	}
	msg_clear(&a->msg);
}

void
sim_work_act(struct node *n)
{
	struct worker_action a;
	size_t kept, links = n->w->share == SHARE_WINDOW ? n->w->n_consumers + 1 : 1;

	while (worker_action(n->k->k, &a))
		sim_work_one(n, &a);
	size_t threads = 0;
	for (struct producer *p = n->k->producers; p; p = p->next)
		threads += !p->off && !p->done;
	if (threads > worker_threads(n->k->slots))
		world_fail(n->w, "%s has %zu threads for %u slots", n->name, threads, n->k->slots);
	kept = worker_kept_bytes(n->k->k);
	if (kept > n->w->kept_max)
		n->w->kept_max = kept;
	/* One element of the source may make three, and each stream may go one
	 * chunk over; with a window, one for each reader. */
	if (kept > n->w->memory + (worker_streams(n->k->k) * links + 1) * 4 * CHUNK_ELEMS * ELEM_BYTES * PLACES_MAX)
		world_fail(n->w, "%s keeps %zu bytes of %zu", n->name, kept, n->w->memory);
	if (n->k->drained) {
		world_say(n->w, "%s leaves", n->name);
		n->alive = false;
		n->life++;
		node_break_all(n);
		sim_work_stop(n);
		return;
	}
	node_tick_later(n, worker_next_deadline(n->k->k));
}

void
sim_work_start(struct node *n)
{
	struct worker_opts o = { .peer = n->peer,
				 .name = n->name,
				 .host = n->host,
				 .tags = &n->tags,
				 .endpoint = n->name,
				 .slots = 1 + (uint32_t)chance(n->w, 3),
				 .memory = n->w->memory,
				 .units_part = n->w->units_part };

	n->alive = true;
	n->k = mem_zalloc(sizeof *n->k);
	n->k->slots = o.slots;
	n->k->can_hand = one_in(n->w, 2);
	n->ctl = conn_new(n, n->w->disp);
	n->k->k = worker_new(&o, n->w->now);
	sim_work_act(n);
}

void
sim_work_stop(struct node *n)
{
	struct worker_action a;

	while (n->k->producers)
		producer_stop(n, n->k->producers->key);
	/* The crashed program's memory is gone; the simulation's is given back. */
	worker_stop(n->k->k);
	while (worker_action(n->k->k, &a)) {
		if (a.kind == WORKER_FREE)
			chunk_unref(a.handle);
		msg_clear(&a.msg);
	}
	worker_free(&n->k->k);
	mem_free(n->k);
	n->k = NULL;
}

void
sim_work_ctl(struct node *n, struct msg *m)
{
	if (!n->alive)
		return;
	if ((m->type == MSG_ASSIGN || m->type == MSG_LIST) && !world_fits(n, NULL))
		world_fail(n->w, "%s on %s is given work of a job that asks for %s, %s", n->name, n->host,
			   n->w->where, job_target_word((int)n->w->target));
	if (m->type == MSG_YIELD)
		world_say(n->w, "%s yields %u.%u", n->name, m->yield.key.stream, m->yield.key.gen);
	if (m->type == MSG_YIELD)
		n->w->yields++;
	if (m->type == MSG_YIELD && n->w->order == ORDER_ANY && !job_has_shards((int)n->w->sharding) &&
	    !n->w->set.whole && n->w->groups == 1) /* once a group is done there are no new streams */
		world_fail(n->w, "%s is to hand over a stream that is not bound to be anywhere", n->name);
	worker_message(n->k->k, n->w->now, m);
	sim_work_act(n);
}

void
sim_work_data(struct node *n, struct node *from, struct msg *m)
{
	if (!n->alive)
		return;
	worker_data(n->k->k, n->w->now, from->peer, m);
	sim_work_act(n);
}

void
sim_work_gone(struct node *n, struct node *from)
{
	if (!n->alive)
		return;
	if (from)
		worker_peer_gone(n->k->k, n->w->now, from->peer);
	else
		worker_dispatcher_gone(n->k->k, n->w->now);
	sim_work_act(n);
}

void
sim_work_tick(struct node *n)
{
	worker_tick(n->k->k, n->w->now);
	sim_work_act(n);
}

void
sim_work_drain(struct node *n)
{
	worker_drain(n->k->k, n->w->now);
	sim_work_act(n);
}
