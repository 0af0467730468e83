/* SPDX-License-Identifier: MIT
 *
 * The network thread of a reader: the state machine and its sockets.
 */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trace.h"
#include "base/str.h"
#include "base/wake.h"
#include "host/reader_host_inner.h"
#include "host/link.h"
#include "value/origin.h"

enum { READER_NET_LINGER_MS = 500 };

/* With the lock held. */
static void
reader_net_readable(struct reader_host *c)
{
	if (!c->readable)
		wake_set(c->fd);
	c->readable = true;
}

static void reader_net_over(struct reader_host *c, uint32_t code, const struct err *e,
			    struct msg *result);

void
reader_net_stranger(void *arg, uint64_t peer)
{
	struct reader_host *c = arg;
	struct err e;
	(void)peer;
	if (!c->met)
		reader_net_over(c, link_stranger(c->way.where, &e), &e, NULL);
}

void
reader_net_denied(void *arg, uint64_t peer, enum sock_denied why)
{
	struct reader_host *c = arg;
	struct err e;
	(void)peer;
	if (secure_denied(&c->way.secure, c->way.list, c->met, why, &e) != ST_OK)
		reader_net_over(c, e.kind, &e, NULL);
}

void
reader_net_told(void *arg, struct sock_msg *in)
{
	struct reader_host *c = arg;
	struct msg m;
	struct err e;
	enum status st = link_answer(in, &c->met, c->way.where, &m, &e);
	if (st == ST_UNAVAIL)
		reader_net_over(c, st, &e, NULL);
	if (st != ST_OK)
		return;
	reader_message(c->read, clock_mono_ns(), &m);
	msg_clear(&m);
}

void
reader_net_turned(void *arg, uint64_t peer)
{
	(void)peer;
	reader_dispatcher_reached(((struct reader_host *)arg)->read, clock_mono_ns());
}

bool
reader_net_renew(void *arg, const char **list, const struct key **keys)
{
	return way_renew(&((struct reader_host *)arg)->way, list, keys);
}

void
reader_net_control_broke(void *arg, uint64_t peer)
{
	struct reader_host *c = arg;
	struct reader_stats s;
	(void)peer;
	reader_dispatcher_gone(c->read, clock_mono_ns());
	reader_stats(c->read, &s);
	if (s.dispatcher_lost)
		log_say(LOG_WARN, "lost the connection to the dispatcher");
}

void
reader_net_worker_broke(void *arg, uint64_t peer)
{
	reader_worker_gone(((struct reader_host *)arg)->read, clock_mono_ns(), peer);
}

void
reader_net_worker_up(void *arg, uint64_t peer)
{
	reader_worker_up(((struct reader_host *)arg)->read, clock_mono_ns(), peer);
}

void
held_unref(struct held *h)
{
	if (!h || atomic_fetch_sub(&h->refs, 1) != 1)
		return;
	block_unref(&h->block);
	mem_free(h);
}

/* Connections to workers */

static struct reader_link *
reader_net_link(struct reader_host *c, uint64_t worker)
{
	return hash_get(&c->links, &worker, sizeof worker);
}

static void
reader_net_unlink(struct reader_host *c, struct reader_link *k)
{
	hash_del(&c->links, &k->worker, sizeof k->worker);
	c->shared -= k->shared;
	reader_shared(c->read, c->shared > 0);
	borrower_drop(&k->borrower);
	mem_free(k->credits);
	mem_free(k);
}

void
reader_net_unlink_all(struct reader_host *c)
{
	while (c->links.n)
		reader_net_unlink(c, c->links.items[0].value);
	hash_clear(&c->links);
}

/* The memory of a worker is mapped, or cannot be had. */
static void
reader_net_lent(void *arg, uint64_t worker, enum status st, const struct err *e)
{
	struct reader_host *c = arg;
	struct reader_link *k = reader_net_link(c, worker);
	if (st != ST_OK) {
		log_say(LOG_DEBUG, "%s", e->text);
		/* one that is ending looks like this; any other is called again when it stays silent */
		bool again = st == ST_TEMP && c->unreached != worker;
		c->unreached = worker;
		if (c->conf.job.transfer == TRANSFER_SHM && !again)
			reader_net_over(c, ST_UNAVAIL, e, NULL);
		return;
	}
	c->shared += !k->shared;
	k->shared = true;
	reader_shared(c->read, true);
	for (size_t i = 0; i < k->n_credits; i++)
		link_send(c->data, worker, &k->credits[i], &c->out, NULL);
	k->n_credits = 0;
}

