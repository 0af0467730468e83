/* SPDX-License-Identifier: MIT
 *
 * Do streams that are there from the start move to workers that come later? The dispatcher
 * with workers that join, leave and hand over as they are told, by a seed. When all has
 * been calm for ten seconds, no stream could go to a slot with less to do; none has moved
 * without need; and none twice within five seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "core/disp/dispatcher.h"

#define MS 1000000ll
#define SEC 1000000000ll
enum { WORKERS_MAX = 12, STREAMS_MAX = 40, READER = 7, FIRST_PEER = 100 };

/* A message that a worker will send. */
struct later { int64_t at; uint64_t peer; struct msg m; };
struct fake { bool alive; uint32_t slots, n; struct stream_key has[STREAMS_MAX * 2]; };
struct world {
	struct rng r;
	int64_t now;
	struct disp *d;
	struct fake w[WORKERS_MAX];
	unsigned n_workers, changes;
	struct later *later;
	size_t n_later, cap_later;
	uint32_t streams;
	bool holes;              /* YIELD and YIELDED get lost */
	unsigned handed[STREAMS_MAX];
	int64_t yielded[STREAMS_MAX];
	char why[256];
};

static uint64_t
spread_chance(struct world *w, uint64_t limit)
{
	return rng_below(&w->r, limit);
}

static void
spread_id(const char *spec, size_t n, char *out, size_t size)
{
	(void)spec;
	snprintf(out, size, "%zu", n);
}

static void
spread_later(struct world *w, uint64_t peer, int64_t most, struct msg m)
{
	if (w->n_later == w->cap_later)
		w->later = mem_grow(w->later, &w->cap_later, w->n_later + 1, sizeof *w->later);
	w->later[w->n_later++] = (struct later){ w->now + (int64_t)spread_chance(w, (uint64_t)most), peer, m };
}

static bool
spread_has(const struct fake *f, struct stream_key key, uint32_t *at)
{
	for (*at = 0; *at < f->n; ++*at)
		if (!memcmp(&f->has[*at], &key, sizeof key))
			return true;
	return false;
}

static void
spread_drop(struct fake *f, struct stream_key key)
{
	uint32_t at;

	if (spread_has(f, key, &at))
		f->has[at] = f->has[--f->n];
}

static void
spread_yield(struct world *w, uint64_t peer, struct stream_key key)
{
	int64_t *before = &w->yielded[key.stream];
	struct fake *f = &w->w[peer - FIRST_PEER];
	uint32_t at;

	if (w->holes && !spread_chance(w, 4))
		return;
	if (!spread_has(f, key, &at))
		return;
	if (!w->holes && w->now - *before < 5 * SEC)
		snprintf(w->why, sizeof w->why, "stream %u is to move again after %lld ms", key.stream,
			 (long long)((w->now - *before) / MS));
	spread_drop(f, key);
	if (!w->holes || spread_chance(w, 4))
		spread_later(w, peer, 200 * MS, (struct msg){ .type = MSG_YIELDED, .yielded = { key, false } });
	spread_later(w, peer, 900 * MS, (struct msg){ .type = MSG_HANDOVER, .req = 9, .handover = { .key = key } });
	*before = w->now;
	w->handed[key.stream]++;
}

static void
spread_units(struct world *w, uint64_t peer, uint64_t req)
{
	struct split all = { .kind = SPLIT_RANGE, .cuttable = true, .count = INT64_MAX, .times = 1 };
	struct msg m = { .type = MSG_UNITS, .req = req, .units = { .listing = 1, .last = true, .times = 1 } };

	split_list_add(&m.units.units, &all);
	spread_later(w, peer, 5 * MS, m);
}

static void
spread_take(struct world *w)
{
	uint64_t peer;
	struct msg m;

	disp_changes(w->d, NULL, NULL);
	while (disp_outbox(w->d, &peer, &m)) {
		struct fake *f = peer >= FIRST_PEER ? &w->w[peer - FIRST_PEER] : NULL;
		uint32_t at;

		if (f && !f->alive) {
			msg_clear(&m);
			continue;
		}
		switch (m.type) {
		case MSG_LIST: spread_units(w, peer, m.req); break;
		case MSG_ASSIGN:
			if (!spread_has(f, m.assign.key, &at))
				f->has[f->n++] = m.assign.key;
			spread_later(w, peer, 50 * MS, (struct msg){ .type = MSG_ASSIGNED, .assigned = { m.assign.key } });
			break;
		case MSG_YIELD: spread_yield(w, peer, m.yield.key); break;
		case MSG_REVOKE:
			spread_drop(f, m.revoke.key);
			spread_later(w, peer, 5 * MS, (struct msg){ .type = MSG_REVOKED, .revoked = { m.revoke.key } });
			break;
		case MSG_HOLD:
			spread_later(w, peer, 50 * MS, (struct msg){ .type = MSG_HELD, .held = { .key = m.hold.key, .seat = 1 } });
			break;
		default: break;
		}
		msg_clear(&m);
	}
}

static void
spread_say(struct world *w, uint64_t peer, struct msg *m)
{
	disp_message(w->d, w->now, peer, m);
	msg_clear(m);
	spread_take(w);
}

static void
spread_hello(struct world *w, uint64_t peer, enum wire_role role, uint32_t slots)
{
	struct msg m = { .type = MSG_HELLO, .hello = { .version = WIRE_VERSION, .role = role, .peer = peer, .slots = slots } };

	m.hello.name = mem_printf("peer-%llu", (unsigned long long)peer);
	m.hello.endpoint = mem_printf("tcp://10.0.0.1:%llu", (unsigned long long)peer);
	spread_say(w, peer, &m);
}

