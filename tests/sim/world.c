/* SPDX-License-Identifier: MIT
 *
 * One run: what it is like, what befalls it, and its end.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "world.h"

static unsigned
world_alive(const struct world *w, enum node_kind kind)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n_nodes; i++)
		n += w->nodes[i]->kind == kind && w->nodes[i]->alive;
	return n;
}

static struct node *
world_some(struct world *w, enum node_kind kind)
{
	unsigned n = world_alive(w, kind), k = (unsigned)chance(w, n);

	for (unsigned i = 0; n && i < w->n_nodes; i++)
		if (w->nodes[i]->kind == kind && w->nodes[i]->alive && !k--)
			return w->nodes[i];
	return NULL;
}

bool
world_fits(const struct node *worker, const struct node *reader)
{
	const struct world *w = worker->w;
	bool near = w->target != TARGET_LOCAL || (reader && !strcmp(worker->host, reader->host));

	for (unsigned i = 0; !near && !reader && i < w->n_nodes; i++)
		near = w->nodes[i]->kind == NODE_READER && !strcmp(worker->host, w->nodes[i]->host);
	return near && where_fits(&w->fit, &worker->tags);
}

void
world_new_worker(struct world *w, void *arg, uint64_t tag)
{
	const struct node *reader = arg;
	struct node *n;

	(void)tag;
	if (w->n_nodes >= NODES_MAX - 40)
		return;
	n = node_new(w, NODE_WORKER);
	if (reader) {
		memcpy(n->host, reader->host, sizeof n->host);
		words_clear(&n->tags);
		n->tags = (struct words){ 0 };
		if (w->fit.has.n)
			words_add(&n->tags, "gpu", 3);
	}
	sim_work_start(n);
}

/* When all is calm, every reader gets a worker. */
static void
world_care_places(struct world *w)
{
	for (unsigned i = 0, n = w->n_nodes; i < n; i++) {
		struct node *reader = w->nodes[i];
		bool served = reader->kind != NODE_READER || !reader->alive;

		for (unsigned k = 0; !served && k < n; k++) {
			const struct node *k_ = w->nodes[k];

			served = k_->kind == NODE_WORKER && k_->alive && !k_->leaving && world_fits(k_, reader) && world_open(k_);
		}
		if (!served) {
			world_new_worker(w, reader, 0);
			n = 0; /* one at a time */
		}
	}
}

static void
world_late(struct world *w, void *arg, uint64_t place)
{
	(void)arg;
	world_new_consumer(w, (uint32_t)place);
}

static void
world_resume(struct world *w, void *arg, uint64_t tag)
{
	struct consumer *c = arg;

	(void)tag;
	if (c->node || c->finished || c->old || w->n_nodes >= NODES_MAX || (!w->checkpoint && c->n) || rounds_place_over(w, c))
		return;
	w->resumes++;
	sim_read_start(node_new(w, NODE_READER), c);
}

static void
world_disp_up(struct world *w, void *arg, uint64_t tag)
{
	(void)arg;
	(void)tag;
	if (!w->disp->alive)
		sim_disp_start(w->disp);
}

static void
world_kill_disp(struct world *w)
{
	if (!w->disp->alive)
		return;
	w->disp_lost |= !w->durable;
	/* One that was there for a moment was not there for who came meanwhile. */
	for (unsigned i = 0; i < w->n_nodes && w->now - w->disp_up < SEC; i++)
		w->nodes[i]->cut = true;
	node_kill(w->disp);
	world_at(w, w->now + some_time(w, one_in(w, 4) ? 8 * SEC : SEC), world_disp_up, NULL, 0);
}

static struct conn *
world_some_conn(struct world *w)
{
	unsigned n = 0, k;
	struct conn *c;

	for (c = w->conns; c; c = c->next)
		n += c->up;
	k = (unsigned)chance(w, n);
	for (c = w->conns; c; c = c->next)
		if (c->up && !k--)
			return c;
	return NULL;
}