static void
reader_net_connect(struct reader_host *c, const struct reader_action *a)
{
	struct err e;
	struct borrower_conf lent = { c->net, reader_net_lent, c, a->worker };
	struct buf address = { 0 };
	struct key key;
	bool keyed = secure_endpoint_key(a->endpoint, &address, &key);
	if (keyed && !c->keyed) {
		struct key_pair mine; /* fresh: what lets it in is its tickets */
		key_pair_new(&mine);
		sock_use_keys(c->data, &mine);
		key_pair_wipe(&mine);
		c->keyed = true;
	}
	if (sock_connect_key(c->data, (char *)address.data, keyed ? &key : NULL, a->worker, &e) != ST_OK) {
		log_say(LOG_WARN, "%s", e.text);
		buf_clear(&address);
		return;
	}
	struct reader_link *k = mem_zalloc(sizeof *k);
	*k = (struct reader_link){ .worker = a->worker, .endpoint = origin_name((char *)address.data),
		.borrower = c->conf.job.transfer == TRANSFER_COPY ? NULL : borrower_new(&lent) };
	hash_put(&c->links, &k->worker, sizeof k->worker, k);
	buf_clear(&address);
}

/* It is known why workers cannot be reached. */
static void
reader_net_unreached(struct reader_host *c)
{
	char why[WHY_TEXT];
	uint64_t worker;

	while (why_take(c->why, &worker, why)) {
		struct reader_link *k = reader_net_link(c, worker);
		if (!reader_unreached(c->read, clock_mono_ns(), worker, why) || !k || k->warned)
			continue;
		log_say(LOG_WARN, "cannot reach the worker at %s: %s", k->endpoint, why);
		k->warned = true;
	}
}

static void
reader_net_disconnect(struct reader_host *c, uint64_t worker)
{
	struct reader_link *k = reader_net_link(c, worker);
	if (!k)
		return;
	sock_disconnect(c->data, k->endpoint, worker);
	reader_net_unlink(c, k);
}

/* Sends a CREDIT: after an ATTACH in a new session, and not before the worker's memory is
 * mapped if copies are not wanted. */
static void
reader_net_credit(struct reader_host *c, uint64_t worker, const struct msg *m)
{
	struct reader_link *k = reader_net_link(c, worker);
	struct msg attach;
	if (k && k->borrower && borrower_attach(k->borrower, m->credit.session, &attach)) {
		link_send(c->data, worker, &attach, &c->out, NULL);
		msg_clear(&attach);
		k->n_credits = 0;
	}
	if (!k || c->conf.job.transfer != TRANSFER_SHM || k->shared) {
		link_send(c->data, worker, m, &c->out, NULL);
		return;
	}
	size_t i = 0;
	while (i < k->n_credits && k->credits[i].credit.key.stream != m->credit.key.stream)
		i++; /* said again */
	if (i == k->n_credits)
		k->credits = mem_grow(k->credits, &k->cap_credits, ++k->n_credits, sizeof *k->credits);
	k->credits[i] = *m;
}

/* Gives back what was borrowed and is written. */
static void
reader_net_release(struct reader_host *c)
{
	for (size_t i = 0; c->shared && i < c->links.n; i++) {
		struct reader_link *k = c->links.items[i].value;
		if (k->shared)
			borrower_flush(k->borrower);
	}
}

/* A chunk's bytes as a block, from its payload or in the worker's memory. NULL: dropped. */
static struct block *
reader_net_block(struct reader_host *c, struct sock_msg *in, const struct msg_chunk *m)
{
	struct reader_link *k = m->lease ? reader_net_link(c, in->peer) : NULL;
	struct err e = { 0 };
	/* An element has at least one byte, and snappy shrinks to a sixtieth at most. */
	bool sane = m->count && m->raw_len >= m->count && m->raw_len <= READER_NET_FRAME_MAX;

	if (m->lease)
		sane = sane && k && k->borrower && !in->data;
	else
		sane = sane && in->data &&
		       (m->codec == CODEC_SNAPPY ? m->raw_len <= in->len * 64 : m->raw_len == in->len);
	if (!sane) {
		log_say(LOG_WARN, "dropped a chunk whose header does not fit its payload");
		return NULL;
	}
	if (m->lease) {
		struct block *b = borrower_block(k->borrower, m, &e);
		if (e.kind != ST_OK)
			log_say(LOG_WARN, "dropped a chunk: %s", e.text);
		return b;
	}
	void (*release)(void *, uint8_t *, size_t);
	void *arg;
	sock_msg_take(in, &release, &arg);
	return block_wrap(in->data, in->len, release, arg);
}