/* One comes, or one goes: but the first, which is always there. */
static void
spread_change(struct world *w)
{
	unsigned i = 1 + (unsigned)spread_chance(w, WORKERS_MAX - 1);
	struct fake *f = &w->w[i];

	w->changes++;
	if (!f->alive && !f->slots) {
		f->alive = true;
		f->slots = 1 + (uint32_t)spread_chance(w, spread_chance(w, 2) ? 8 : 2);
		spread_hello(w, FIRST_PEER + i, ROLE_WORKER, f->slots);
	} else if (f->alive) {
		f->alive = false;
		disp_peer_gone(w->d, w->now, FIRST_PEER + i);
		spread_take(w);
	}
}

static void
spread_until(struct world *w, int64_t end)
{
	while (w->now < end && !w->why[0]) {
		int64_t next = disp_next_deadline(w->d);
		size_t due = w->n_later;

		for (size_t i = 0; i < w->n_later; i++)
			if (w->later[i].at <= next) {
				next = w->later[i].at;
				due = i;
			}
		if (next > end) {
			w->now = end;
			return;
		}
		w->now = next > w->now ? next : w->now;
		if (due == w->n_later) {
			disp_tick(w->d, w->now);
			spread_take(w);
			continue;
		}
		struct later l = w->later[due];
		w->later[due] = w->later[--w->n_later];
		if (l.peer < FIRST_PEER || w->w[l.peer - FIRST_PEER].alive)
			spread_say(w, l.peer, &l.m);
		else
			msg_clear(&l.m);
	}
}

static void
spread_beats(struct world *w)
{
	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		struct msg m = { .type = MSG_BEAT };

		if (w->w[i].alive)
			spread_say(w, FIRST_PEER + i, &m);
	}
	spread_say(w, READER, &(struct msg){ .type = MSG_BEAT });
}

static void
spread_open(struct world *w)
{
	struct msg m = { .type = MSG_OPEN, .open = { .spec = mem_strdup("counter"), .job.sharding = SHARD_DYNAMIC,
		.job.order = ORDER_STABLE, .job.shards = w->streams, .job.epoch = 1 } };

	if (spread_chance(w, 3) == 0) {
		m.open.job.sharding = SHARD_DATA;
		m.open.job.order = ORDER_ANY;
	}
	spread_hello(w, READER, ROLE_READER, 0);
	spread_say(w, READER, &m);
}

/* Whether one of A's streams would have it better at B. */
static void
spread_check(struct world *w)
{
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		for (unsigned k = 0; k < WORKERS_MAX; k++) {
			const struct fake *a = &w->w[i], *b = &w->w[k];

			if (!a->alive || !b->alive || a->n <= a->slots)
				continue;
			if ((a->n - 1) * b->slots >= (b->n + 1) * a->slots)
				snprintf(w->why, sizeof w->why, "%u streams on %u slots, beside %u on %u", a->n, a->slots,
					 b->n, b->slots);
		}
	for (uint32_t s = 0; s < w->streams; s++)
		if (w->handed[s] > 2 * w->changes)
			snprintf(w->why, sizeof w->why, "stream %u was handed over %u times, for %u changes", s,
				 w->handed[s], w->changes);
}

static unsigned
spread_run(uint64_t seed)
{
	struct world w = { .r = { rng_mix(seed, 0x5d), 0 }, .now = SEC };
	struct disp_opts o = { .instance = 1, .seed = seed, .spec_id = spread_id, .lost_max = UINT32_MAX };
	unsigned moves = 0, changes;
	int64_t calm = 0;

	w.d = disp_new(&o, w.now);
	w.streams = 1 + (uint32_t)spread_chance(&w, STREAMS_MAX);
	w.holes = !spread_chance(&w, 3);
	for (uint32_t i = 0; i < STREAMS_MAX; i++)
		w.yielded[i] = -10 * SEC;
	w.w[0] = (struct fake){ .alive = true, .slots = 1 + (uint32_t)spread_chance(&w, 4) };
	spread_hello(&w, FIRST_PEER, ROLE_WORKER, w.w[0].slots);
	spread_open(&w);
	changes = 1 + (unsigned)spread_chance(&w, 20);
	while (!w.why[0] && calm < (w.holes ? 30 : 10)) {
		int64_t end = w.now + SEC;

		if (changes && spread_chance(&w, 2)) {
			spread_until(&w, w.now + (int64_t)spread_chance(&w, SEC));
			spread_change(&w);
			changes--;
			calm = -1;
		}
		spread_until(&w, end);
		spread_beats(&w);
		calm++;
	}
	if (!w.why[0])
		spread_check(&w);
	for (uint32_t s = 0; s < w.streams; s++)
		moves += w.handed[s];
	if (w.why[0])
		printf("# seed %llu: %s\n", (unsigned long long)seed, w.why);
	for (size_t i = 0; i < w.n_later; i++)
		msg_clear(&w.later[i].m);
	mem_free(w.later);
	disp_free(&w.d);
	return w.why[0] ? UINT32_MAX : moves;
}

int
main(int argc, char **argv)
{
	const char *env = getenv("SEEDS");
	uint64_t n = env ? strtoull(env, NULL, 10) : 1000, first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, moves = 0;
	unsigned failed = 0;

	for (uint64_t seed = first; seed < first + n && failed < 20; seed++) {
		unsigned m = spread_run(seed);

		failed += m == UINT32_MAX;
		moves += m == UINT32_MAX ? 0 : m;
	}
	failed += n >= 100 && !moves;
	printf("# %llu runs, %llu streams moved\n1..1\n%s 1 - streams spread over slots that come later\n",
	       (unsigned long long)n, (unsigned long long)moves, failed ? "not ok" : "ok");
	return failed != 0;
}
