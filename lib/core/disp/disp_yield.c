/* SPDX-License-Identifier: MIT
 *
 * Streams that move to slots with nothing to do. A job that has all its streams from the
 * start gives none to a worker that joins later: so workers that have more streams than
 * slots hand some over (YIELD), while that makes their load smaller than it was.
 */
#include "base/mem.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_yield.h"

#define YIELD_LOOK_NS 2000000000ll
#define YIELD_GATHER_NS 50000000ll  /* workers that join at about the same time */
#define YIELD_AGAIN_NS 5000000000ll /* a stream stays at least so long where it went */
enum {
	YIELD_MOVES = 256,        /* at one time, in one iteration */
	YIELD_UNDER_WAY = 1024    /* while more are between two workers, nothing else is planned */
};

/* A worker, and the streams it will have when those under way have arrived. */
struct yield_load { struct peer *w; uint64_t n; bool spent; };
struct yield_plan { struct yield_load *v; size_t n, cap; uint64_t under_way; };

static bool
yield_moves(const struct iteration *it)
{
	return it->state == ITER_RUNNING && it->all_known && it->job->opts.sharding != SHARD_OFF;
}

void
yield_soon(struct disp *d)
{
	int64_t at = d->now + YIELD_GATHER_NS;

	if (at < d->yield_due)
		d->yield_due = at;
}

void
yield_over(struct disp *d, struct stream *s)
{
	if (!s->yields)
		return;
	s->yields = false;
	s->worker->n_yields--;
	ask_drop(d, ASK_YIELD, s->worker, stream_key_of(s), 0);
}

void
yield_answer(struct disp *d, struct peer *p, struct stream *s, const struct msg_yielded *y)
{
	ask_drop(d, ASK_YIELD, p, y->key, 0);
	if (!y->stays)
		return; /* HANDOVER comes when everything is delivered */
	s->stays = true;
	yield_over(d, s);
}

/* Load */

static bool
yield_is_full(const struct peer *w)
{
	return w->n_streams - w->n_yields > w->slots;
}

static bool
yield_is_wanted(const struct iteration *it)
{
	if (!yield_moves(it))
		return false;
	for (size_t i = 0; i < it->n_streams; i++)
		if (it->streams[i]->worker && yield_is_full(it->streams[i]->worker))
			return true;
	return false;
}

/* The one with the fewest streams for its slots, if it had one more. */
static struct yield_load *
yield_least(const struct yield_plan *p)
{
	struct yield_load *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct yield_load *l = &p->v[i];

		if (!best || (l->n + 1) * best->w->slots < (best->n + 1) * l->w->slots)
			best = l;
	}
	return best;
}

/* The one that would still have most for its slots with one less. */
static struct yield_load *
yield_most(const struct yield_plan *p)
{
	struct yield_load *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct yield_load *l = &p->v[i];

		if (l->n <= l->w->slots || l->spent)
			continue;
		if (!best || (l->n - 1) * best->w->slots > (best->n - 1) * l->w->slots)
			best = l;
	}
	return best;
}

/* The workers that fit, as they will be when what is under way has arrived: streams that
 * have no worker now go to those with the least. */
static void
yield_plan_make(struct disp *d, struct iteration *it, struct yield_plan *p)
{
	p->n = p->under_way = 0;
	for (struct list_node *n = d->workers.next; n != &d->workers; n = n->next) {
		struct peer *w = LIST_OF(n, struct peer, workers);

		if (!w->tagged || !place_fits(d, it, w)) /* not here yet, or leaving */
			continue;
		if (p->n == p->cap)
			p->v = mem_grow(p->v, &p->cap, p->n + 1, sizeof *p->v);
		p->v[p->n++] = (struct yield_load){ w, w->n_streams - w->n_yields, false };
		p->under_way += w->n_yields;
	}
	for (size_t i = 0; i < it->n_streams; i++) {
		const struct stream *s = it->streams[i];

		p->under_way += !s->worker && !s->finished && !s->ended;
	}
	for (uint64_t i = 0; i < p->under_way && p->under_way <= YIELD_UNDER_WAY && p->n; i++)
		yield_least(p)->n++;
}

/* Which of its streams a worker does without most easily: one that it has not begun, else
 * the one that has least to deliver before it can go. */
static struct stream *
yield_pick(struct disp *d, const struct iteration *it, const struct peer *w)
{
	struct stream *best = NULL;
	uint64_t least = 0;

	for (struct list_node *n = w->streams.next; n != &w->streams; n = n->next) {
		struct stream *s = LIST_OF(n, struct stream, by_worker);
		uint64_t acked, kept;

		if (s->iter != it || !s->running || s->told_end || s->failure.code || s->yields || s->stays ||
		    (s->yielded_at && d->now < s->yielded_at + YIELD_AGAIN_NS) || blame_suspect(d, s))
			continue;
		acked = views_floor(s);
		kept = !s->began ? 0 : s->high > acked ? s->high - acked + 1 : 1;
		if (!best || kept < least) {
			best = s;
			least = kept;
		}
	}
	return best;
}

static void
yield_ask(struct disp *d, struct stream *s)
{
	s->yields = true;
	s->yielded_at = d->now;
	s->worker->n_yields++;
	ask_put(d, ASK_YIELD, s->worker, stream_key_of(s), 0);
}

static void
yield_balance(struct disp *d, struct iteration *it, struct yield_plan *p)
{
	yield_plan_make(d, it, p);
	if (p->under_way > YIELD_UNDER_WAY)
		return;
	for (unsigned i = 0; i < YIELD_MOVES; i++) {
		struct yield_load *from = yield_most(p), *to = yield_least(p);
		struct stream *s;

		if (!from || (from->n - 1) * to->w->slots < (to->n + 1) * from->w->slots)
			return;
		s = yield_pick(d, it, from->w);
		if (!s) {
			from->spent = true;
			continue;
		}
		yield_ask(d, s);
		from->n--;
		to->n++;
	}
}

void
yield_tick(struct disp *d)
{
	struct yield_plan p = { 0 };
	bool moves = false;

	if (d->yield_due > d->now)
		return;
	for (struct list_node *n = d->running.next; n != &d->running; n = n->next) {
		struct iteration *it = LIST_OF(n, struct iteration, running_node);

		moves |= yield_moves(it);
		if (yield_is_wanted(it))
			yield_balance(d, it, &p);
	}
	mem_free(p.v);
	d->yield_due = moves ? d->now + YIELD_LOOK_NS : INT64_MAX;
}
