/* SPDX-License-Identifier: MIT
 *
 * Turns: which streams have a thread. There are as many threads as slots; a stream
 * beyond them waits until one rests.
 *
 *	wants -> on: has a thread ----------------------> over (ended, failed, handed, dropped)
 *	  ^       | is stalled, or has had its time, and another one wants
 *	  |       v
 *	  +--- resting: gives its thread up between two elements (worker_rested)
 *
 * A stream that stalls because nobody takes what it made keeps its thread only as long
 * as no other stream wants one, and one without anything made always wants: so the
 * stream that a reader waits for gets its turn, whatever the others have.
 *
 * One that is told to rest may be in the middle of an element for long: it waits for
 * its input, or for a program. After a second its slot is lent to another stream. So
 * there are at most twice as many threads as slots, and WORKER_LENT.
 */
#include "base/mem.h"
#include "core/work/worker_inner.h"

enum { WORKER_LENT = 2, WORKER_BARREN = 8 };
#define WORKER_TURN_NS 200000000ll  /* how long a stream may go on while another one wants */
#define WORKER_STUCK_NS 1000000000ll

/* Its place in what an ordered reader takes next: the round, or the split. */
static uint64_t
worker_turn_round(const struct worker_stream *s)
{
	if (s->order == ORDER_SOURCE)
		return s->taken - (s->taken > s->first_split);
	return s->made_to / WORKER_ROUND / s->views[0].part.of;
}

/* Whether a is to have a turn before b, two streams of one iteration. With an order it is the
 * one that the reader needs first, but none keeps others waiting turn after turn in which it makes nothing; else the
 * one that has waited longest. */
static bool
worker_turn_before(const struct worker_stream *a, const struct worker_stream *b)
{
	uint64_t x = a->ordered ? worker_turn_round(a) : a->turn, y = b->ordered ? worker_turn_round(b) : b->turn;

	if (x == y && a->ordered && a->barren / WORKER_BARREN != b->barren / WORKER_BARREN)
		return a->barren < b->barren;
	return x < y || (x == y && a->key.stream < b->key.stream);
}

/* The streams of an iteration that want a thread, as a binary heap: the one that is to have it comes first. */
static void
worker_turn_put(struct worker_pass *p, size_t at, struct worker_stream *s)
{
	p->waiting[at] = s;
	s->waits_at = at;
}

/* Moves the stream at this place up or down, to where it belongs. */
static void
worker_turn_settle(struct worker_pass *p, size_t at)
{
	struct worker_stream *s = p->waiting[at];

	for (size_t up; at && worker_turn_before(s, p->waiting[up = (at - 1) / 2]); at = up)
		worker_turn_put(p, at, p->waiting[up]);
	for (size_t down; (down = 2 * at + 1) < p->n_waiting; at = down) {
		down += down + 1 < p->n_waiting && worker_turn_before(p->waiting[down + 1], p->waiting[down]);
		if (!worker_turn_before(p->waiting[down], s))
			break;
		worker_turn_put(p, at, p->waiting[down]);
	}
	worker_turn_put(p, at, s);
}

static void
worker_turn_wait(struct worker *w, struct worker_stream *s)
{
	struct worker_pass *p = s->pass;

	s->wants = true;
	w->n_want++;
	p->waiting = mem_grow(p->waiting, &p->cap_waiting, p->n_waiting + 1, sizeof(struct worker_stream *));
	worker_turn_put(p, p->n_waiting++, s);
	worker_turn_settle(p, s->waits_at);
}

static void
worker_turn_wait_no_more(struct worker *w, struct worker_stream *s)
{
	struct worker_pass *p = s->pass;
	struct worker_stream *last = p->waiting[--p->n_waiting];

	s->wants = false;
	w->n_want--;
	if (last == s)
		return;
	worker_turn_put(p, s->waits_at, last);
	worker_turn_settle(p, last->waits_at);
}

/* Iterations take turns, and within them streams. */
static struct worker_stream *
worker_turn_next(const struct worker *w)
{
	const struct worker_pass *best = NULL;

	for (const struct worker_pass *p = w->passes; p; p = p->next)
		if (p->n_waiting && (!best || p->turn < best->turn))
			best = p;
	return best ? best->waiting[0] : NULL;
}

static bool
worker_turn_wants(const struct worker_stream *s)
{
	return s->place == WORKER_OFF && s->producing == PRODUCING && (!s->stalled || s->handing);
}

/* Its first turn. */
static void
worker_turn_begin(struct worker *w, struct worker_stream *s)
{
	struct worker_action *a = worker_do(w, WORKER_START);

	s->begun = true;
	a->key = s->key;
	a->msg = s->assign;
	s->assign = (struct msg){ 0 };
	for (uint32_t i = 0; i < s->n_views; i++)
		if (s->views[i].wanted) /* asked for before there was anybody to hear it */
			worker_chunk_tell_want(w, s, &s->views[i]);
	worker_stream_ask(w, s);
}

