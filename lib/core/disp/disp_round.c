/* SPDX-License-Identifier: MIT
 *
 * Rounds: which consumers a pass waits for, and elements that do not fill a round.
 *
 *	consumers OPEN -> all places are spoken for: views -> units, streams, readers
 *	a stream ends  -> its whole rounds are known; what is left of it waits for its tail
 *	all have ended -> tails: which of those elements go to which place
 *
 * A view without a reader is not missed before the others stand still.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_inner.h"

#define ROUND_WAIT_NS 300000000000ll /* for a consumer that is away */

bool
round_is(const struct iteration *it)
{
	return it->job->places > 1;
}

bool
round_abandoned(const struct iteration *it)
{
	return round_is(it) && it->state == ITER_FAILED && it->code == ST_TEMP;
}

bool
round_is_void(const struct job *j, uint32_t epoch)
{
	bool gathered = j->places < 2;

	for (size_t i = 0; i < j->n_iters; i++) {
		gathered |= j->iters[i]->gathered;
		if (j->iters[i]->epoch == epoch && round_abandoned(j->iters[i]))
			return true;
	}
	return !gathered && !j->users;
}

static int64_t
round_wait(const struct iteration *it)
{
	return it->job->opts.seat_wait ? it->job->opts.seat_wait : ROUND_WAIT_NS;
}

static int64_t
round_later(int64_t at, int64_t ns)
{
	return at > INT64_MAX - ns ? INT64_MAX : at + ns;
}

int64_t
round_gather_until(const struct disp *d, const struct iteration *it)
{
	return round_later(d->now, round_wait(it));
}

/* Gathering */

static int
round_compare(const void *a, const void *b)
{
	const struct round_part *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

bool
round_gather(struct disp *d, struct iteration *it)
{
	uint32_t covered = 0;

	if (it->gathered)
		return true;
	it->n_views = 0;
	for (struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		const struct round_part *p = &LIST_OF(n, struct waiting, node)->asked.part;

		if (it->n_views == it->cap_views)
			it->views = mem_grow(it->views, &it->cap_views, it->n_views + 1, sizeof *it->views);
		it->views[it->n_views++] = *p;
		covered += p->n;
	}
	if (covered < it->job->places) {
		it->n_views = 0;
		return false;
	}
	if (!base_settle(d, it)) {
		it->n_views = 0;
		return false;
	}
	qsort(it->views, it->n_views, sizeof *it->views, round_compare);
	it->gathered = true;
	for (struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		struct waiting *w = LIST_OF(n, struct waiting, node);

		waiting_until(d, w, d->now + w->wait_ms * 1000000ll);
	}
	disp_dirty(d, &it->dirty, DIRTY_ROW);
	return true;
}

/* Text for people: the places that nobody has asked for. Gives. */
char *
round_missing(const struct iteration *it)
{
	struct buf b = { 0 };
	uint32_t listed = 0;

	for (uint32_t place = 0; place < it->job->places && listed < 8; place++) {
		struct round_part one = { it->job->places, place, 1 };
		bool there = false;

		for (struct list_node *n = it->waiting.next; n != &it->waiting && !there; n = n->next)
			there = round_meet(&LIST_OF(n, struct waiting, node)->asked.part, &one);
		if (!there)
			buf_printf(&b, "%s%u", listed++ ? ", " : "", place);
	}
	if (listed == 8)
		buf_printf(&b, ", ...");
	return buf_take(&b);
}

char *
round_part_text(const struct round_part *p)
{
	if (p->n == 1)
		return mem_printf("%u/%u", p->first, p->of);
	return mem_printf("%u-%u/%u", p->first, p->first + p->n - 1, p->of);
}

char *
round_view_text(const struct iteration *it, size_t view)
{
	return round_part_text(&it->views[view]);
}

/* A reader that has some of these places, or has asked for them; *part is what it has. */
static const struct peer *
round_other(const struct iteration *it, const struct asked *asked, struct round_part *part)
{
	for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		*part = it->views[r->view];
		if (r->peer && round_meet(part, &asked->part))
			return r->peer;
	}
	for (const struct list_node *n = it->waiting.next; n != &it->waiting; n = n->next) {
		*part = LIST_OF(n, struct waiting, node)->asked.part;
		if (round_meet(part, &asked->part))
			return LIST_OF(n, struct waiting, node)->peer;
	}
	return NULL;
}

