/* SPDX-License-Identifier: MIT
 *
 * Readers in an iteration.
 */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_forget.h"
#include "core/disp/disp_hold.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_news.h"
#include "core/disp/disp_role.h"
#include "core/disp/disp_takes.h"

struct seat *
seat_new(struct disp *d, struct iteration *it, struct peer *p, uint64_t number, const char *host)
{
	struct seat *r = mem_zalloc(sizeof *r);
	uint64_t key[] = { it->id, number };

	*r = (struct seat){ .dirty.kind = DIRTY_SEAT, .number = number, .iter = it, .peer = p,
		.peer_id = p ? p->id : 0, .host = mem_strdup(host) };
	place_reader(it, r->host);
	hash_put(&d->seats, key, sizeof key, r);
	ring_push(&it->seats, &r->node);
	it->n_seats++;
	round_moved(d, it);
	if (p)
		p->seat = r;
	job_used(d, it->job);
	return r;
}

struct seat *
seat_find(const struct disp *d, uint64_t iteration, uint64_t number)
{
	uint64_t key[] = { iteration, number };

	return hash_get(&d->seats, key, sizeof key);
}

void
seat_free(struct disp *d, struct seat *r)
{
	uint64_t key[] = { r->iter->id, r->number };

	hash_del(&d->seats, key, sizeof key);
	job_shards_clear(&r->only);
	takes_clear(r);
	reach_clear(r->iter, &r->unreached);
	mem_free(r->shard);
	mem_free(r->host);
	mem_free(r->user);
	mem_free(r);
}

static void
seat_leave(struct disp *d, struct seat *r, bool closed)
{
	struct iteration *it = r->iter;
	struct job *j = it->job;
	bool last_there = place_reader_left(it, r->host);

	ring_drop(&r->node);
	ring_drop(&r->away);
	ring_drop(&r->dirty.node);
	it->n_seats--;
	round_moved(d, it);
	if (r->peer) {
		r->peer->seat = NULL;
		ask_drop(d, ASK_DONE, r->peer, (struct stream_key){ it->id, 0, 0 }, 0);
		ask_drop(d, ASK_HALT, r->peer, (struct stream_key){ it->id, 0, 0 }, r->number);
	}
	disp_delete(d, ROW_READER, 2, it->id, r->number, 0);
	group_left(d, r, closed);
	/* A job that ends with this reader needs no care for its streams. */
	if (it->state == ITER_RUNNING && (j->users > 1 || *j->opts.name || j->keep)) {
		job_used(d, j); /* it may finish meanwhile */
		takes_seat_gone(d, r);
		if (last_there)
			iter_readers_moved(d, it);
		group_settle(d, it);
		j->users--;
	}
	seat_free(d, r);
	job_left(d, j);
}

void
seat_gone(struct disp *d, struct seat *r)
{
	struct iteration *it = r->iter;

	if (it->n_given_up == WIRE_READERS_MAX)
		memmove(it->given_up, it->given_up + 1, --it->n_given_up * sizeof *it->given_up);
	if (it->n_given_up == it->cap_given_up)
		it->given_up = mem_grow(it->given_up, &it->cap_given_up, it->n_given_up + 1, sizeof *it->given_up);
	it->given_up[it->n_given_up++] = r->number;
	seat_leave(d, r, false);
}

/* Whether what a reader without a seat says it wrote goes to others too: its seat was
 * given up, or (that is forgotten in a restart) it is not recorded. */
static bool
seat_too_late(struct disp *d, const struct msg_close *c)
{
	const struct iteration *it = iter_find(d, c->iteration);

	for (size_t i = 0; it && c->list.n && i < it->n_given_up; i++)
		if (it->given_up[i] == c->seat)
			return true;
	for (size_t i = 0; it && c->view < it->n_views && i < c->list.n; i++) {
		const struct stream *s = iter_stream(it, c->list.v[i].stream);
		const struct ranges *r = &c->list.v[i].ranges;

		for (size_t k = 0; s && k < r->n; k++)
			if (!intervals_covers(&s->views[c->view].acked, r->v[k].start, r->v[k].end))
				return true;
	}
	return false;
}