/* The dispatcher hears nothing of a worker for about as long as makes it lost, and the
 * readers a little longer: what it had sent comes when its streams are elsewhere, or
 * are its own again. */
static void
world_cut_off(struct world *w, struct node *n)
{
	int64_t until = w->now + 5 * SEC + some_time(w, 500 * MS);

	world_say(w, "%s is cut off until %.3f", n->name, (double)until / 1e9);
	for (struct conn *c = w->conns; c; c = c->next)
		if (c->up && c->client == n)
			conn_block(c, until);
		else if (c->up && c->server == n)
			conn_block(c, until + some_time(w, 500 * MS));
}

/* Stops a program for a while, often longer than makes it lost. That it stood still is
 * no reason for the others to end, nor for itself; but nobody waits for ever for a
 * dispatcher that does. */
static void
world_pause(struct world *w, struct node *n)
{
	int64_t most = !one_in(w, 3) ? SEC : n->kind == NODE_DISP ? 9 * SEC : 30 * SEC;

	w->pauses++;
	n->paused_until = w->now + some_time(w, most);
	for (unsigned i = 0; i < w->n_nodes && n->kind == NODE_DISP; i++)
		w->nodes[i]->cut = true;
	world_say(w, "%s stands still until %.3f", n->name, (double)n->paused_until / 1e9);
}

void
world_lost_contact(struct node *n, const char *text)
{
	if (!n->cut && !n->w->disp_lost)
		world_fail(n->w, "%s gives up, and nothing was wrong: %s", n->name, text);
}

static void
world_fault(struct world *w)
{
	struct node *n;
	struct conn *c;

	switch (w->poison ? 3 : w->stops ? 8 : chance(w, w->keys ? 15 : 13)) {
	case 0: case 1:
		if ((n = world_some(w, NODE_WORKER))) {
			node_kill(n);
			if (!one_in(w, 4))
				world_at(w, w->now + some_time(w, 2 * SEC), world_new_worker, NULL, 0);
		}
		break;
	case 2:
		if ((n = world_some(w, NODE_READER)))
			node_kill(n);
		break;
	case 3:
		if (w->durable || (!w->poison && one_in(w, 20)))
			world_kill_disp(w);
		break;
	case 4: case 5: case 6:
		if ((c = world_some_conn(w))) {
			world_say(w, "%s - %s breaks", c->client->name, c->server->name);
			w->breaks++;
			conn_break(c);
		}
		break;
	case 7:
		if ((c = world_some_conn(w))) {
			conn_block(c, w->now + some_time(w, one_in(w, 3) ? 9 * SEC : SEC));
			world_say(w, "%s - %s stands still until %.3f", c->client->name, c->server->name, (double)c->blocked_until / 1e9);
		}
		break;
	case 8: case 9:
		n = world_some(w, one_in(w, 3) ? NODE_READER : one_in(w, 4) ? NODE_DISP : NODE_WORKER);
		if (n)
			world_pause(w, n);
		break;
	case 10:
		world_new_worker(w, NULL, 0);
		break;
	case 11:
		if ((n = world_some(w, NODE_WORKER)) && n->paused_until <= w->now) {
			world_say(w, "%s is to leave", n->name);
			n->leaving = true;
			sim_work_drain(n);
		}
		break;
	case 12:
		if ((n = world_some(w, NODE_WORKER)))
			world_cut_off(w, n);
		break;
	case 13: case 14:
		if ((n = world_some(w, one_in(w, 3) ? NODE_READER : NODE_WORKER)))
			world_strike(w, n);
		break;
	}
}

static void
world_faults(struct world *w, void *arg, uint64_t tag)
{
	(void)arg;
	(void)tag;
	if (w->now >= w->faults_until)
		return;
	world_fault(w);
	world_at(w, w->now + some_time(w, w->fault_gap), world_faults, NULL, 0);
}