static void
reader_net_chunk(struct reader_host *c, struct sock_msg *in, const struct msg_chunk *m)
{
	const struct reader_link *k = reader_net_link(c, in->peer);
	int64_t began = trace_begin();
	struct block *b = reader_net_block(c, in, m);
	if (!b)
		return;
	trace_span(began, TRACE_RECEIVE, NULL, m->count, b->len, m->key.stream);
	struct held *h = mem_zalloc(sizeof *h);
	atomic_init(&h->refs, 1);
	h->block = b;
	h->raw_len = m->raw_len;
	h->count = m->count;
	h->codec = m->codec;
	h->worker = k ? k->endpoint : NULL;
	reader_chunk(c->read, clock_mono_ns(), in->peer, m, h, b->len);
}

static void
reader_net_arena(struct reader_host *c, uint64_t worker, const struct msg_arena *m)
{
	struct reader_link *k = reader_net_link(c, worker);
	if (k && k->borrower)
		borrower_answer(&k->borrower, m);
}

void
reader_net_data(void *arg, struct sock_msg *in)
{
	struct reader_host *c = arg;
	struct msg m;
	struct err e;
	if (!link_decode(in, &m, &e))
		return;
	if (m.type == MSG_CHUNK)
		reader_net_chunk(c, in, &m.chunk);
	else if (m.type == MSG_ARENA)
		reader_net_arena(c, in->peer, &m.arena);
	else
		reader_data(c->read, clock_mono_ns(), in->peer, &m);
	msg_clear(&m);
}