void
seat_tell_gone(struct disp *d, struct peer *p, uint64_t req, uint64_t iteration, uint64_t number)
{
	struct msg *out = disp_send(d, p, MSG_GONE, req);

	out->gone.iteration = iteration;
	out->gone.seat = number;
	out->gone.code = forget_has(d, iteration) ? ST_NOINPUT : ST_TEMP;
	out->gone.text = mem_strdup(forget_has(d, iteration) ? "the job was forgotten by dsvc-forget" :
				    "the dispatcher took this reader for lost; its elements go to others");
}

/* It takes elements only after its first ACK, which says that there is a position; until then it can
 * neither come back nor have anything. */
bool
seat_placed(const struct seat *r)
{
	return r->checkpoint && (r->seq || r->from);
}

bool
seat_awaited(const struct seat *r, bool silent)
{
	/* The only reader there is keeps nobody waiting: what it has may as well
	 * stay its own until it goes on, or another one comes. */
	if (silent && r->iter->job->users == 1)
		return true;
	return seat_placed(r) && iter_live(r->iter) && !seat_over(r);
}

bool
seat_meets(const struct seat *r, const struct asked *asked)
{
	return job_shards_meet(&r->only, &asked->only) && group_meets(r, asked) &&
		round_meet(&r->iter->views[r->view], &asked->part);
}

/* A stream of an ordered job has one reader, and an away one with a position comes back with
 * it: who comes without begins anew. In other jobs those with a position keep their seats. */
void
seat_make_way(struct disp *d, struct iteration *it, const struct asked *asked)
{
	for (struct list_node *n = it->seats.next; n != &it->seats;) {
		struct seat *r = LIST_OF(n, struct seat, node);

		n = n->next;
		if (r->peer || (it->job->opts.order == ORDER_ANY && seat_placed(r)) ||
		    (!seat_meets(r, asked) && (seat_placed(r) || !group_shares(it))))
			continue; /* one that is only silent keeps no other group waiting */
		job_used(d, it->job);
		seat_gone(d, r);
		it->job->users--;
	}
}

void
seat_taken(struct disp *d, struct peer *p, uint64_t req, const struct iteration *it, const struct asked *asked)
{
	const char *group = str_or_empty(asked->group);
	char *text = *group ? mem_printf("group `%s` of job `%s`, which keeps an order, has a reader already", group,
					 it->job->opts.name) :
		mem_printf("job `%s` keeps an order and has a reader already", it->job->opts.name);

	disp_error(d, p, req, ST_TEMP, text, *group ?
		   "each group of an ordered job has one reader at a time; name another group, or use --order any" :
		   "an ordered job, or each shard of it, has one reader at a time; use --order any to share it");
	mem_free(text);
}

/* Its position, or its output if it was only stopped, may hold elements that it has not
 * acknowledged: nothing of what it had may be given to others before it is back and says so. */
void
seat_away(struct disp *d, struct seat *r)
{
	r->peer->seat = NULL;
	r->peer = NULL;
	r->opened = r->halted = false;
	round_moved(d, r->iter);
	r->away_since = d->now;
	gc_away(d, r);
	disp_dirty(d, &r->dirty, DIRTY_ROW);
	hold_away(d, r);
}

/* Takes a reader back that was thought lost: the same program has come again. */
void
seat_back(struct disp *d, struct seat *r, struct peer *p)
{
	ring_drop(&r->away);
	r->peer = p;
	r->peer_id = p->id;
	p->seat = r;
	disp_dirty(d, &r->dirty, DIRTY_ROW);
	hold_comes(d, r);
}

/* Looks at all its shards. A reader of the whole is done when the iteration is, or its group. */
bool
seat_over(const struct seat *r)
{
	if (group_shares(r->iter))
		return group_over(r->iter, r->view);
	for (size_t i = 0; i < r->only.n; i++) {
		const struct stream *s = iter_stream(r->iter, r->only.v[i]);

		if (s && !s->finished)
			return false;
	}
	return r->only.n > 0;
}

