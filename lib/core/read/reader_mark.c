/* SPDX-License-Identifier: MIT
 *
 * Rounds from which another number of consumers can go on.
 *
 *	written up to a multiple of checkpoint_rounds -> reader_mark: kept in the positions that follow
 *	positions of other numbers of consumers       -> OPEN: all rounds that are in each of them
 *	JOB says with which of them the pass begins   -> reader_begin
 *
 * Fewer and fewer marks of old rounds are kept: a few of each power of two, so that consumers who
 * are far apart have one in common.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/read/reader_inner.h"
#include "value/round.h"

enum { MARK_LEVELS = 17, MARK_KEPT = 3 }; /* in each level */

static void
mark_clear(struct msg_mark *m)
{
	mem_free(m->base.v);
	*m = (struct msg_mark){ 0 };
}

void
reader_marks_clear(struct marks *m)
{
	for (size_t i = 0; i < m->n; i++)
		mark_clear(&m->v[i]);
	mem_free(m->v);
	*m = (struct marks){ 0 };
}

static void
mark_drop(struct marks *m, size_t i)
{
	mark_clear(&m->v[i]);
	memmove(m->v + i, m->v + i + 1, (--m->n - i) * sizeof *m->v);
}

/* Whether the round is a multiple of the interval times 2^level. */
static bool
mark_is_of(uint64_t rounds, uint64_t interval, unsigned level)
{
	return rounds % interval == 0 && rounds / interval % (1ull << level) == 0;
}

/* Forgets those that are one too many of all their levels. */
static void
mark_thin(struct reader *r)
{
	unsigned kept[MARK_LEVELS] = { 0 };
	size_t most = WIRE_MARKS_NUMBERS / (r->shards + 1), n = 0;

	for (size_t i = r->marks.n; i-- > 0;) {
		bool keep = i + 1 == r->marks.n;

		for (unsigned level = 0; level < MARK_LEVELS; level++)
			keep = keep || (kept[level] < MARK_KEPT &&
					mark_is_of(r->marks.v[i].rounds, r->o.job.checkpoint_rounds, level));
		for (unsigned level = 0; level < MARK_LEVELS; level++)
			kept[level] += mark_is_of(r->marks.v[i].rounds, r->o.job.checkpoint_rounds, level);
		if (!keep || (n >= 2 && n >= most) || n >= WIRE_MARKS_MAX)
			mark_drop(&r->marks, i);
		else
			n++;
	}
}

/* Takes the list of numbers. */
static void
mark_add(struct reader *r, struct msg_mark m)
{
	struct msg_mark *v;

	if (r->marks.n && r->marks.v[r->marks.n - 1].rounds >= m.rounds) {
		mem_free(m.base.v);
		return;
	}
	v = mem_array(r->marks.n + 1, sizeof *v);
	if (r->marks.n)
		memcpy(v, r->marks.v, r->marks.n * sizeof *v);
	mem_free(r->marks.v);
	v[r->marks.n++] = m;
	r->marks.v = v;
	mark_thin(r);
}

static struct numbers
mark_numbers(const struct numbers *n)
{
	return (struct numbers){ n->n ? mem_dup(n->v, n->n * sizeof *n->v) : NULL, n->n };
}

/* Elements of all consumers in the rounds of which all ours is written. False: we have written a part of a
 * round, or what fills no round of its stream. */
static bool
mark_written(struct reader *r, struct numbers *out)
{
	uint64_t places = r->stats.places, of = r->places;
	bool whole = true;

	*out = (struct numbers){ mem_array(r->shards ? r->shards : 1, sizeof *out->v), r->shards };
	for (uint32_t i = 0; i < r->shards && whole; i++) {
		const struct reader_stream *s = reader_stream_get(r, i);
		uint64_t n = s->unwritten ? s->written : s->pos;

		whole = n % places == 0 && !(s->made && n > s->own) && n / places < (INT64_MAX - r->base.v[i].n) / of;
		out->v[i].n = r->base.v[i].n + n / places * of;
	}
	if (!whole)
		mem_free(out->v);
	return whole;
}

bool
reader_marks(const struct reader *r)
{
	return r->o.job.checkpoint && r->o.job.checkpoint_rounds && r->rounds;
}

