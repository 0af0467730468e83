/* SPDX-License-Identifier: MIT
 *
 * The worker's program in the simulation: producers in place of threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "build.h"

/* Where a producer stands between two elements of the source. */
struct sim_state { uint64_t pass, at, carry, seen; };
struct producer {
	struct stream_key key;
	struct msg assign;
	struct split_list splits;    /* given, not begun */
	size_t n_begun;              /* how many of splits.v were begun */
	bool no_more, stalled, handover, done, restoring;
	bool rest, off;              /* is to give its thread up; has none */
	int64_t stuck_until;         /* in the middle of an element: waits for its input */
	uint64_t split;              /* number of the split being read, or next to be */
	struct split cur;
	bool in_split;
	struct sim_state st;
	uint64_t offset, made, failed;
	struct builders of;          /* chunks in the making */
	struct producer *next;
};
struct sim_worker {
	struct worker *k;
	struct producer *producers;
	bool drained, can_hand;
	uint32_t slots;
	uint64_t serial;
};

static void sim_work_act(struct node *n);
static void sim_work_listed(struct world *w, void *arg, uint64_t life);

static struct producer *
producer_find(struct node *n, struct stream_key key)
{
	struct producer *p = n->k->producers;

	while (p && memcmp(&p->key, &key, sizeof key))
		p = p->next;
	return p;
}

static void
producer_free(struct producer *p)
{
	msg_clear(&p->assign);
	for (size_t i = p->n_begun; i < p->splits.n; i++)
		split_clear(&p->splits.v[i]);
	mem_free(p->splits.v);
	split_clear(&p->cur);
	builders_clear(&p->of);
	mem_free(p);
}

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

static void
producer_stop(struct node *n, struct stream_key key)
{
	for (struct producer **at = &n->k->producers; *at; at = &(*at)->next)
		if (!memcmp(&(*at)->key, &key, sizeof key)) {
			struct producer *p = *at;

			*at = p->next;
			producer_free(p);
			return;
		}
}

/* With sharding data, the stream makes all elements and keeps its share. */
static bool
producer_by_data(const struct producer *p)
{
	return p->assign.assign.sharding == SHARD_DATA;
}

static void
producer_emit(struct node *n, struct producer *p, const struct element *e)
{
	if (producer_by_data(p) && p->st.seen++ % p->assign.assign.streams != p->key.stream)
		return;
	book_made(n->w, p->key.iteration, p->key.stream, p->offset, e);
	p->made++;
	builders_add(&p->of, n, p->key, p->offset++, p->split, e);
}

static void
producer_tell_faults(struct node *n, struct producer *p)
{
	struct msg_faults_list list = { 0 };

	if (p->failed && one_in(n->w, 2)) {
		list.v = mem_array(1, sizeof *list.v);
		list.v[0] = (struct msg_fault){ .nth = p->failed, .op = 2, .offset = p->offset };
		list.n = 1;
	}
	worker_faults(n->k->k, n->w->now, p->key, p->failed, &list);
}

static void
producer_dies(struct world *w, void *arg, uint64_t life)
{
	struct node *n = arg;

	if (!n->alive || n->life != life)
		return;
	w->poisoned++;
	node_kill(n);
	world_at(w, w->now + some_time(w, SEC), world_new_worker, NULL, 0);
}

/* Whether the element is not there yet, in a unit that grows. Behind the last one the stream tells where that
 * is. */
static bool
producer_waits(struct node *n, struct producer *p, uint32_t leaf, uint64_t pos)
{
	if (one_in(n->w, 8)) {
		p->stuck_until = n->w->now + some_time(n->w, SEC);
		return true;
	}
	if (pos >= n->w->set.size[leaf])
		worker_source_ended(n->k->k, p->key, leaf, n->w->set.size[leaf]);
	return false;
}

