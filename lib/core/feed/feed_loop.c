/* SPDX-License-Identifier: MIT
 *
 * Loops: steps between two stops of the training loop. Where a loop ends is settled when the first core
 * is told of its first step, so that all cores hear the same.
 */
#include "base/mem.h"
#include "core/feed/feed_inner.h"

static bool
loop_are(const struct feed *f)
{
	return f->c.loop || f->c.loop_ns;
}

/* Steps of the next loop. */
static uint64_t
loop_length(const struct feed *f)
{
	const struct feed_loops *l = &f->loops;
	uint64_t steps = 0, n = l->count < FEED_LOOPS_KEPT ? l->count : FEED_LOOPS_KEPT;
	double ns = 0;

	if (f->c.loop)
		return f->c.loop;
	for (uint64_t i = 0; i < n; i++) {
		steps += l->took[i].steps;
		ns += (double)l->took[i].ns;
	}
	double length = n && ns > 0 ? (double)f->c.loop_ns * (double)steps / ns : 1;
	return length < 1 ? 1 : length > 1e15 ? (uint64_t)1e15 : (uint64_t)length;
}

void
feed_loop_begin(struct feed *f)
{
	struct feed_loops *l = &f->loops;

	l->end = l->next = l->begun = f->c.from;
	l->begun_ns = 0;
}

void
feed_loop_free(struct feed *f)
{
	mem_free(f->loops.open);
}

unsigned
feed_loop_tell(struct feed *f, struct feed_slot_ *s)
{
	struct feed_loops *l = &f->loops;

	if (!loop_are(f) || s->step < l->next)
		return s->flags;
	if (!l->begun_ns)
		l->begun_ns = f->now;
	l->next = s->step + 1;
	if (s->step >= l->end)
		l->end += loop_length(f);
	if (l->next < l->end)
		return s->flags;
	l->open = mem_grow(l->open, &l->cap, l->n + 1, sizeof *l->open);
	l->open[l->n++] = l->end;
	return s->flags |= FEED_LAST_OF_LOOP;
}

bool
feed_loop_done(struct feed *f, uint64_t step)
{
	struct feed_loops *l = &f->loops;

	if (!l->n || l->open[0] != step)
		return false;
	l->took[l->count % FEED_LOOPS_KEPT].steps = step - l->begun;
	l->took[l->count % FEED_LOOPS_KEPT].ns = f->now - l->begun_ns;
	l->count++;
	l->begun = step;
	l->begun_ns = f->now;
	for (size_t i = 1; i < l->n; i++)
		l->open[i - 1] = l->open[i];
	l->n--;
	return true;
}

uint64_t
feed_loop_round(const struct feed *f, uint64_t last)
{
	return loop_are(f) && last > f->c.from ? f->loops.end : last;
}

void
feed_loop_turn(struct feed *f, uint32_t core, unsigned flags)
{
	struct feed_core *k = &f->core[core];

	if (!f->c.each_loop || !(flags & FEED_LAST_OF_LOOP))
		return;
	k->leaving = k->ended = k->turning = true;
	feed_idle_end(f, core);
	feed_do(f, FEED_DO_END, core);
}

/* A core that has ended with its loop is started when it has another one to do. */
void
feed_loop_start(struct feed *f, uint32_t core)
{
	struct feed_core *k = &f->core[core];

	if (!k->away || f->cause_at != INT64_MAX || k->told >= f->filled || k->told >= f->last ||
	    k->told >= f->hold)
		return;
	uint64_t told = k->told;
	*k = (struct feed_core){ .told = told, .done = told, .given = told, .wanted = told, .answered = told };
	f->started_ns = f->now;
	feed_do(f, FEED_DO_START, core)->step = told;
}