/* Somebody is to read at each place. True: someone had to come. */
static bool
world_care_readers(struct world *w)
{
	bool came = false;

	for (uint32_t place = 0; place < w->round; place++) {
		bool cared = w->poison;

		for (unsigned i = 0; i < w->n_consumers; i++) {
			const struct consumer *c = &w->consumers[i];

			cared |= c->place == place && (c->node || c->finished || !c->dead);
		}
		came |= !cared;
		if (!cared)
			world_new_consumer(w, place);
	}
	return came;
}

/* Keeps somebody there: readers come back, and there is a worker in the end. */
static void
world_care(struct world *w, void *arg, uint64_t tag)
{
	bool calm = w->now >= w->faults_until, staying = false;

	(void)arg;
	(void)tag;
	for (unsigned i = 0; i < w->n_consumers; i++) {
		struct consumer *c = &w->consumers[i];

		if (c->node || c->finished || c->dead)
			continue;
		if ((w->poison && c->code == ST_DATA) || rounds_place_over(w, c)) {
			c->dead = true;
			continue;
		}
		/* Refused before it had anything: an ordered job has one reader. */
		if ((w->checkpoint || ((c->code == ST_TEMP || c->code == ST_UNAVAIL) && !c->n)) && !w->disp_lost)
			world_at(w, w->now + some_time(w, SEC), world_resume, c, 0);
		else
			c->dead = true;
	}
	if (!w->disp_lost) {
		bool alone = world_care_readers(w);

		if (!alone && !calm && !w->anonymous && w->order == ORDER_ANY && !w->checkpoint &&
		    one_in(w, 20) && w->n_consumers < w->readers + 3)
			world_new_consumer(w, (uint32_t)chance(w, w->round * w->groups));
	}
	for (unsigned i = 0; i < w->n_nodes; i++)
		staying |= w->nodes[i]->kind == NODE_WORKER && w->nodes[i]->alive && !w->nodes[i]->leaving;
	if (calm && !staying)
		world_new_worker(w, NULL, 0);
	if (calm)
		world_care_places(w);
	world_at(w, w->now + (w->closing ? 5 * SEC : 100 * MS) + some_time(w, 200 * MS), world_care, NULL, 0);
}

/* Chooses the properties of this run, all from the seed. */
static void
world_choose_set(struct world *w)
{
	struct sim_dataset *s = &w->set;

	snprintf(s->spec, sizeof s->spec, "set %llu", (unsigned long long)w->seed);
	s->key = rng_next(&w->r);
	s->units = (unsigned)chance(w, 9);
	for (unsigned i = 0; i < s->units; i++)
		s->size[i] = chance(w, one_in(w, 3) ? 300 : 40);
	for (unsigned i = 0; i < s->units; i++)
		if (!s->size[i])
			s->size[i] = 1;
	s->times = one_in(w, 4) ? 1 + chance(w, 5) : 1;
	s->cuttable = !one_in(w, 3);
	s->stateful = one_in(w, 2);
	s->fan = one_in(w, 2);
	s->whole = one_in(w, 12);
	s->nothing = s->units && !s->whole && rng_mix(w->seed, 0x6e) % 12 == 0;
	s->period = s->nothing ? 1 + rng_mix(w->seed, 0x70) % 3 : s->times > 1 ? 1 + rng_mix(w->seed, 0x70) % s->times : 0;
	s->times = s->nothing ? 1 : s->times;
	s->grows = s->units && !s->nothing && !s->whole && rng_mix(w->seed, 0x67) % 6 == 0;
}

/* In some worlds the job is divided into shards. A source of files has as many in each of its
 * lists as there are shards. */
