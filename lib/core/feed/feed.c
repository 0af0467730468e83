/* SPDX-License-Identifier: MIT
 *
 * Rows into steps, steps to cores, and what cores say they have done.
 */
#include "core/feed/feed.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/feed/feed_inner.h"

struct feed *
feed_new(const struct feed_conf *c, int64_t now_ns)
{
	struct feed *f = mem_zalloc(sizeof *f);

	f->c = *c;
	f->core = mem_array(c->cores, sizeof *f->core);
	f->slot = mem_array(c->slots, sizeof *f->slot);
	f->why = FEED_END_STEPS;
	f->hold = UINT64_MAX;
	f->cause_at = INT64_MAX;
	f->epoch = 1;
	f->now = f->started_ns = now_ns;
	feed_set_from(f, c->from, c->until);
	return f;
}

void
feed_free(struct feed **fp)
{
	struct feed *f = *fp;

	*fp = NULL;
	if (!f)
		return;
	feed_loop_free(f);
	mem_free(f->core);
	mem_free(f->slot);
	mem_free(f->fault);
	mem_free(f->actions);
	mem_free(f);
}

void
feed_set_rows(struct feed *f, uint64_t rows, uint32_t slots)
{
	f->c.rows = rows;
	f->c.slots = slots;
	mem_free(f->slot);
	f->slot = mem_array(slots, sizeof *f->slot);
}

void
feed_set_from(struct feed *f, uint64_t from, uint64_t until)
{
	f->c.from = from;
	f->c.until = until;
	f->filled = f->done = f->answered = from;
	/* A signal that came before the cores holds. */
	f->last = until < from || f->why == FEED_END_SIGNAL ? from : until;
	f->fixed = f->last != UINT64_MAX;
	for (uint32_t i = 0; i < f->c.cores; i++) {
		struct feed_core *k = &f->core[i];

		k->told = k->done = k->given = k->answered = from;
	}
	feed_loop_begin(f);
}

uint32_t
feed_epoch(const struct feed *f)
{
	return f->epoch;
}

void
feed_set_epoch(struct feed *f, uint32_t epoch)
{
	f->epoch = epoch;
}

/* Actions */

struct feed_action *
feed_do(struct feed *f, enum feed_action_kind kind, uint32_t core)
{
	if (f->first_action == f->n_action)
		f->first_action = f->n_action = 0;
	f->actions = mem_grow(f->actions, &f->cap_action, f->n_action + 1, sizeof *f->actions);
	struct feed_action *a = &f->actions[f->n_action++];
	memset(a, 0, sizeof *a);
	a->kind = kind;
	a->core = core;
	return a;
}

bool
feed_acts(const struct feed *f)
{
	return f->first_action != f->n_action;
}

bool
feed_action(struct feed *f, struct feed_action *out)
{
	if (!feed_acts(f))
		return false;
	*out = f->actions[f->first_action++];
	return true;
}

/* Rows in */

static uint64_t
feed_least(const struct feed *f, size_t total)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < f->c.cores; i++) {
		uint64_t v = *(const uint64_t *)((const char *)&f->core[i] + total);
		if (v < least)
			least = v;
	}
	return least;
}

bool
feed_full(const struct feed *f)
{
	return f->filled >= f->last || f->leave_ns || f->over;
}

uint64_t
feed_room(const struct feed *f)
{
	if (feed_full(f) || f->filled - feed_least(f, offsetof(struct feed_core, given)) >= f->c.slots)
		return 0;
	return f->c.rows - f->real;
}

uint32_t
feed_slot(const struct feed *f, uint64_t *rows)
{
	*rows = f->real;
	return (uint32_t)((f->filled - f->c.from) % f->c.slots);
}

void
feed_part(const struct feed *f, uint64_t real, uint32_t core, struct feed_batch *out)
{
	uint64_t n = f->c.rows, k = f->c.parts ? f->c.parts : f->c.cores, part = f->c.part + core;

	if (f->c.copy) {
		out->first = 0;
		out->rows = real < n && f->c.tail == FEED_SHORT ? real : n;
		out->valid = real;
	} else if (real < n && f->c.tail == FEED_SHORT) {
		uint64_t each = real / k, more = real % k;

		out->first = part * each + (part < more ? part : more);
		out->rows = out->valid = each + (part < more);
	} else {
		uint64_t each = n / k;

		out->first = part * each;
		out->rows = each;
		out->valid = real <= out->first ? 0 : real - out->first < each ? real - out->first : each;
	}
}

/* The step that was being filled is complete. */
static void
feed_filled(struct feed *f, bool last_of_epoch)
{
	uint64_t rows;
	struct feed_slot_ *s = &f->slot[feed_slot(f, &rows)];
	uint64_t after = f->filled + 1;

	*s = (struct feed_slot_){ .step = f->filled, .real = f->real, .epoch = f->epoch };
	if (last_of_epoch)
		s->flags |= FEED_LAST_OF_EPOCH;
	f->filled = after;
	f->real = 0;
	f->hollow = false;
}

void
feed_hollow(struct feed *f)
{
	f->hollow = true;
}