/* One element of the source, with all that comes of it. False: the split is over. */
static bool
producer_step(struct node *n, struct producer *p)
{
	const struct sim_dataset *s = &n->w->set;
	uint32_t leaf = p->cur.path ? (uint32_t)atoi(p->cur.path) : p->cur.leaf, fan;
	uint64_t pos;

	if (p->st.at == p->cur.count) {
		p->st.at = 0;
		if (++p->st.pass == p->cur.times)
			return false;
	}
	if (!p->cur.count)
		return false;
	pos = p->cur.start + p->st.at;
	if (p->cur.grows && producer_waits(n, p, leaf, pos))
		return true;
	if (p->cur.grows && pos >= s->size[leaf])
		return false;
	p->st.at++;
	if (set_kills(n->w, leaf, pos)) {
		p->stuck_until = INT64_MAX;
		p->st.at--;
		world_at(n->w, n->w->now, producer_dies, n, n->life);
		return true;
	}
	fan = set_fan(s, leaf, pos);
	if (set_fails(leaf, pos)) {
		p->failed++;
		if (one_in(n->w, 3))
			producer_tell_faults(n, p);
	}
	p->st.carry = s->stateful ? rng_mix(p->st.carry, pos ^ (uint64_t)leaf << 32) : 0;
	for (uint32_t i = 0; i < fan; i++) {
		struct element e = { leaf, i, pos, p->st.carry };

		producer_emit(n, p, &e);
	}
	return true;
}

/* The whole dataset, where it is not read by split: the units as splits. */
static void
producer_list_whole(struct node *n, struct producer *p)
{
	const struct sim_dataset *s = &n->w->set;

	for (uint64_t t = 0; t < s->times; t++)
		for (unsigned u = 0; u < s->units; u++) {
			struct split one = { .kind = SPLIT_RANGE, .leaf = u, .count = s->size[u], .times = 1 };

			split_list_add(&p->splits, &one);
		}
	p->no_more = true;
}

static bool
producer_next_split(struct node *n, struct producer *p)
{
	if (p->n_begun == p->splits.n)
		return false;
	split_clear(&p->cur);
	p->cur = p->splits.v[p->n_begun++];
	if (p->cur.kind == SPLIT_ALL) /* in a job with an order */
		p->cur.count = n->w->set.size[p->cur.leaf];
	p->in_split = true;
	p->st.pass = p->st.at = 0;
	if (p->restoring) {
		struct sim_state st;

		memcpy(&st, p->assign.assign.state.p, sizeof st);
		p->st = st;
		p->restoring = false;
	}
	if (p->assign.assign.by_split)
		worker_split_taken(n->k->k, n->w->now, p->key, p->split, 0);
	return true;
}

static void
producer_point(struct node *n, struct producer *p)
{
	bool stateful = n->w->set.stateful || producer_by_data(p);
	bool empty = !stateful && (!p->in_split || (p->st.at == 0 && p->st.pass == 0));

	if (!p->in_split && stateful)
		return;
	producer_tell_faults(n, p);
	if (empty)
		worker_restart(n->k->k, n->w->now, p->key, p->offset, p->split, NULL, 0);
	else
		worker_restart(n->k->k, n->w->now, p->key, p->offset, p->split, &p->st,
			       sizeof p->st);
}

/* Between two splits there is no place to hand it over, but the next one is at hand, or is
 * asked for. */
static bool
producer_goes_on(const struct producer *p)
{
	const struct msg_assign *a = &p->assign.assign;
	bool fixed = a->by_split && (a->order != ORDER_ANY || a->sharding == SHARD_FILE);

	return !p->in_split && (p->n_begun < p->splits.n || (fixed && !p->no_more));
}

static void
producer_hand(struct node *n, struct producer *p)
{
	bool can = n->k->can_hand && p->in_split;

	p->handover = false;
	if (can) {
		builders_flush(&p->of, n, p->key);
		p->done = true;
		producer_tell_faults(n, p);
		worker_handed(n->k->k, n->w->now, p->key, true, p->offset, p->split, &p->st, sizeof p->st, p->made);
	} else {
		worker_handed(n->k->k, n->w->now, p->key, false, 0, 0, NULL, 0, 0);
	}
}