static void
reader_net_deliver(struct reader_host *c, const struct reader_action *a)
{
	struct held *h = a->handle;
	atomic_fetch_add(&h->refs, 1);
	pthread_mutex_lock(&c->lock);
	if (c->items_at && c->items_at + c->n_items == c->cap_items) {
		memmove(c->items, c->items + c->items_at, c->n_items * sizeof *c->items);
		c->items_at = 0;
	}
	c->items = mem_grow(c->items, &c->cap_items, c->items_at + c->n_items + 1, sizeof *c->items);
	if (!c->stats.delivered) /* where it begins is known with the first element */
		reader_stats(c->read, &c->stats);
	c->items[c->items_at + c->n_items++] =
		(struct item){ h, a->first, a->count, a->stream, a->offset };
	reader_net_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_net_job(struct reader_host *c, struct msg *m)
{
	pthread_mutex_lock(&c->lock);
	c->job_msg = *m;
	memset(m, 0, sizeof *m);
	struct msg_job *j = &c->job_msg.job;
	c->job = (struct reader_host_job){ str_or_empty(j->dataset), str_or_empty(j->spec),
				      str_or_empty(j->type), j->opts.seed, (uint32_t)j->opts.epoch };
	c->job_known = true;
	reader_stats(c->read, &c->stats);
	reader_net_readable(c);
	pthread_mutex_unlock(&c->lock);
}

/* An agreed end is asked for, or known. */
static void
reader_net_end(struct reader_host *c, const struct reader_action *a)
{
	pthread_mutex_lock(&c->lock);
	if (a->kind == READER_HALT) {
		c->halted = true;
	} else {
		c->fenced = true;
		c->fence = a->offset;
	}
	wake_set(c->stop_fd);
	reader_net_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_net_over(struct reader_host *c, enum status code, const struct err *e, struct msg *result)
{
	pthread_mutex_lock(&c->lock);
	c->over = true;
	c->code = code;
	if (code && e)
		c->err = *e;
	if (!c->result.type && result) {
		c->result = *result;
		*result = (struct msg){ 0 };
	}
	reader_net_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_net_do(struct reader_host *c, struct reader_action *a)
{
	struct reader_link *k;

	switch (a->kind) {
	case READER_TELL:
		link_send(c->control, LINK_DISPATCHER, &a->msg, &c->out, NULL);
		break;
	case READER_SEND:
		if (a->msg.type == MSG_CREDIT)
			reader_net_credit(c, a->worker, &a->msg);
		else
			link_send(c->data, a->worker, &a->msg, &c->out, NULL);
		break;
	case READER_CONNECT:
		reader_net_connect(c, a);
		break;
	case READER_UNREACHED:
		if ((k = reader_net_link(c, a->worker)))
			why_ask(c->why, a->worker, k->endpoint);
		break;
	case READER_DISCONNECT:
		reader_net_disconnect(c, a->worker);
		break;
	case READER_DELIVER:
		reader_net_deliver(c, a);
		break;
	case READER_FREE:
		held_unref(a->handle);
		break;
	case READER_JOB:
		if (a->msg.job.shareless)
			log_say(LOG_WARN, "no `shard auto auto` is in the pipeline: each shard gives everything");
		reader_net_job(c, &a->msg);
		break;
	case READER_HALT:
	case READER_FENCE:
		reader_net_end(c, a);
		break;
	case READER_DONE:
		reader_net_over(c, a->code, a->err, &a->msg);
		break;
	case READER_NONE:
		break;
	}
	msg_clear(&a->msg);
}

void
reader_net_written(struct reader_host *c, int64_t now, uint64_t written, const struct host_mark *marks, size_t n)
{
	uint64_t told = 0;

	for (size_t i = 0; i < n; i++) {
		if (marks[i].at > told)
			reader_written(c->read, now, marks[i].at - told);
		told = marks[i].at;
		reader_mark(c->read, marks[i].bytes, marks[i].elements);
	}
	if (written > told)
		reader_written(c->read, now, written - told);
}

void
reader_net_position(struct reader_host *c)
{
	if (c->position && c->position_n == UINT64_MAX)
		reader_position(c->read, c->position);
	else if (c->position)
		c->position_n = reader_position_at(c->read, c->position_n, c->position);
	c->position = NULL;
	pthread_cond_signal(&c->placed);
}

/* Handles requests of the caller's thread. */
void
reader_net_woken(void *arg, int fd, int events)
{
	struct reader_host *c = arg;
	(void)events;
	wake_clear(fd);
	pthread_mutex_lock(&c->lock);
	uint64_t written = c->written;
	struct host_mark *marks = c->marks;
	size_t n_marks = c->n_marks;
	c->marks = NULL;
	c->n_marks = c->cap_marks = 0;
	bool closing = c->closing, keep = c->keep, saved = c->saved;
	bool position = c->position != NULL, release = c->release;
	bool stopping = c->stopping && !c->stop_told;
	c->stop_told = c->stopping;
	c->written = 0;
	c->closing = c->saved = c->release = false;
	pthread_mutex_unlock(&c->lock);
	int64_t now = clock_mono_ns();
	reader_net_written(c, now, written, marks, n_marks);
	mem_free(marks);
	reader_net_unreached(c);
	if (saved)
		reader_saved(c->read, now);
	if (stopping)
		reader_stop_at(c->read, now, c->stop_rounds, c->stop_multiple);
	if (release)
		reader_release(c->read, now);
	if (position) {
		pthread_mutex_lock(&c->lock);
		reader_net_position(c);
		pthread_mutex_unlock(&c->lock);
	}
	if (closing)
		reader_close(c->read, now, keep);
}

/* Before it beats. */
static void
reader_net_feeds(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	reader_feeds(c->read, &c->feeds);
	pthread_mutex_unlock(&c->lock);
}

static bool
reader_net_ended(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	reader_stats(c->read, &c->stats);
	if (c->conf.lag && c->stats.at_end && !c->end_told) {
		c->end_told = c->readable = true;
		wake_set(c->fd);
	}
	bool ended = c->over || c->leave;
	pthread_mutex_unlock(&c->lock);
	return ended;
}

/* Wakes those who wait for a position, since none will come. */
static void
reader_net_last(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	c->gone = true;
	reader_net_position(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_net_tick(struct reader_host *c, int64_t now)
{
	if (c->conf.blocked)
		reader_blocked(c->read, blocked_ns(c->conf.blocked));
	reader_tick(c->read, now);
}

void *
reader_net_thread(void *arg)
{
	struct reader_host *c = arg;
	for (;;) {
		struct reader_action a;
		while (reader_action(c->read, &a))
			reader_net_do(c, &a);
		if (c->out.failed)
			reader_net_over(c, c->out.failed, &c->out.err, NULL);
		reader_net_release(c);
		if (reader_net_ended(c))
			break;
		net_step(c->net, reader_next_deadline(c->read));
		int64_t now = clock_mono_ns();
		if (now >= reader_next_deadline(c->read)) {
			reader_net_feeds(c);
			reader_net_tick(c, now);
		}
	}
	reader_net_last(c);
	/* the last acknowledgements are on their way: the peers answered them */
	sock_free(&c->control, READER_NET_LINGER_MS);
	sock_free(&c->data, READER_NET_LINGER_MS);
	return NULL;
}