void
feed_put(struct feed *f, int64_t now_ns, uint64_t rows)
{
	f->now = now_ns;
	f->real += rows;
	if (f->real < f->c.rows)
		return;
	feed_filled(f, false);
	feed_step(f);
}

static void
feed_tail(struct feed *f)
{
	if ((f->real || f->hollow) && (f->c.tail == FEED_PAD || f->c.tail == FEED_SHORT) && f->filled < f->last)
		feed_filled(f, true);
	f->real = 0;
}

void
feed_tail_end(struct feed *f, int64_t now_ns)
{
	f->now = now_ns;
	feed_tail(f);
	feed_step(f);
}

void
feed_short(struct feed *f, int64_t now_ns)
{
	f->now = now_ns;
	if (!feed_full(f))
		feed_filled(f, false);
	feed_step(f);
}

void
feed_epoch_end(struct feed *f, int64_t now_ns, bool last)
{
	f->now = now_ns;
	feed_tail(f);
	f->epoch += !last;
	if (last && f->filled < f->last) {
		f->last = f->filled;
		f->fixed = true;
		f->why = FEED_END_DATA;
	}
	feed_step(f);
}

/* Steps out */

static void
feed_tell(struct feed *f, uint32_t core)
{
	struct feed_core *k = &f->core[core];
	struct feed_slot_ *s = &f->slot[(k->told - f->c.from) % f->c.slots];
	struct feed_action *a = feed_do(f, FEED_DO_BATCH, core);

	a->batch = (struct feed_batch){ .step = s->step, .epoch = s->epoch, .flags = feed_loop_tell(f, s),
		.slot = (uint32_t)((k->told - f->c.from) % f->c.slots) };
	feed_part(f, s->real, core, &a->batch);
	if (f->fixed && k->told + 1 == f->last)
		a->batch.flags |= FEED_LAST | FEED_LAST_OF_LOOP;
	a->step = s->step;
	if (k->told == k->done)
		k->busy_ns = f->now;
	k->told++;
	k->idle_ns = 0;
	k->slow_said = f->dry_said = false;
	feed_loop_turn(f, core, a->batch.flags);
}

/* Whether the core may be told of its next step. */
static bool
feed_may_tell(const struct feed *f, const struct feed_core *k)
{
	return k->joined && !k->leaving && !k->gone && !k->bye && !k->said &&
	       k->told < f->filled && k->told < f->last && k->told < f->hold && k->told < k->wanted &&
	       k->told < k->done + f->c.prefetch && k->told <= f->done + f->c.prefetch;
}

void
feed_step(struct feed *f)
{
	if (f->leave_ns || f->over) {
		feed_finish(f);
		return;
	}
	for (uint32_t i = 0; i < f->c.cores; i++) {
		struct feed_core *k = &f->core[i];

		feed_loop_start(f, i);
		while (feed_may_tell(f, k))
			feed_tell(f, i);
		if (k->joined && !k->leaving && !k->idle_ns && k->done == k->told && k->wanted > k->told && k->told < f->last)
			k->idle_ns = f->now;
		if (k->ended && !k->idle_ns && k->done == k->told)
			k->idle_ns = f->now;
	}
	feed_finish(f);
}

/* Messages of cores */

void
feed_join(struct feed *f, int64_t now_ns, uint32_t core, int64_t pid)
{
	f->now = now_ns;
	f->core[core].pid = pid;
	f->core[core].joined = true;
	f->core[core].busy_ns = now_ns;
	feed_step(f);
}

bool
feed_joined(const struct feed *f)
{
	for (uint32_t i = 0; i < f->c.cores; i++)
		if (!f->core[i].joined)
			return false;
	return true;
}

static void
feed_done_step(struct feed *f)
{
	bool last = feed_loop_done(f, ++f->done);
	struct feed_action *a = feed_do(f, FEED_DO_DONE, FEED_ANY_CORE);

	a->step = f->done;
	a->batch.flags = last ? FEED_LAST_OF_LOOP : 0;
}

/* The least that cores have done, or answered, may have become more. */
static void
feed_progress(struct feed *f)
{
	uint64_t done = feed_least(f, offsetof(struct feed_core, done));
	uint64_t answered = f->c.results ? feed_least(f, offsetof(struct feed_core, answered)) : done;

	for (; f->c.results && f->answered < answered; f->answered++)
		feed_do(f, FEED_DO_RESULTS, FEED_ANY_CORE)->step = f->answered;
	while (f->done < done && (!f->c.results || f->done < f->answered))
		feed_done_step(f);
}

/* A core says it has done a step that it gave no result of, though results are wanted. */
static enum status
feed_check_answer(const struct feed *f, uint32_t core, uint64_t done, struct err *e)
{
	const struct feed_core *k = &f->core[core];

	if (!f->c.results || k->answered >= done)
		return ST_OK;
	err_set(e, ST_DATA, "core %u gave no result for step %llu", core, (unsigned long long)k->answered);
	err_help(e, "--results asks for one result a step: feed.put(...) before the next batch");
	return ST_DATA;
}

