/* SPDX-License-Identifier: MIT
 *
 * Another number of consumers goes on where all of the earlier ones were once: each OPEN says from
 * which rounds its reader can go on (marks), with the elements that each stream had given by then.
 * When all consumers are there the pass begins with the greatest round that all of these have. Readers
 * without a position go along.
 */
#include "core/disp/disp_base.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

enum { BASE_LISTED = 4 }; /* consumers, and rounds of each, in an error */

/* Elements that a stream had given; numbers that are left out are 0. */
static uint64_t
base_number(const struct numbers *base, size_t stream)
{
	return stream < base->n ? base->v[stream].n : 0;
}

uint64_t
base_of(const struct iteration *it, size_t stream)
{
	return stream < it->base.n_of ? it->base.of[stream].n : 0;
}

static bool
base_same(const struct numbers *a, const struct numbers *b)
{
	for (size_t i = 0; i < a->n || i < b->n; i++)
		if (base_number(a, i) != base_number(b, i))
			return false;
	return true;
}

static const struct msg_mark *
base_mark(const struct marks *m, uint64_t rounds)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].rounds == rounds)
			return &m->v[i];
	return NULL;
}

/* The last rounds of a consumer, as "0/2 has 30, 40". */
static void
base_list(struct buf *b, const struct round_part *p, const struct marks *m)
{
	char *name = round_part_text(p);

	buf_printf(b, "%sconsumer %s has ", b->len ? "; " : "", name);
	if (m->n > BASE_LISTED)
		buf_printf(b, "..., ");
	for (size_t i = m->n > BASE_LISTED ? m->n - BASE_LISTED : 0; i < m->n; i++)
		buf_printf(b, "%llu%s", (unsigned long long)m->v[i].rounds, i + 1 < m->n ? ", " : "");
	mem_free(name);
}

static void
base_fail_all(struct disp *d, struct iteration *it, const char *text, const char *help)
{
	struct job *j = it->job;

	job_used(d, j);
	while (!ring_empty(&it->waiting))
		waiting_error(d, LIST_OF(it->waiting.next, struct waiting, node), ST_DATA, text, help);
	job_left(d, j);
}

static void
base_none(struct disp *d, struct iteration *it)
{
	struct buf b = { 0 };
	unsigned listed = 0;
	char *rounds, *text;

	for (struct list_node *n = it->waiting.next; n != &it->waiting && listed < BASE_LISTED; n = n->next) {
		const struct waiting *w = LIST_OF(n, struct waiting, node);

		if (w->marks.n && ++listed)
			base_list(&b, &w->asked.part, &w->marks);
	}
	rounds = buf_take(&b);
	text = mem_printf("the positions of job `%s` have no round in common: %s", it->job->opts.name, rounds);
	base_fail_all(d, it, text, "give positions that were saved by the same consumers, or none to start over");
	mem_free(rounds);
	mem_free(text);
}

static void
base_take(struct iteration *it, const struct msg_mark *m)
{
	it->base.begin = m->rounds;
	for (size_t i = 0; i < m->base.n; i++) {
		if (it->base.n_of == it->base.cap_of)
			it->base.of = mem_grow(it->base.of, &it->base.cap_of, it->base.n_of + 1, sizeof *it->base.of);
		it->base.of[it->base.n_of++] = m->base.v[i];
	}
}

/* Whether all who have a position have this round in it; *same: and with the same elements. */
static bool
base_in_all(const struct iteration *it, const struct msg_mark *m, bool *same)
{
	*same = true;
	for (const struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		const struct waiting *w = LIST_OF(n, struct waiting, node);
		const struct msg_mark *has = base_mark(&w->marks, m->rounds);

		if (w->marks.n && !has)
			return false;
		*same = *same && (!has || base_same(&has->base, &m->base));
	}
	return true;
}

/* The consumers whose positions are given must be all that there were: what another one had not written by then would
 * be lost. One that has begun already, with a position of its own, knows that they were. False: that is answered. */