bool
round_refuses(struct disp *d, struct peer *p, uint64_t req, const struct iteration *it, const struct asked *asked)
{
	struct round_part has = asked->part;
	const struct peer *other;
	uint32_t view;
	char *me, *text, *place;

	if (!round_is(it) || !iter_live(it))
		return false;
	me = round_part_text(&asked->part);
	other = round_other(it, asked, &has);
	place = round_part_text(&has);
	if (other && has.first == asked->part.first && has.n == asked->part.n) {
		text = mem_printf("consumer %s of job `%s` is there already: process %u on %s", me, it->job->opts.name, other->pid,
				  str_or_empty(other->host));
		disp_error(d, p, req, ST_TEMP, text, "it can be replaced when it has ended");
	} else if (other) {
		text = mem_printf("consumer %s wants places that consumer %s of job `%s` has", me, place, it->job->opts.name);
		disp_error(d, p, req, ST_USAGE, text, "each place in a round is for one consumer");
	} else if (it->gathered && !iter_view_of(it, &asked->part, &view)) {
		mem_free(place);
		place = round_part_text(&it->views[0]);
		text = mem_printf("this pass of job `%s` began with other consumers than %s: with %s and so on", it->job->opts.name,
				  me, place);
		disp_error(d, p, req, ST_USAGE, text, "who takes the place of another one has the same --consumer");
	} else {
		text = NULL;
	}
	bool refused = text;
	mem_free(me);
	mem_free(place);
	mem_free(text);
	return refused;
}

/* Tails */

/* Elements of a stream that do not fill a round. */
static uint64_t
round_rest(const struct stream *s)
{
	return views_rest(s, s->length);
}

static void
round_set_tail(struct disp *d, struct stream *s, uint64_t at, uint64_t n, uint64_t all)
{
	s->tail_known = true;
	s->tail_at = at;
	s->tail_all = s->iter->job->opts.tail == TAIL_SPREAD ? all : 0;
	s->tail_n = (uint32_t)n;
	stream_changed(d, s);
	if (s->place == STREAM_ASSIGNED) /* its worker is told */
		ask_put(d, ASK_ASSIGN, s->worker, stream_key_of(s), 0);
}

static bool
round_fails(struct disp *d, struct iteration *it, uint64_t rest)
{
	if (!rest || it->job->opts.tail != TAIL_FAIL)
		return false;
	iter_fail(d, it, ST_DATA,
		  mem_printf("the last round has %llu of %u elements", (unsigned long long)rest, it->job->places),
		  mem_strdup("--tail drop leaves them out, --tail pad fills it up with null"));
	return true;
}

/* How many of `rest` elements are kept, with those that are added. */
static uint64_t
round_kept(const struct iteration *it, uint64_t rest)
{
	uint64_t places = it->job->places;

	return job_tail_fills(it->job->opts.tail) ? (rest + places - 1) / places * places : rest / places * places;
}

/* The rests of all streams stand one behind the other. */
static bool
round_tails_of_pass(struct disp *d, struct iteration *it)
{
	uint64_t at = 0, all = 0, kept;
	size_t last = 0;

	for (size_t i = 0; i < it->n_streams; i++) {
		all += round_rest(it->streams[i]);
		last = round_rest(it->streams[i]) ? i : last;
	}
	if (round_fails(d, it, all % it->job->places))
		return false;
	kept = round_kept(it, all);
	for (size_t i = 0; i < it->n_streams; i++) {
		struct stream *s = it->streams[i];
		uint64_t rest = round_rest(s), n = at + rest < kept ? rest : kept > at ? kept - at : 0;

		if (i == last && kept > all)
			n = kept - at;
		if (!s->tail_known)
			round_set_tail(d, s, at, n, all);
		at += rest;
	}
	return true;
}

bool
round_stream_ended(struct disp *d, struct stream *s)
{
	struct iteration *it = s->iter;

	if (!round_is(it) || s->tail_known)
		return true;
	if (it->job->opts.tail_of == TAIL_OF_STREAM) {
		if (round_fails(d, it, round_rest(s)))
			return false;
		round_set_tail(d, s, 0, round_kept(it, round_rest(s)), round_rest(s));
	} else if (it->all_known && it->n_ended == it->n_streams) {
		if (!round_tails_of_pass(d, it))
			return false;
		for (size_t i = 0; i < it->n_streams && it->state == ITER_RUNNING; i++)
			if (it->streams[i] != s)
				stream_finish_check(d, it->streams[i]); /* may end the pass, but s is not finished yet */
	}
	return true;
}

/* With nulls in the last round of each stream, earlier consumers may have had more than the stream. */
bool
round_base_beyond(const struct stream *s, uint64_t length)
{
	const struct job_opts *o = &s->iter->job->opts;

	return s->base > length &&
		(!job_tail_fills(o->tail) || o->tail_of != TAIL_OF_STREAM || s->base - length >= ROUND_PLACES_MAX);
}