static void
world_choose_shards(struct world *w)
{
	struct sim_dataset *s = &w->set;
	uint32_t most = w->set.units;

	if (!one_in(w, 3))
		return;
	s->files = one_in(w, 2);
	s->grows &= !s->files;
	w->sharding = one_in(w, 4) ? SHARD_FILE_OR_DATA : s->files ? SHARD_FILE : SHARD_DATA;
	s->whole &= !s->files;
	s->second = s->files && s->units > 1 && one_in(w, 2) ? s->units / 2 : s->units;
	if (s->second < s->units)
		most = s->second;
	w->shards = 1 + (uint32_t)chance(w, s->files ? most ? most : 1 : 8);
	if (w->order == ORDER_SOURCE && (s->files || w->sharding == SHARD_FILE_OR_DATA))
		w->shards = 1;
	else if (one_in(w, 5) && w->order != ORDER_SOURCE)
		w->shards = 0;
	w->only = !w->all_groups && w->shards > 1 && one_in(w, 2);
	if (!w->only)
		return;
	w->readers = 1 + (uint32_t)chance(w, w->shards < 4 ? w->shards : 4);
	w->anonymous &= w->readers == 1;
	w->epochs = 1;
	w->stop_after = 0;
}

bool
world_takes(const struct world *w, const struct consumer *c, uint32_t shard)
{
	return !w->only || shard % w->readers == c->index % w->readers;
}

/* Then nothing else kills workers, and there are workers enough for all. */
static void
world_choose_poison(struct world *w)
{
	w->poison = one_in(w, 12) && w->set.units && !w->stop_after;
	if (w->poison) /* it kills in each of the passes, which have no end: not bounded (decisions.md) */
		w->set.nothing = false;
	if (!w->poison)
		return;
	w->poison_leaf = (uint32_t)chance(w, w->set.units);
	w->poison_pos = chance(w, w->set.size[w->poison_leaf]);
	w->holes = w->stuck = false;
	w->fault_gap = 3 * SEC;
}

static void
world_choose_places(struct world *w)
{
	static const char *const wheres[] = { "", "", "gpu", "!old", "gpu,!old" };
	struct err e;

	w->places = (struct rng){ rng_mix(w->seed, 0x70), 0 };
	w->n_hosts = 1 + (unsigned)rng_below(&w->places, 3);
	w->target = (unsigned)rng_below(&w->places, JOB_TARGETS);
	if ((w->only || w->round > 1 || w->groups > 1) && w->target == TARGET_LOCAL)
		w->target = TARGET_AUTO;
	w->where = wheres[rng_below(&w->places, 5)];
	where_parse(w->where, &w->fit, &e);
}

static void
world_choose(struct world *w)
{
	w->durable = !one_in(w, 3);
	w->local = one_in(w, 2);
	w->calm = one_in(w, 10);
	w->sharding = one_in(w, 4) ? SHARD_OFF : SHARD_DYNAMIC;
	w->order = one_in(w, 3) ? 1 + (uint32_t)chance(w, 2) : ORDER_ANY;
	w->checkpoint = one_in(w, w->order == ORDER_ANY ? 4 : 2);
	w->readers = w->order == ORDER_ANY ? 1 + (uint32_t)chance(w, 3) : 1;
	w->workers = 1 + (uint32_t)chance(w, 4);
	w->shards = w->order == ORDER_ANY ? 0 : 1 + (uint32_t)chance(w, one_in(w, 3) ? 60 : 6);
	w->stuck = one_in(w, 4);
	w->block = 1 + (uint32_t)chance(w, 9);
	w->memory = 100 + chance(w, one_in(w, 2) ? 1000 : 20000);
	w->budget = 100 + chance(w, one_in(w, 2) ? 1000 : 20000);
	w->window = 1 + (uint32_t)chance(w, 16);
	w->splits_small = (uint32_t)!one_in(w, 4);
	w->delay_max = one_in(w, 3) ? 100 * MS : 2 * MS;
	w->slow = one_in(w, 3) ? 20 : 1;
	w->stop_after = one_in(w, 12) && !w->checkpoint ? 1 + (unsigned)chance(w, 50) : 0;
	w->anonymous = w->readers == 1 && !w->checkpoint && one_in(w, 3);
	w->epochs = !w->anonymous && one_in(w, 6) ? 2 : 1;
	w->twice = !w->calm && one_in(w, 4);
	w->holes = !w->calm && one_in(w, 4);
	w->faults_until = w->calm ? 0 : (int64_t)(1 + chance(w, 12)) * SEC;
	w->stops = !w->calm && one_in(w, 8);
	w->fault_gap = w->stops ? 5 * SEC : one_in(w, 3) ? 50 * MS : one_in(w, 2) ? 400 * MS : 3 * SEC;
	w->units_part = (uint32_t)chance(w, 5);
	world_prepare_groups(w);
	world_choose_set(w);
	world_choose_shards(w);
	world_choose_rounds(w);
	world_choose_number(w);
	world_choose_groups(w);
	world_choose_poison(w);
	w->set.nothing &= !w->only || w->checkpoint; /* shards whose reader died are read by nobody: void or not shows */
	world_choose_places(w);
	world_choose_keys(w);
	world_choose_walls(w);
}