static void
feed_core_done(struct feed *f, uint32_t core, uint64_t done)
{
	struct feed_core *k = &f->core[core];

	if (done <= k->done)
		return;
	k->done = done;
	k->busy_ns = f->now;
	k->slow_said = false;
	feed_progress(f);
}

enum status
feed_ready(struct feed *f, int64_t now_ns, uint32_t core, const struct feed_ready *m, struct err *e)
{
	struct feed_core *k = &f->core[core];

	f->now = now_ns;
	if (m->done > k->told || m->given > k->told || m->done < k->done || m->given < k->given)
		return err_set(e, ST_PROTO, "core %u counts steps that it was not given", core);
	if (feed_check_answer(f, core, m->done, e))
		return ST_DATA;
	k->given = m->given;
	if (m->wanted > k->wanted)
		k->wanted = m->wanted;
	feed_core_done(f, core, m->done);
	feed_step(f);
	return ST_OK;
}

enum status
feed_result(struct feed *f, int64_t now_ns, uint32_t core, uint64_t step, struct err *e)
{
	struct feed_core *k = &f->core[core];

	f->now = now_ns;
	if (!f->c.results) {
		err_set(e, ST_DATA, "core %u gave a result, and none was asked for", core);
		err_help(e, "--results step, or --results rows");
		return ST_DATA;
	}
	if (step != k->answered || step >= k->told)
		return err_set(e, ST_DATA, "core %u gave a result for step %llu, and that of step %llu is next", core,
			       (unsigned long long)step, (unsigned long long)k->answered);
	k->answered++;
	feed_progress(f);
	feed_step(f);
	return ST_OK;
}

static uint64_t
feed_most_told(const struct feed *f)
{
	uint64_t most = f->c.from;

	for (uint32_t i = 0; i < f->c.cores; i++)
		if (f->core[i].told > most)
			most = f->core[i].told;
	return most;
}

/* The first step at which all cores can end: none was told of more, and it ends a loop. */
static uint64_t
feed_earliest(const struct feed *f)
{
	return feed_loop_round(f, feed_most_told(f));
}

void
feed_stop(struct feed *f, int64_t now_ns, enum feed_end_why why, const char *text)
{
	feed_stop_at(f, now_ns, feed_earliest(f), why, text);
	f->fixed = true;
	feed_step(f);
}

uint64_t
feed_hold(struct feed *f, int64_t now_ns)
{
	f->now = now_ns;
	if (f->hold == UINT64_MAX)
		f->hold = feed_earliest(f);
	return f->hold;
}

void
feed_stop_at(struct feed *f, int64_t now_ns, uint64_t step, enum feed_end_why why, const char *text)
{
	uint64_t told = feed_most_told(f);

	f->now = now_ns;
	f->hold = UINT64_MAX;
	if (step < told)
		step = told;
	if (step < f->last) {
		f->last = step;
		f->why = why;
		f->fixed = true;
		snprintf(f->text, sizeof f->text, "%s", text ? text : "");
	}
	feed_step(f);
}

void
feed_bye(struct feed *f, int64_t now_ns, uint32_t core, uint64_t done)
{
	struct feed_core *k = &f->core[core];
	struct err e;

	f->now = now_ns;
	if (k->bye)
		return;
	if (done > k->told)
		done = k->told;
	if (!k->leaving && f->c.cores == 1 && !k->said) {
		/* Leaving early leaves nobody waiting. */
		f->last = done > f->done ? done : f->done;
		f->fixed = true;
		f->why = FEED_END_STOP;
		k->told = f->last;
		k->leaving = true;
	}
	if (!f->leave_ns && feed_check_answer(f, core, done, &e))
		feed_core_failed(f, now_ns, core, FEED_SAID, &e);
	else
		feed_core_done(f, core, done);
	k->given = k->told;
	k->bye = true;
	if (!f->leave_ns && !k->said && !((k->leaving || f->fixed) && done >= (k->turning ? k->told : f->last))) {
		err_set(&e, ST_TEMP, "core %u left after step %llu, while others go on", core, (unsigned long long)done);
		err_help(&e, "feed.stop() ends all cores at the same step");
		feed_core_failed(f, now_ns, core, FEED_SILENT, &e);
	}
	feed_step(f);
}

const char *
feed_name(struct feed *f, uint32_t core)
{
	if (f->core[core].pid)
		snprintf(f->name, sizeof f->name, "core %u (rank %u, pid %lld)", core, f->c.rank + core,
			 (long long)f->core[core].pid);
	else
		snprintf(f->name, sizeof f->name, "core %u", core);
	return f->name;
}

uint64_t
feed_done(const struct feed *f)
{
	return f->done;
}

uint32_t
feed_last(const struct feed *f)
{
	uint32_t last = 0, n = 0;

	for (uint32_t i = 1; i < f->c.cores; i++)
		if (f->core[i].done < f->core[last].done)
			last = i;
	for (uint32_t i = 0; i < f->c.cores; i++)
		n += f->core[i].done == f->core[last].done;
	return n == 1 && f->c.cores > 1 ? last : FEED_ANY_CORE;
}

uint64_t
feed_core_step(const struct feed *f, uint32_t core)
{
	return f->core[core].done;
}
