/* SPDX-License-Identifier: MIT
 *
 * Turns: which streams have a thread. There are as many threads as slots; a stream
 * beyond them waits until one rests.
 *
 *	wants -> on: has a thread ----------------------> over (ended, failed, handed, dropped)
 *	  ^       | is stalled, or has had its time, and another one wants
 *	  |       v
 *	  +--- resting: gives its thread up between two elements (work_rested)
 *
 * A stream that stalls because nobody takes what it made keeps its thread only as long
 * as no other stream wants one, and one without anything made always wants: so the
 * stream that a reader waits for gets its turn, whatever the others have.
 *
 * One that is told to rest may be in the middle of an element for long: it waits for
 * its input, or for a program. After a second its slot is lent to another stream. So
 * there are at most twice as many threads as slots, and WORK_LENT.
 */
#include "base/mem.h"
#include "core/work/work_inner.h"

enum { WORK_LENT = 2 };
#define WORK_TURN_NS 200000000ll  /* how long a stream may go on while another one wants */
#define WORK_STUCK_NS 1000000000ll

/* Its place in what an ordered reader takes next: the round, or the split. */
static uint64_t
work_turn_round(const struct work_stream *s)
{
	if (s->order == ORDER_SOURCE)
		return s->taken - (s->taken > s->first_split);
	return s->made_to / WORK_ROUND;
}

/* Whether a is to have a turn before b, two streams of one iteration. With an order it is the
 * one that the reader needs first, else the one that has waited longest. */
static bool
work_turn_before(const struct work_stream *a, const struct work_stream *b)
{
	uint64_t x = a->ordered ? work_turn_round(a) : a->turn, y = b->ordered ? work_turn_round(b) : b->turn;

	return x < y || (x == y && a->key.stream < b->key.stream);
}

/* Iterations take turns, and within them streams. */
static struct work_stream *
work_turn_next(const struct work *w)
{
	struct work_stream *best = NULL;

	for (size_t i = 0; i < w->streams.n; i++) {
		struct work_stream *s = w->streams.items[i].value;

		if (!s->wants)
			continue;
		if (!best || s->pass->turn < best->pass->turn ||
		    (s->pass == best->pass && work_turn_before(s, best)))
			best = s;
	}
	return best;
}

static bool
work_turn_wants(const struct work_stream *s)
{
	return s->place == WORK_OFF && s->producing == PRODUCING && (!s->stalled || s->handing);
}

static void
work_turn_give(struct work *w, struct work_stream *s)
{
	s->wants = false;
	w->n_want--;
	s->place = WORK_ON;
	s->turn = s->pass->turn = ++w->turns;
	s->turn_at = w->now;
	if (w->n_on == w->cap_on)
		w->on = mem_grow(w->on, &w->cap_on, w->n_on + 1, sizeof(struct work_stream *));
	w->on[w->n_on++] = s;
	if (s->begun)
		work_do(w, WORK_GO)->key = s->key;
	else
		work_stream_begin(w, s);
}

static void
work_turn_rest(struct work *w, struct work_stream *s)
{
	s->place = WORK_RESTING;
	s->turn_at = w->now;
	work_do(w, WORK_REST)->key = s->key;
}

/* Slots whose streams do not come to rest. */
static size_t
work_turn_stuck(const struct work *w)
{
	size_t n = 0, most = w->o.slots + WORK_LENT;

	for (size_t i = 0; i < w->n_on; i++)
		n += w->on[i]->place == WORK_RESTING && w->now - w->on[i]->turn_at >= WORK_STUCK_NS;
	return n < most ? n : most;
}

/* Those that wait need room: whoever can make some is told to. */
static void
work_turn_room(struct work *w)
{
	size_t coming = 0;

	for (size_t i = 0; i < w->n_on; i++)
		coming += w->on[i]->place == WORK_RESTING && w->now - w->on[i]->turn_at < WORK_STUCK_NS;
	for (size_t i = 0; i < w->n_on && coming < w->n_want; i++)
		if (w->on[i]->place == WORK_ON && w->on[i]->stalled && !w->on[i]->handing) {
			work_turn_rest(w, w->on[i]);
			coming++;
		}
	for (size_t i = 0; i < w->n_on && coming < w->n_want; i++) {
		struct work_stream *s = w->on[i], *next;

		if (s->place != WORK_ON || s->handing || w->now - s->turn_at < WORK_TURN_NS)
			continue;
		next = work_turn_next(w);
		if (next->pass != s->pass || !s->ordered || work_turn_before(next, s)) {
			work_turn_rest(w, s);
			coming++;
		} else {
			s->turn_at = w->now; /* it is needed most, also of those that wait */
		}
	}
}

size_t
work_threads(uint32_t slots)
{
	return 2 * (size_t)slots + WORK_LENT;
}

void
work_turns(struct work *w)
{
	size_t slots = w->o.slots ? w->o.slots : 1;

	if (!w->n_want || w->over)
		return;
	slots += work_turn_stuck(w);
	while (w->n_want && w->n_on < slots)
		work_turn_give(w, work_turn_next(w));
	if (w->n_want)
		work_turn_room(w);
}

void
work_turn_check(struct work *w, struct work_stream *s)
{
	bool wants = work_turn_wants(s);

	if (wants != s->wants) {
		s->wants = wants;
		w->n_want += wants ? 1 : (size_t)-1;
	}
	work_turns(w);
}

void
work_turn_over(struct work *w, struct work_stream *s)
{
	for (size_t i = 0; i < w->n_on; i++)
		if (w->on[i] == s)
			w->on[i] = w->on[--w->n_on];
	s->place = WORK_OFF;
	work_turn_check(w, s);
}

void
work_rested(struct work *w, int64_t now_ns, struct stream_key key)
{
	struct work_stream *s = work_stream_find(w, key);

	w->now = now_ns;
	if (s && s->place == WORK_RESTING)
		work_turn_over(w, s);
}

int64_t
work_turn_deadline(const struct work *w)
{
	int64_t at = INT64_MAX;

	for (size_t i = 0; i < w->n_on && w->n_want; i++) {
		const struct work_stream *s = w->on[i];
		int64_t due = s->turn_at + (s->place == WORK_RESTING ? WORK_STUCK_NS : WORK_TURN_NS);

		if (s->place == WORK_ON && s->handing)
			continue;
		if (due > w->now && due < at) /* past: nothing comes of it any more */
			at = due;
	}
	return at;
}

/* Iterations */

void
work_turn_enter(struct work *w, struct work_stream *s)
{
	struct work_pass *p = w->passes;

	while (p && p->iteration != s->key.iteration)
		p = p->next;
	if (!p) {
		p = mem_zalloc(sizeof *p);
		*p = (struct work_pass){ .iteration = s->key.iteration, .next = w->passes };
		w->passes = p;
	}
	p->streams++;
	s->pass = p;
	work_turn_check(w, s);
}

void
work_turn_leave(struct work *w, struct work_stream *s)
{
	struct work_pass **at = &w->passes;

	s->producing = PRODUCED_ALL; /* wants nothing */
	work_turn_over(w, s);
	if (--s->pass->streams)
		return;
	while (*at != s->pass)
		at = &(*at)->next;
	*at = s->pass->next;
	mem_free(s->pass);
	s->pass = NULL;
}