uint64_t
reader_mark_in(const struct reader_stats *s, uint64_t every, uint64_t n)
{
	uint64_t rounds, left;

	if (!every || !s->marks)
		return UINT64_MAX;
	rounds = s->begin.rounds + (s->before + n) / s->places;
	left = every - rounds % every;
	return left > UINT64_MAX / ROUND_PLACES_MAX ? UINT64_MAX : left * s->places - (s->before + n) % s->places;
}

void
reader_mark(struct reader *r, uint64_t bytes, uint64_t elements)
{
	struct msg_mark m = { .bytes = bytes, .elements = elements };
	uint64_t had = r->stats.before + r->stats.written;

	m.rounds = r->begin + had / r->stats.places;
	if (reader_marks(r) && r->aligned && had % r->stats.places == 0 &&
	    m.rounds % r->o.job.checkpoint_rounds == 0 && mark_written(r, &m.base))
		mark_add(r, m);
}

/* Positions of others */

static const struct msg_mark *
mark_find(const struct marks *m, uint64_t rounds)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].rounds == rounds)
			return &m->v[i];
	return NULL;
}

/* "0, 10, 20", the last few. Gives. */
static char *
mark_list(const struct marks *m)
{
	struct buf b = { 0 };

	for (size_t i = m->n > 4 ? m->n - 4 : 0; i < m->n; i++)
		buf_printf(&b, "%s%llu", !b.len ? m->n > 4 ? "..., " : "" : ", ", (unsigned long long)m->v[i].rounds);
	return buf_take(&b);
}

enum status
reader_marks_meet(struct marks *all, struct marks *more, struct err *e)
{
	char *has = mark_list(all), *other = mark_list(more);
	bool same = true;

	for (size_t i = all->n; i-- > 0;) {
		const struct msg_mark *m = mark_find(more, all->v[i].rounds);

		same = same && (!m || (m->base.n == all->v[i].base.n &&
				       !memcmp(m->base.v, all->v[i].base.v, m->base.n * sizeof *m->base.v)));
		if (!m)
			mark_drop(all, i);
	}
	if (!all->n) {
		err_set(e, ST_DATA, "the positions have no round in common: one has rounds %s, another one %s", has, other);
		err_help(e, "give positions that were saved by the same consumers");
	} else if (!same) {
		err_set(e, ST_DATA, "the positions are of different passes: their consumers had not the same elements");
		err_help(e, "give positions that were saved by the same consumers");
	}
	mem_free(has);
	mem_free(other);
	return all->n && same ? ST_OK : ST_DATA;
}

/* Where the pass begins */

void
reader_begin(struct reader *r, const struct msg_job *m)
{
	const struct msg_mark *from = r->given ? mark_find(&r->marks, m->begin) : NULL;
	struct msg_mark first = { .rounds = m->begin };

	r->begin = m->begin;
	r->places = m->places;
	mem_free(r->base.v);
	r->base = (struct numbers){ mem_array(r->shards ? r->shards : 1, sizeof *r->base.v), r->shards };
	for (uint32_t i = 0; i < r->shards && i < m->base.n; i++)
		r->base.v[i] = m->base.v[i];
	if (from) {
		first.bytes = from->bytes;
		first.elements = from->elements;
	}
	if (!r->o.position) { /* else it has marks of its own */
		reader_marks_clear(&r->marks);
		if (reader_marks(r)) {
			struct msg_mark kept = first;

			kept.base = mark_numbers(&r->base);
			mark_add(r, kept);
		}
	}
	r->stats.begin = first;
	r->stats.given = r->given;
	r->stats.marks = reader_marks(r);
}

void
reader_marks_open(const struct reader *r, struct msg_open *m)
{
	struct marks out = { 0 };

	if (r->given) {
		out = (struct marks){ mem_array(r->marks.n ? r->marks.n : 1, sizeof *out.v), r->marks.n };
		for (size_t i = 0; i < r->marks.n; i++)
			out.v[i] = (struct msg_mark){ .rounds = r->marks.v[i].rounds, .base = r->marks.v[i].base };
		m->took = r->took;
	} else if (r->o.position && r->have_base.n) {
		out = (struct marks){ mem_array(1, sizeof *out.v), 1 };
		out.v[0] = (struct msg_mark){ .rounds = r->have_begin, .base = r->have_base };
	}
	m->marks = out;
}