static bool
world_over(const struct world *w)
{
	if (w->disp_lost && w->round > 1) /* nobody comes in the place of others */
		return true;
	for (unsigned i = 0; i < w->n_consumers; i++)
		if (!w->consumers[i].finished && !(w->consumers[i].dead && !w->consumers[i].node) &&
		    !(w->disp_lost && !w->consumers[i].node))
			return false;
	for (unsigned i = 0; i < w->n_consumers; i++)
		if (w->consumers[i].finished)
			return true;
	return w->disp_lost || w->poison;
}

static void
world_until(struct world *w, int64_t end, bool stop_when_over)
{
	while (w->n_heap && !w->failed) {
		struct event e = w->heap[0];
		size_t i = 0, k;

		if (e.at > end || (stop_when_over && world_over(w)))
			break;
		struct event last = w->heap[--w->n_heap];
		while ((k = 2 * i + 1) < w->n_heap) {
			if (k + 1 < w->n_heap && (w->heap[k + 1].at < w->heap[k].at ||
			    (w->heap[k + 1].at == w->heap[k].at && w->heap[k + 1].seq < w->heap[k].seq)))
				k++;
			if (last.at < w->heap[k].at || (last.at == w->heap[k].at && last.seq < w->heap[k].seq))
				break;
			w->heap[i] = w->heap[k];
			i = k;
		}
		w->heap[i] = last;
		w->now = e.at;
		w->events++;
		e.fn(w, e.arg, e.tag);
	}
}

/* Long after the end nothing is left of the job, nor does anything come back: silence is noticed first. */
static void
world_until_empty(struct world *w)
{
	int64_t at = w->now + 30 * SEC, end = at + 10 * SIM_GC_NS;

	w->closing = true;
	world_until(w, at, false);
	for (; !w->failed && at < end && world_alive(w, NODE_READER); at += 10 * SEC) /* one may have all to read again */
		world_until(w, at + 10 * SEC, false);
	for (end = at + 2 * SIM_GC_NS; !w->failed && at < end && sim_disp_left(w->disp);)
		world_until(w, at += 10 * SEC, false);
	world_until(w, at + 30 * SEC, false);
	if (!w->failed && sim_disp_left(w->disp))
		world_fail(w, "%zu rows and jobs are left long after the end", sim_disp_left(w->disp));
}

static void
world_free(struct world *w)
{
	struct conn *c;

	for (unsigned i = 0; i < w->n_nodes; i++) {
		struct node *n = w->nodes[i];

		n->alive = false;
		if (n->kind == NODE_DISP)
			sim_disp_free(n);
		else if (n->kind == NODE_WORKER && n->k)
			sim_work_stop(n);
		else if (n->kind == NODE_READER && n->r)
			sim_read_stop(n);
	}
	while ((c = w->conns)) {
		w->conns = c->next;
		conn_free(c);
	}
	world_drop_events(w);
	for (unsigned i = 0; i < w->n_nodes; i++) {
		words_clear(&w->nodes[i]->tags);
		mem_free(w->nodes[i]);
	}
	where_clear(&w->fit);
	for (unsigned i = 0; i < w->n_consumers; i++) {
		mem_free(w->consumers[i].out);
		buf_clear(&w->consumers[i].position);
	}
	book_free(w);
	mem_free(w->base);
	mem_free(w->heap);
}