static bool
base_all_given(struct disp *d, struct iteration *it)
{
	struct round_part one = { 0 }, p;
	struct intervals given = { 0 };
	bool begun = false, differ = false;
	char *text;

	for (struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		const struct waiting *w = LIST_OF(n, struct waiting, node);

		begun |= w->marks.n && !w->took.n;
		for (size_t i = 0; i < w->took.n; i++) {
			if (round_parse(w->took.v[i], &p, NULL))
				p = ROUND_ALL;
			differ |= one.of && one.of != p.of;
			one.of = p.of;
			intervals_add(&given, p.first, p.first + p.n);
		}
	}
	one = (struct round_part){ one.of, (uint32_t)intervals_gap(&given, 0), 1 };
	intervals_clear(&given);
	if (begun || (!differ && one.first >= one.of))
		return true;
	text = differ ? mem_strdup("the positions are of different passes: their consumers were not as many") :
		mem_printf("nobody has the position of consumer %u/%u of job `%s`: what it has not written would be lost",
			   one.first, one.of, it->job->opts.name);
	base_fail_all(d, it, text, differ ? "give positions that were saved by the same consumers, or none to start over" :
		      "--checkpoint FILE, again, gives it to one of the consumers");
	mem_free(text);
	return false;
}

bool
base_settle(struct disp *d, struct iteration *it)
{
	const struct waiting *first = NULL;
	const struct msg_mark *best = NULL;
	bool same = true, best_same = true;

	for (struct list_node *n = it->waiting.next; n != &it->waiting && !first; n = n->next)
		if (LIST_OF(n, struct waiting, node)->marks.n)
			first = LIST_OF(n, struct waiting, node);
	if (!first)
		return true;
	for (size_t i = 0; i < first->marks.n; i++)
		if ((!best || first->marks.v[i].rounds > best->rounds) && base_in_all(it, &first->marks.v[i], &same)) {
			best = &first->marks.v[i];
			best_same = same;
		}
	if (!best) {
		base_none(d, it);
		return false;
	}
	if (!best_same) {
		base_fail_all(d, it, "the positions are of different passes: their consumers had not the same elements",
			      "give positions that were saved by the same consumers, or none to start over");
		return false;
	}
	if (!base_all_given(d, it))
		return false;
	base_take(it, best);
	return true;
}

bool
base_refuses(struct disp *d, struct peer *p, const struct msg *m, const struct iteration *it)
{
	const struct marks *marks = &m->open.marks;
	const struct numbers own = { it->base.of, it->base.n_of };
	const struct msg_mark *has = base_mark(marks, it->base.begin);
	char *text;

	if (!marks->n || !it->gathered || !iter_live(it) || (has && base_same(&has->base, &own)))
		return false;
	text = mem_printf("job `%s` goes on from round %llu, which is not one of this position", it->job->opts.name,
			  (unsigned long long)it->base.begin);
	disp_error(d, p, m->req, ST_DATA, text, "give the position that its other consumers went on from, or none");
	mem_free(text);
	return true;
}

/* Another number of consumers */

bool
base_differs(const struct job *j, const struct msg *m, uint32_t places)
{
	return j->places > 1 && places > 1 && j->places != places && j->opts.checkpoint_rounds &&
		m->open.job.checkpoint_rounds;
}

void
base_unname(struct disp *d, struct job *j)
{
	hash_del_str(&d->jobs, j->opts.name);
	mem_free(j->opts.name);
	j->opts.name = mem_strdup("");
	disp_dirty(d, &j->dirty, DIRTY_ROW);
}

static bool
base_is_read(const struct job *j)
{
	for (size_t i = 0; i < j->n_iters; i++) {
		const struct iteration *it = j->iters[i];

		if (!ring_empty(&it->waiting))
			return true;
		for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next)
			if (LIST_OF(n, struct seat, node)->peer)
				return true;
	}
	return false;
}

bool
base_replaces(struct disp *d, struct peer *p, const struct msg *m, struct job *j, uint32_t places)
{
	char *text;

	if (base_is_read(j)) {
		text = mem_printf("job `%s` is read by consumers with %u places, and you asked for one of %u", j->opts.name,
				  j->places, places);
		disp_error(d, p, m->req, ST_TEMP, text, "another number can go on when all of these have ended");
		mem_free(text);
		return false;
	}
	job_used(d, j);
	for (size_t i = 0; i < j->n_iters; i++) {
		struct iteration *it = j->iters[i];

		if (!iter_live(it))
			continue;
		if (it->lister)
			ask_drop(d, ASK_LIST, it->lister, (struct stream_key){ it->id, 0, 0 }, 0);
		it->lister = NULL;
		iter_fail(d, it, ST_TEMP, mem_printf("another number of consumers has gone on: %u instead of %u", places, j->places),
			  NULL);
	}
	base_unname(d, j);
	job_left(d, j);
	return true;
}

void
base_fill(const struct iteration *it, struct msg_job *m)
{
	m->begin = it->base.begin;
	m->base.v = it->base.of;
	m->base.n = it->base.n_of;
}
