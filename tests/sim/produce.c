/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "produce.h"

struct producer *
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
	worker_reached(n->k->k, p->key);
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
		if (++p->st.pass == p->cur.times || n->w->set.nothing) /* such a split is not repeated */
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
	if (!s->nothing && set_fails(leaf, pos)) {
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
		if (p->step == STEP_NEEDED) {
			builders_flush(&p->of, n, p->key);
			producer_tell_faults(n, p);
			p->step = STEP_ASKED;
			worker_step(n->k->k, n->w->now, p->key, p->offset, false);
		}
		if (p->step == STEP_ASKED)
			break;
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
		if (p->step == STEP_GIVEN && !--p->run)
			p->step = STEP_NEEDED;
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

/* Whether nothing can be done before the worker says something. */
static bool
producer_must_wait(const struct producer *p)
{
	if (p->off)
		return true;
	if (p->stuck_until || p->handover || p->rest)
		return false;
	return p->stalled || p->step == STEP_ASKED || (!p->in_split && p->n_begun == p->splits.n && !p->no_more);
}

struct producer_ref { struct node *n; struct stream_key key; };

static void producer_event(struct world *w, void *arg, uint64_t life);

static void
producer_later(struct node *n, const struct producer *p, struct producer_ref *ref)
{
	int64_t at = n->w->now + some_time(n->w, 4 * MS);

	world_at(n->w, p->stuck_until > at ? p->stuck_until : at, producer_event, ref, n->life);
}

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
	p->sleeps = producer_must_wait(p);
	if (p->sleeps)
		mem_free(ref);
	else
		producer_later(n, p, ref);
	sim_work_act(n);
}

static void
producer_wake(struct node *n, struct producer *p)
{
	struct producer_ref *ref = mem_zalloc(sizeof *ref);

	*ref = (struct producer_ref){ n, p->key };
	p->sleeps = false;
	producer_later(n, p, ref);
}

void
producer_start(struct node *n, struct worker_action *a)
{
	struct producer *p = mem_zalloc(sizeof *p);
	const struct msg_assign *m;

	p->key = a->key;
	p->assign = a->msg;
	a->msg = (struct msg){ 0 };
	m = &p->assign.assign;
	p->offset = m->offset;
	p->split = m->split;
	p->failed = m->failed;
	p->step = m->careful ? STEP_NEEDED : STEP_FREE;
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
	producer_wake(n, p);
}

void
producer_told(struct node *n, struct producer *p, const struct worker_action *a)
{
	switch (a->kind) {
	case WORKER_STALL: case WORKER_RESUME: p->stalled = a->kind == WORKER_STALL; break;
	case WORKER_WANT: builders_want(&p->of, a->view); break;
	case WORKER_REST: p->rest = true; break;
	case WORKER_GO: p->off = false; break;
	case WORKER_STEP:
		p->step = a->free ? STEP_FREE : STEP_GIVEN;
		p->run = 8;
		break;
	case WORKER_SPLITS:
		for (size_t i = 0; i < a->msg.split.splits.n; i++)
			split_list_add(&p->splits, &a->msg.split.splits.v[i]);
		p->no_more = a->msg.split.end;
		break;
	case WORKER_HANDOVER: p->handover = true; break;
	default: return;
	}
	if (p->sleeps && !p->off)
		producer_wake(n, p);
}

bool
producer_owns(const struct event *e)
{
	return e->fn == producer_event;
}
