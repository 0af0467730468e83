/* SPDX-License-Identifier: MIT
 *
 * Where the data stand after each step: a record of the reader, and elements behind it.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "host/feed/feed_fill_inner.h"

enum { BASE_ELEMENTS = 100000, BASE_STEPS = 64 }; /* on several hosts: all at the same step, for equal records */
enum { BASE_PART = 200 }; /* one part of the time in so many goes to records of the reader, */
#define BASE_NS 200000000ll /* but none gets older than that */

void
feed_fill_note(struct feed_fill *f)
{
	struct feed_place *p = &f->place[f->step % f->places];
	bool next = !f->part;

	feed_base_unref(&p->base);
	/* Where hosts have parts of a step, their records are to be the same. */
	*p = (struct feed_place){ .step = f->step, .rows = f->c.padded ? f->all : f->rows, .epoch = f->epoch,
		.base = next ? NULL : feed_base_ref(f->base), .skip = next ? 0 : f->behind, .count = f->count };
}

/* A new record, without a position yet, once the source has heard of all that was handled. Gives. */
static struct feed_base *
fill_base_new(struct feed_fill *f)
{
	struct feed_base *b = mem_zalloc(sizeof *b);

	feed_source_used(f->source, f->used);
	f->used = 0;
	b->refs = 1;
	return b;
}

void
feed_fill_base(struct feed_fill *f, int64_t now_ns)
{
	bool early = f->c.rounds ? (f->step + 1) % BASE_STEPS != 0 :
		now_ns < f->base_due_ns && f->behind < BASE_ELEMENTS;

	if (!f->c.resumable || !f->behind || early)
		return;
	struct feed_base *b = fill_base_new(f);
	int64_t began = clock_mono_ns();
	bool there = feed_source_position(f->source, &b->position);
	int64_t rest = (clock_mono_ns() - began) * BASE_PART;

	f->base_due_ns = now_ns + (there && rest < BASE_NS ? rest : BASE_NS);
	if (!there) {
		feed_base_unref(&b);
		return;
	}
	feed_base_unref(&f->base);
	f->base = b;
	f->behind = 0;
}

const struct feed_place *
feed_fill_place(const struct feed_fill *f, uint64_t step)
{
	const struct feed_place *p = &f->place[step % f->places];

	return p->step == step && p->epoch && f->c.resumable ? p : NULL;
}

void
feed_fill_exact(struct feed_fill *f, struct feed_place *p)
{
	struct reader_host *r = f->source ? feed_source_reader(f->source) : NULL;

	if (!r || p->epoch != f->epoch || !(p->base || p->skip))
		return;
	struct feed_base *b = fill_base_new(f);
	uint64_t n = reader_host_position_at(r, p->count, &b->position);
	if (!b->position.len || n > p->count) {
		feed_base_unref(&b);
		return;
	}
	feed_base_unref(&p->base);
	p->base = b;
	p->skip = p->count - n;
}

void
feed_fill_safe(struct feed_fill *f)
{
	struct reader_host *r = f->source ? feed_source_reader(f->source) : NULL;

	if (r)
		reader_host_saved(r);
}
