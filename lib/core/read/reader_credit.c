/* SPDX-License-Identifier: MIT
 *
 * Credit: how many chunks each worker may send. Workers that fall silent are called
 * anew, and chunks that are written make room for more.
 */
#include "base/mem.h"
#include "core/read/reader_inner.h"

/* It opens as chunks come: to ask for many at once would keep workers and this reader busy before the first
 * element is out, and in vain if a few are wanted. */
static uint32_t
reader_window(const struct reader *r)
{
	size_t win = r->o.budget / (r->chunk_bytes ? r->chunk_bytes : 1) / (r->n_attached ? r->n_attached : 1);

	if (win > r->o.job.window)
		win = r->o.job.window;
	if (win > r->chunks_come)
		win = r->chunks_come + 1;
	return win < 1 ? 1 : (uint32_t)win;
}

/* Far workers may send a chunk at a time while local ones have more to give, unless those
 * leave the reader waiting. An order says itself which stream is next. */
static uint32_t
reader_window_of(const struct reader *r, const struct reader_stream *s, uint32_t win)
{
	bool wait = !s->local && r->n_local && !r->hungry;

	return wait && r->o.job.target == TARGET_AUTO && r->o.job.order == ORDER_ANY ? 1 : win;
}

static void
reader_credit_send(struct reader *r, struct reader_stream *s)
{
	struct reader_action *a = reader_do(r, READER_SEND);

	a->worker = s->worker->id;
	a->msg.type = MSG_CREDIT;
	a->msg.credit = (struct msg_credit){ .key = { r->iteration, s->index, s->gen }, .seat = r->seat,
		.session = s->worker->session, .total = s->total, .ticket = s->ticket, .view = r->view };
	s->credit_at = r->now;
}

static void
reader_credit_stream(struct reader *r, struct reader_stream *s, uint32_t win)
{
	uint32_t free;
	uint64_t total;

	if (!s->worker || r->closing)
		return;
	win = reader_window_of(r, s, win);
	free = s->held < win ? win - s->held : 0;
	if (r->stats.held_bytes >= r->o.budget) {
		r->starved = true;
		free = 0;
	}
	if (r->fresh_ranges > READER_FRESH_MAX) {
		r->starved = true;
		free = 0;
	}
	/* An ordered reader may hold later chunks of a stream and need an earlier
	 * one, that was under way when a connection broke: when nothing is left
	 * to be written, it must be let in. */
	if (r->o.job.order != ORDER_ANY && !free && !r->first && !reader_stream_front(s))
		free = 1;
	total = s->arrived + free;
	if (total <= s->total || (total - s->total < (win + 3) / 4 && s->total > s->arrived))
		return;
	s->total = total;
	reader_credit_send(r, s);
}

void
reader_credit_all(struct reader *r)
{
	for (size_t i = 0; i < r->workers.n; i++)
		for (struct reader_stream *s = ((struct reader_worker *)r->workers.items[i].value)->streams; s; s = s->next_at_worker)
			reader_credit_later(r, s);
}

void
reader_credit(struct reader *r)
{
	struct reader_stream *s;
	uint32_t win;

	if (r->starved && r->stats.held_bytes < r->o.budget &&
	    r->fresh_ranges <= READER_FRESH_MAX) {
		r->starved = false;
		reader_credit_all(r);
	}
	if (!r->credits || !r->placed)
		return;
	win = reader_window(r);
	while ((s = r->credits)) {
		r->credits = s->next_credit;
		s->credit_listed = false;
		reader_credit_stream(r, s, win);
	}
}

void
reader_credit_hunger(struct reader *r)
{
	bool hungry = r->wait_ns > (r->wait_ns + r->work_ns) / 8;

	if (hungry == r->hungry)
		return;
	r->hungry = hungry;
	reader_credit_all(r);
	reader_credit(r);
}

/* Begins a new session with the worker: chunks under way are lost, and the worker sends again
 * what is not acknowledged. */
static void
reader_worker_session(struct reader *r, struct reader_worker *w)
{
	w->session = ++r->sessions;
	for (struct reader_stream *s = w->streams; s; s = s->next_at_worker) {
		s->total = s->arrived = 0;
		reader_credit_later(r, s);
	}
}

void
reader_worker_gone(struct reader *r, int64_t now_ns, uint64_t worker)
{
	struct reader_worker *w = hash_get(&r->workers, &worker, sizeof worker);

	r->now = now_ns;
	if (!w || r->over)
		return;
	reader_reach_down(r, w);
	reader_worker_session(r, w);
	reader_credit(r);
}

/* A connection may be dead at its other end without a word, and then what was sent
 * over it is missed by nobody there. A worker that is slow looks the same; then
 * nothing is under way, and calling it anew costs a message. */
static bool
reader_worker_mute(const struct reader *r, const struct reader_worker *w)
{
	if (r->now - w->heard < w->patience || r->closing)
		return false;
	for (const struct reader_stream *s = w->streams; s; s = s->next_at_worker)
		if (s->total > s->arrived && (!s->held || (r->o.job.order != ORDER_ANY && !reader_stream_front(s))))
			return true;
	return false;
}

static void
reader_worker_call(struct reader *r, struct reader_worker *w)
{
	struct reader_action *a;

	reader_reach_down(r, w);
	reader_do(r, READER_DISCONNECT)->worker = w->id;
	a = reader_do(r, READER_CONNECT);
	a->worker = w->id;
	a->endpoint = mem_strdup(w->endpoint);
	w->heard = r->now;
	w->patience = w->patience < READER_MUTE_MOST_NS / 2 ? w->patience * 2 : READER_MUTE_MOST_NS;
	reader_worker_session(r, w);
}

/* Credit that got lost would stop a stream for ever. */
void
reader_credit_again(struct reader *r)
{
	for (size_t i = 0; i < r->workers.n; i++) {
		struct reader_worker *w = r->workers.items[i].value;

		if (reader_worker_mute(r, w))
			reader_worker_call(r, w);
		for (struct reader_stream *s = w->streams; s; s = s->next_at_worker)
			if (s->total > s->arrived && r->now - s->credit_at >= READER_CREDIT_NS && !r->closing)
				reader_credit_send(r, s);
	}
}

void
reader_chunk_done(struct reader *r, struct reader_chunk_ *c)
{
	if (--c->parts)
		return;
	reader_do(r, READER_FREE)->handle = c->handle;
	r->stats.held_bytes -= c->bytes;
	r->fresh_bytes += c->bytes;
	c->stream->held--;
	reader_credit_later(r, c->stream);
	mem_free(c);
}