/* The nulls of such a round may have been acknowledged. */
bool
round_end_beyond(const struct stream *s, uint64_t length)
{
	const struct job_opts *o = &s->iter->job->opts;
	uint64_t end = views_end(s);

	if (round_is(s->iter) && job_tail_fills(o->tail) && o->tail_of == TAIL_OF_STREAM) {
		uint64_t rest = views_rest(s, length);

		length += round_kept(s->iter, rest) - rest;
	}
	return end > length;
}

uint64_t
round_dropped(const struct stream *s)
{
	uint64_t rest = round_is(s->iter) ? round_rest(s) : 0;

	return s->tail_known && s->tail_n < rest ? rest - s->tail_n : 0;
}

uint64_t
round_added(const struct stream *s)
{
	uint64_t rest = round_is(s->iter) ? round_rest(s) : 0;

	return s->tail_known && s->tail_n > rest ? s->tail_n - rest : 0;
}

uint64_t
round_filled_up(const struct iteration *it)
{
	uint64_t given = it->in_rounds + it->dropped;

	return round_is(it) && given > it->elements ? given - it->elements : 0;
}

/* Readers */

/* All rounds that one view has acknowledged. */
uint64_t
round_of_view(const struct iteration *it, size_t view)
{
	uint64_t n = 0;

	for (size_t i = 0; i < it->n_streams; i++)
		n += intervals_count(&it->streams[i]->views[view].acked);
	return n / it->views[view].n;
}

uint64_t
round_all(const struct iteration *it)
{
	return it->in_rounds / (views_whole(it) ? 1 : it->job->places);
}

/* The rounds that all have. */
uint64_t
round_slowest(const struct iteration *it)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < it->n_views; i++) {
		uint64_t n = round_of_view(it, i);

		least = n < least ? n : least;
	}
	return least;
}

bool
round_view_is_read(const struct iteration *it, size_t view)
{
	for (const struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		const struct seat *r = LIST_OF(n, struct seat, node);

		if (r->view == view && r->peer)
			return true;
	}
	return false;
}

/* Whether its reader has all that it can get. */
static bool
round_view_over(const struct iteration *it, size_t view)
{
	for (size_t i = 0; i < it->n_streams; i++) {
		const struct stream *s = it->streams[i];

		if (!s->finished && !(s->ended && views_length(s, view) != UINT64_MAX &&
				      intervals_covers(&s->views[view].acked, 0, views_length(s, view))))
			return false;
	}
	return it->all_known;
}

/* How long a consumer may be away: also one that is waited for without limit has a seat, which
 * is kept no longer than an unfinished job without readers. */
static int64_t
round_away(const struct disp *d, const struct iteration *it)
{
	int64_t ns = round_wait(it);

	return ns == INT64_MAX ? d->o.unfinished_gc_ns : ns;
}

void
round_moved(struct disp *d, struct iteration *it)
{
	if (!round_is(it) || it->state != ITER_RUNNING)
		return;
	it->moved = d->now;
	if (!it->rounds_node.next)
		ring_push(&d->rounds, &it->rounds_node);
	if (round_later(d->now, round_away(d, it)) < d->rounds_due)
		d->rounds_due = round_later(d->now, round_away(d, it));
}

/* Fails if the others have stood still for long, and one is away; else *due is when to look again. */
static void
round_gives_up(struct disp *d, struct iteration *it, int64_t *due)
{
	int64_t at = round_later(it->moved, round_away(d, it));

	for (size_t i = 0; i < it->n_views; i++) {
		char *text, *view;

		if (round_view_is_read(it, i) || round_view_over(it, i) || fence_reached(it, i))
			continue;
		if (at > d->now) {
			*due = at < *due ? at : *due;
			return;
		}
		view = round_view_text(it, i);
		text = mem_printf("consumer %s is away, and the others wait for it", view);
		mem_free(view);
		iter_fail(d, it, ST_TEMP, text,
			  mem_strdup(round_wait(it) == INT64_MAX ?
				     "start all consumers again; dsvc-dispatch --job-gc-unfinished is how long one may be away" :
				     "start all consumers again; --seat-wait is how long one may be away"));
		return;
	}
}

void
round_tick(struct disp *d)
{
	struct list_node *n, *next;

	if (d->rounds_due > d->now)
		return;
	d->rounds_due = INT64_MAX;
	for (n = d->rounds.next; n != &d->rounds; n = next) {
		next = n->next;
		round_gives_up(d, LIST_OF(n, struct iteration, rounds_node), &d->rounds_due);
	}
}