static void
producer_run(struct node *n, struct producer *p)
{
	unsigned steps = 1 + (unsigned)chance(n->w, 12);

	if (p->off || p->stuck_until > n->w->now)
		return;
	p->stuck_until = 0;
	while (steps-- && !p->done && !p->stuck_until && (!p->stalled || p->handover || p->rest)) {
		if (p->rest && !p->handover) {
			builders_flush(&p->of, n, p->key);
			p->rest = false;
			p->off = true;
			worker_rested(n->k->k, n->w->now, p->key);
			return;
		}
		if (p->handover && !(n->k->can_hand && producer_goes_on(p))) {
			producer_hand(n, p);
			continue;
		}
		if (!p->in_split && !producer_next_split(n, p)) {
			if (!p->no_more)
				break;
			builders_flush(&p->of, n, p->key);
			p->done = true;
			producer_tell_faults(n, p);
			builders_rest(&p->of, n, p->key);
			worker_ended(n->k->k, n->w->now, p->key, p->offset, p->made);
			break;
		}
		if (!producer_step(n, p)) {
			p->in_split = false;
			p->split++;
			/* a chunk may not hold two splits: it is flushed by the next element */
		} else if (one_in(n->w, 10)) {
			producer_point(n, p);
		}
	}
	if (!p->done)
		builders_flush_wanted(&p->of, n, p->key);
	if (n->w->stuck && !p->done && one_in(n->w, 500))
		p->stuck_until = n->w->now + some_time(n->w, 4 * SEC);
}

struct producer_ref { struct node *n; struct stream_key key; };

static void
producer_event(struct world *w, void *arg, uint64_t life)
{
	struct producer_ref *ref = arg;
	struct node *n = ref->n;
	struct producer *p;

	if (!n->alive || n->life != life || !(p = producer_find(n, ref->key)) || p->done) {
		mem_free(ref);
		return;
	}
	if (w->now < n->paused_until) {
		world_at(w, n->paused_until, producer_event, ref, life);
		return;
	}
	producer_run(n, p);
	world_at(w, w->now + some_time(w, 4 * MS), producer_event, ref, life);
	sim_work_act(n);
}

static void
producer_start(struct node *n, struct worker_action *a)
{
	struct producer *p = mem_zalloc(sizeof *p);
	struct producer_ref *ref = mem_zalloc(sizeof *ref);
	const struct msg_assign *m;

	p->key = a->key;
	p->assign = a->msg;
	a->msg = (struct msg){ 0 };
	m = &p->assign.assign;
	p->offset = m->offset;
	p->split = m->split;
	p->failed = m->failed;
	builders_init(&p->of, n->w, m);
	if (m->has_state) {
		p->restoring = true;
		memcpy(&p->st, m->state.p, sizeof p->st);
	}
	if (!m->by_split)
		producer_list_whole(n, p);
	while (!m->by_split && p->n_begun < m->split && p->n_begun < p->splits.n)
		split_clear(&p->splits.v[p->n_begun++]);
	p->next = n->k->producers;
	n->k->producers = p;
	*ref = (struct producer_ref){ n, p->key };
	world_at(n->w, n->w->now + some_time(n->w, 4 * MS), producer_event, ref, n->life);
}

/* Listing */

struct list_ref { struct node *n; uint64_t req; };

/* Events that own their argument. */
void
world_drop_events(struct world *w)
{
	for (size_t i = 0; i < w->n_heap; i++)
		if (w->heap[i].fn == producer_event || w->heap[i].fn == sim_work_listed)
			mem_free(w->heap[i].arg);
}

static void
sim_work_listed(struct world *w, void *arg, uint64_t life)
{
	struct list_ref *ref = arg;
	struct node *n = ref->n;
	const struct sim_dataset *s = &w->set;
	struct msg_units u = { .times = s->times, .files = s->files };

	if (n->alive && n->life == life) {
		for (unsigned i = 0; i < s->units && !s->whole; i++)
			sim_unit(s, i, &u.units);
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
	case WORKER_STALL: case WORKER_RESUME:
		if (p)
			p->stalled = a->kind == WORKER_STALL;
		break;
	case WORKER_WANT:
		if (p)
			builders_want(&p->of, a->view);
		break;
	case WORKER_REST:
		if (p)
			p->rest = true;
		break;
	case WORKER_GO:
		if (p)
			p->off = false;
		break;
	case WORKER_SPLITS:
		for (size_t i = 0; p && i < a->msg.split.splits.n; i++)
			split_list_add(&p->splits, &a->msg.split.splits.v[i]);
		if (p)
			p->no_more = a->msg.split.end;
		break;
	case WORKER_HANDOVER:
		if (p)
			p->handover = true;
		break;
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
	default: break;
	}
	msg_clear(&a->msg);
}

static void
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