void
seat_finished(struct disp *d, const struct stream *s)
{
	struct iteration *it = s->iter;

	if (!job_has_shards(it->job->opts.sharding))
		return; /* nobody can have chosen any */
	for (struct list_node *n = it->seats.next; n != &it->seats; n = n->next) {
		struct seat *r = LIST_OF(n, struct seat, node);

		if (!r->only.n || !job_shards_has(&r->only, s->index))
			continue;
		r->had += s->length;
		disp_dirty(d, &r->dirty, DIRTY_ROW);
		if (r->peer && seat_over(r))
			ask_put(d, ASK_DONE, r->peer, (struct stream_key){ it->id, 0, 0 }, 0);
	}
}

void
seat_open(struct disp *d, struct seat *r, uint64_t req)
{
	struct iteration *it = r->iter;
	const struct job *j = it->job;
	struct msg *m = disp_send(d, r->peer, MSG_JOB, req);

	/* With sharding data the elements of the source lie one by one in the shards. */
	bool by_one = (it->sharding == SHARD_DATA && j->opts.order == ORDER_SOURCE) || (round_is(it) && it->by_one);
	struct msg_job job = { .iteration = it->id, .seat = r->number, .opts = j->opts, .dataset = j->dataset->id,
		.spec = j->dataset->spec, .type = j->dataset->type,
		.shareless = it->sharding == SHARD_HINT && j->dataset->facts.known && !j->dataset->facts.hint,
		.view = r->view, .places = it->views[r->view].of, .block = by_one ? 1 : d->o.block ? d->o.block : DISP_BLOCK,
		.fenced = it->fence.known, .fence = it->fence.rounds };

	base_fill(it, &job);
	job.block *= it->views[r->view].n; /* rounds */
	job.opts.shards = it->n_streams > 0 ? it->n_streams : it->had_streams;
	job.opts.epoch = it->epoch;
	job.opts.seed = it->seed;
	msg_fill(m, &job);
	r->opened = true;
	r->sent_version = r->beat_version = 0;
	fence_opened(d, r);
	if (iter_live(it))
		news_send(d, r);
	if (!iter_live(it) || seat_over(r))
		ask_put(d, ASK_DONE, r->peer, (struct stream_key){ it->id, 0, 0 }, 0);
}

/* Messages */

/* The streams of a pass that failed are gone, but its books tell what was delivered. */
static void
seat_book(struct disp *d, struct iteration *it, const struct ranges *r)
{
	for (size_t i = 0; i < r->n; i++)
		it->acked += r->v[i].end - r->v[i].start;
	disp_dirty(d, &it->dirty, DIRTY_ROW);
}

/* Records the ranges of an ACK. An ACK with a number already recorded is a repeat: it changes
 * nothing, and is only answered. */
static void
seat_take_acks(struct disp *d, struct seat *r, uint64_t seq, const struct ranges_list *l)
{
	struct iteration *it = r->iter;

	if (seq <= r->seq)
		return;
	r->seq = seq;
	disp_dirty(d, &r->dirty, DIRTY_ROW);
	for (size_t i = 0; i < l->n; i++) {
		struct stream *s = it->state == ITER_RUNNING ? iter_stream(it, l->v[i].stream) : NULL;

		if (s && job_shards_has(&r->only, s->index))
			stream_acked(d, s, r->view, &l->v[i].ranges, r); /* may end the iteration */
		else if (it->state == ITER_FAILED)
			seat_book(d, it, &l->v[i].ranges);
	}
}

static void
seat_ack(struct disp *d, struct seat *r, struct msg *m)
{
	struct msg *out;
	size_t n = m->ack.list.n;

	out = disp_send(d, r->peer, MSG_ACKED, m->req);
	out->acked = (struct msg_acked){ .iteration = m->ack.iteration, .seat = r->number, .seq = m->ack.seq,
		.pace_ms = d->n_readers / DISP_ACKS_MS };
	out->acked.floors.v = n ? mem_array(n, sizeof *out->acked.floors.v) : NULL;
	size_t at = d->n_out - 1;
	seat_take_acks(d, r, m->ack.seq, &m->ack.list);
	out = &d->out[at].msg; /* the outbox may have grown */
	for (size_t i = 0; i < n; i++) {
		struct stream *s = iter_stream(r->iter, m->ack.list.v[i].stream);

		if (s)
			out->acked.floors.v[out->acked.floors.n++] =
				(struct msg_floor){ s->index, intervals_gap(&s->views[r->view].acked, 0) };
	}
}