bool
world_run(uint64_t seed, bool verbose, bool groups, char *why, size_t why_size, struct world *out)
{
	struct world *w = mem_zalloc(sizeof *w);
	bool ok;

	w->seed = seed;
	w->verbose = verbose;
	w->all_groups = groups;
	w->r = (struct rng){ rng_mix(seed, 0x51), 0 };
	w->now = SEC;
	world_choose(w);
	/* Where all readers have positions, none of them may notice how short a time the others have. */
	w->gc = w->checkpoint ? (int64_t[]){ SEC / 10, 2 * SEC, 20 * SEC, SIM_GC_NS }[rng_mix(seed, 0x6c) % 4] : SIM_GC_NS;
	/* A pass that gives no round may be over before a consumer comes back that was killed at once, or stood still: it
	 * would begin another job, and wait there for the others. */
	if (w->round > 1 && w->gc < 60 * SEC)
		w->gc = 60 * SEC;
	world_say(w, "durable %d local %d calm %d sharding %u order %u shards %u block %u checkpoint %d readers %u workers %u "
		  "groups %u share %d window %llu stands %d late %d only %d files %d units %u times %llu whole %d cuttable %d fan %d "
		  "memory %zu budget %zu window %u stop %u places %u tail %d %d early %u own %d of %llu whole %d lag %d "
		  "every %llu hosts %u target %s where %s", w->durable,
		  w->local, w->calm, w->sharding, w->order, w->shards, w->block, w->checkpoint, w->readers, w->workers,
		  w->groups, w->share, (unsigned long long)w->share_window, w->stands, (int)(w->late / MS), w->only, w->set.files,
		  w->set.units, (unsigned long long)w->set.times, w->set.whole, w->set.cuttable, w->set.fan, w->memory,
		  w->budget, w->window, w->stop_after, w->round, w->tail, w->tail_of, w->stops_early, w->own_end,
		  (unsigned long long)w->fence_of, w->whole, w->lag, (unsigned long long)w->every, w->n_hosts,
		  job_target_word((int)w->target), w->where);
	w->disp = node_new(w, NODE_DISP);
	sim_disp_start(w->disp);
	for (unsigned i = 0; i < w->workers; i++)
		world_at(w, w->now + some_time(w, 300 * MS), world_new_worker, NULL, 0);
	for (unsigned i = 0; i < w->readers; i++) {
		uint32_t place = i % (w->round * w->groups);

		if (w->late && place && place == w->groups - 1)
			world_at(w, w->now + w->late, world_late, NULL, place);
		else
			world_new_consumer(w, place);
	}
	world_at(w, w->now, world_care, NULL, 0);
	if (!w->calm)
		world_at(w, w->now + some_time(w, SEC), world_faults, NULL, 0);
	for (int64_t end = 0, next; !w->failed && !world_over(w); end = next) {
		next = (w->delivered > w->faults_until ? w->delivered : w->faults_until) + world_patience(w);
		if (next <= end)
			break;
		world_until(w, next, true);
	}
	if (!w->failed && !world_over(w))
		world_fail(w, "it does not end");
	if (!w->failed && w->disp->alive && !w->disp_lost && !w->stop_after)
		sim_disp_books(w->disp, w->anonymous ? "" : "job");
	book_check(w);
	if (!w->failed)
		world_until_empty(w);
	if (!(ok = !w->failed))
		sim_disp_dump(w->disp);
	snprintf(why, why_size, "%s", w->why);
	*out = *w;
	world_free(w);
	mem_free(w);
	return ok;
}
