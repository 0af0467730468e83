/* SPDX-License-Identifier: MIT */
#include "host/work/produce_times.h"

#include "base/clock.h"
#include "base/mem.h"

static struct produce_time *
produce_times_of(struct produce_times *t, uint32_t place)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].place == place)
			return &t->v[i];
	t->v = mem_grow(t->v, &t->cap, t->n + 1, sizeof *t->v);
	t->v[t->n] = (struct produce_time){ .place = place };
	return &t->v[t->n++];
}

/* Time in an operator and all before it, with the call that is under way. */
static int64_t
produce_times_all(const struct op_inst *i, int64_t now)
{
	int64_t began = (int64_t)op_stat_get(&i->stats.began);

	return (int64_t)op_stat_get(&i->stats.ns) + (began && now > began ? now - began : 0);
}

static void
produce_times_walk(struct produce_times *t, const struct op_inst *i, int64_t now)
{
	for (; i; i = i->n_in ? i->in[0] : NULL) {
		int64_t own = produce_times_all(i, now);

		for (size_t k = 0; k < i->n_in; k++) {
			own -= produce_times_all(i->in[k], now);
			if (k)
				produce_times_walk(t, i->in[k], now);
		}
		if (!i->n_in)
			own -= (int64_t)blocked_ns(&t->splits);
		/* Below 0, or less than before: a thread that runs ahead worked meanwhile, or it was
		 * between two counts. */
		struct produce_time *row = produce_times_of(t, i->node->place);
		uint64_t elements = op_stat_get(&i->stats.elements);
		if (own > 0 && (uint64_t)own > row->spent)
			row->spent = (uint64_t)own;
		if (elements > row->elements)
			row->elements = elements;
	}
}

/* The operator that its thread is in: the one whose call is under way and calls no other. */
static void
produce_times_call(struct produce_times *t, int64_t now)
{
	const struct op_inst *i = t->chain, *in = i;
	int64_t began = 0;

	t->call_ns = 0;
	if (blocked_is(&t->splits))
		return;
	while (in && (began = (int64_t)op_stat_get(&in->stats.began)) != 0) {
		i = in;
		t->call_ns = now > began ? (uint64_t)(now - began) : 0;
		in = NULL;
		for (size_t k = 0; k < i->n_in && !in; k++)
			in = op_stat_get(&i->in[k]->stats.began) ? i->in[k] : NULL;
	}
	t->call_place = t->call_ns ? i->node->place : 0;
}

void
produce_times_look(struct produce_times *t)
{
	int64_t now = clock_mono_ns();

	produce_times_walk(t, t->chain, now);
	produce_times_call(t, now);
}

void
produce_times_tell(struct produce_times *t, void (*tell)(void *arg, const struct msg_op_time *t), void *arg)
{
	for (size_t i = 0; i < t->n; i++) {
		struct produce_time *row = &t->v[i];
		struct msg_op_time now = { row->place, row->spent - row->told, row->elements - row->told_elements };

		if (now.ns || now.elements)
			tell(arg, &now);
		row->told = row->spent;
		row->told_elements = row->elements;
	}
}

void
produce_times_clear(struct produce_times *t)
{
	mem_free(t->v);
	*t = (struct produce_times){ 0 };
}