static void
seat_close(struct disp *d, struct peer *p, struct seat *r, struct msg *m)
{
	struct msg *out;

	/* The ACK before it is missing: both will be said again. Without it, what it
	 * lists would be given to others. */
	if (r && iter_live(r->iter) && m->close.seq > r->seq + 1)
		return;
	/* Others get what it wrote and could not acknowledge any more: it must not be
	 * told that all is well. A CLOSE that was heard and is said again is answered. */
	if (!r && seat_too_late(d, &m->close)) {
		seat_tell_gone(d, p, m->req, m->close.iteration, m->close.seat);
		return;
	}
	out = disp_send(d, p, MSG_CLOSED, m->req);
	out->closed.iteration = m->close.iteration;
	out->closed.seat = m->close.seat;
	if (!r)
		return;
	if (m->close.keep && !r->iter->job->keep) {
		r->iter->job->keep = true;
		disp_dirty(d, &r->iter->job->dirty, DIRTY_ROW);
	}
	seat_take_acks(d, r, m->close.seq, &m->close.list);
	intervals_add(&r->iter->closed, r->number, r->number + 1);
	disp_dirty(d, &r->iter->dirty, DIRTY_ROW);
	fence_closed(d, r->iter, r->view);
	seat_leave(d, r, true);
}

static void
seat_held(struct disp *d, struct seat *r, struct msg *m)
{
	struct stream *s = stream_find(d, m->held.key);

	if (s && s->iter == r->iter && s->gen == m->held.key.gen && hold_owes(s, r->number) &&
	    ask_drop(d, ASK_HOLD, r->peer, m->held.key, r->number))
		stream_held(d, s, r, &m->held.ranges);
}

static void
seat_reached(struct disp *d, struct seat *r, struct msg *m)
{
	struct stream *s = stream_find(d, m->reached.key);

	if (s && s->iter == r->iter && s->gen == m->reached.key.gen && s->iter->state == ITER_RUNNING)
		stream_reached(d, s, r);
}

static bool
seat_closed(struct disp *d, uint64_t iteration, uint64_t number)
{
	const struct iteration *it = iter_find(d, iteration);

	return it && intervals_has(&it->closed, number);
}

/* The seat of a message. One that was only silent comes back with OPEN, unless it was told to end meanwhile: then
 * the first that it says of its seat may be its last ACK, or CLOSE. */
static struct seat *
seat_of(struct disp *d, struct peer *p, uint64_t iteration, uint64_t number)
{
	struct seat *r = p->seat;

	if (r)
		return r->number == number && r->iter->id == iteration ? r : NULL;
	r = seat_find(d, iteration, number);
	if (!r || r->peer || r->peer_id != p->id)
		return NULL;
	seat_back(d, r, p);
	return r;
}

void
seat_message(struct disp *d, struct peer *p, struct msg *m)
{
	uint64_t iteration = m->type == MSG_HELD ? m->held.key.iteration :
		m->type == MSG_REACHED ? m->reached.key.iteration : m->type == MSG_UNREACHED ? m->unreached.iteration :
		m->type == MSG_STOP ? m->stop.iteration :
		m->type == MSG_ACK ? m->ack.iteration : m->close.iteration;
	uint64_t number = m->type == MSG_HELD ? m->held.seat : m->type == MSG_REACHED ? m->reached.seat :
		m->type == MSG_STOP ? m->stop.seat : m->type == MSG_UNREACHED ? m->unreached.seat :
		m->type == MSG_ACK ? m->ack.seat : m->close.seat;
	struct seat *r = seat_of(d, p, iteration, number);

	if (m->type == MSG_CLOSE) {
		seat_close(d, p, r, m);
	} else if (!r && seat_closed(d, iteration, number)) {
		return; /* its CLOSE was heard, and the answer comes when that is said again, too */
	} else if (!r) {
		seat_tell_gone(d, p, m->req, iteration, number);
	} else if (m->type == MSG_HELD) {
		seat_held(d, r, m);
	} else if (m->type == MSG_REACHED) {
		seat_reached(d, r, m);
	} else if (m->type == MSG_STOP) {
		fence_stop(d, p, r, m);
	} else if (m->type == MSG_UNREACHED) {
		reach_message(d, r, &m->unreached);
	} else {
		seat_ack(d, r, m);
	}
}