static void
worker_turn_give(struct worker *w, struct worker_stream *s)
{
	worker_clock(w, s);
	worker_turn_wait_no_more(w, s);
	s->place = WORKER_ON;
	s->turn = s->pass->turn = ++w->turns;
	s->turn_at = w->now;
	s->turn_made = s->made_to;
	if (w->n_on == w->cap_on)
		w->on = mem_grow(w->on, &w->cap_on, w->n_on + 1, sizeof(struct worker_stream *));
	w->on[w->n_on++] = s;
	if (s->begun)
		worker_do(w, WORKER_GO)->key = s->key;
	else
		worker_turn_begin(w, s);
	worker_step_check(w, s);
}

static void
worker_turn_rest(struct worker *w, struct worker_stream *s)
{
	s->place = WORKER_RESTING;
	s->turn_at = w->now;
	worker_do(w, WORKER_REST)->key = s->key;
	worker_step_check(w, s);
}

/* Slots whose streams do not come to rest. */
static size_t
worker_turn_stuck(const struct worker *w)
{
	size_t n = 0, most = w->o.slots + WORKER_LENT;

	for (size_t i = 0; i < w->n_on; i++)
		n += w->on[i]->place == WORKER_RESTING &&
		     w->now - w->on[i]->turn_at >= WORKER_STUCK_NS;
	return n < most ? n : most;
}

/* Those that wait need room: whoever can make some is told to. */
static void
worker_turn_room(struct worker *w)
{
	size_t coming = 0;

	for (size_t i = 0; i < w->n_on; i++)
		coming += w->on[i]->place == WORKER_RESTING && w->now - w->on[i]->turn_at < WORKER_STUCK_NS;
	for (size_t i = 0; i < w->n_on && coming < w->n_want; i++)
		if (w->on[i]->place == WORKER_ON && w->on[i]->stalled && !w->on[i]->handing) {
			worker_turn_rest(w, w->on[i]);
			coming++;
		}
	for (size_t i = 0; i < w->n_on && coming < w->n_want; i++) {
		struct worker_stream *s = w->on[i], *next;

		if (s->place != WORKER_ON || s->handing || w->now - s->turn_at < WORKER_TURN_NS)
			continue;
		next = worker_turn_next(w);
		s->barren = s->made_to == s->turn_made ? s->barren + 1 : 0;
		s->turn_made = s->made_to;
		if (next->pass != s->pass || !s->ordered || worker_turn_before(next, s)) {
			worker_turn_rest(w, s);
			coming++;
		} else {
			s->turn_at = w->now; /* it is needed most, also of those that wait */
		}
	}
}

void
worker_turn_moved(struct worker_stream *s)
{
	if (s->wants)
		worker_turn_settle(s->pass, s->waits_at);
}

size_t
worker_threads(uint32_t slots)
{
	return 2 * (size_t)slots + WORKER_LENT;
}

void
worker_turns(struct worker *w)
{
	size_t slots = w->o.slots ? w->o.slots : 1;

	if (!w->n_want || w->over)
		return;
	slots += worker_turn_stuck(w);
	while (w->n_want && w->n_on < slots)
		worker_turn_give(w, worker_turn_next(w));
	if (w->n_want)
		worker_turn_room(w);
}

void
worker_turn_check(struct worker *w, struct worker_stream *s)
{
	bool wants = worker_turn_wants(s);

	if (wants && !s->wants)
		worker_turn_wait(w, s);
	else if (!wants && s->wants)
		worker_turn_wait_no_more(w, s);
	worker_turns(w);
}

void
worker_turn_over(struct worker *w, struct worker_stream *s)
{
	for (size_t i = 0; i < w->n_on; i++)
		if (w->on[i] == s)
			w->on[i] = w->on[--w->n_on];
	worker_clock(w, s);
	s->place = WORKER_OFF;
	worker_turn_check(w, s);
}

void
worker_rested(struct worker *w, int64_t now_ns, struct stream_key key)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (s && s->place == WORKER_RESTING)
		worker_turn_over(w, s);
}

int64_t
worker_turn_deadline(const struct worker *w)
{
	int64_t at = INT64_MAX;

	for (size_t i = 0; i < w->n_on && w->n_want; i++) {
		const struct worker_stream *s = w->on[i];
		int64_t due = s->turn_at + (s->place == WORKER_RESTING ? WORKER_STUCK_NS : WORKER_TURN_NS);

		if (s->place == WORKER_ON && s->handing)
			continue;
		if (due > w->now && due < at) /* past: nothing comes of it any more */
			at = due;
	}
	return at;
}

/* Iterations */

void
worker_turn_enter(struct worker *w, struct worker_stream *s)
{
	struct worker_pass *p = w->passes;

	while (p && p->iteration != s->key.iteration)
		p = p->next;
	if (!p) {
		p = mem_zalloc(sizeof *p);
		*p = (struct worker_pass){ .iteration = s->key.iteration, .next = w->passes };
		w->passes = p;
	}
	p->streams++;
	s->pass = p;
	worker_turn_check(w, s);
}

void
worker_turn_leave(struct worker *w, struct worker_stream *s)
{
	struct worker_pass **at = &w->passes;

	s->producing = PRODUCED_ALL; /* wants nothing */
	worker_turn_over(w, s);
	if (--s->pass->streams)
		return;
	while (*at != s->pass)
		at = &(*at)->next;
	*at = s->pass->next;
	worker_clock_leave(w, s->pass);
	mem_free(s->pass->waiting);
	mem_free(s->pass);
	s->pass = NULL;
}
