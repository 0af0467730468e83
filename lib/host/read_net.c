/* SPDX-License-Identifier: MIT
 *
 * The network thread of a client: the state machine and its sockets.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/client_inner.h"
#include "host/link.h"

enum { READER_LINGER_MS = 500 };

void
client_poke(int fd)
{
	uint64_t one = 1;
	ssize_t rc = write(fd, &one, sizeof one);
	(void)rc; /* full means readable already */
}

void
client_drain(int fd)
{
	uint64_t n;
	ssize_t rc = read(fd, &n, sizeof n);
	(void)rc; /* empty is fine */
}

/* With the lock held. */
static void
reader_readable(struct client *c)
{
	if (!c->readable)
		client_poke(c->fd);
	c->readable = true;
}

static void reader_over(struct client *c, uint32_t code, const struct err *e, struct msg *result);

void
reader_stranger(void *arg, uint64_t peer)
{
	struct client *c = arg;
	struct err e;
	(void)peer;
	if (!c->met)
		reader_over(c, link_stranger(c->where, &e), &e, NULL);
}

void
reader_told(void *arg, struct sock_msg *in)
{
	struct client *c = arg;
	struct msg m;
	struct err e;
	enum status st = link_answer(in, &c->met, c->where, &m, &e);
	if (st == ST_UNAVAIL)
		reader_over(c, st, &e, NULL);
	if (st != ST_OK)
		return;
	read_message(c->read, clock_mono_ns(), &m);
	msg_clear(&m);
}

void
reader_control_broke(void *arg, uint64_t peer)
{
	struct client *c = arg;
	struct read_stats s;
	(void)peer;
	read_dispatcher_gone(c->read, clock_mono_ns());
	read_stats(c->read, &s);
	if (s.dispatcher_lost)
		log_say(LOG_WARN, "lost the connection to the dispatcher");
}

void
reader_worker_broke(void *arg, uint64_t peer)
{
	read_worker_gone(((struct client *)arg)->read, clock_mono_ns(), peer);
}

void
held_unref(struct held *h)
{
	if (!h || atomic_fetch_sub(&h->refs, 1) != 1)
		return;
	block_unref(&h->block);
	mem_free(h);
}

static void
reader_chunk(struct client *c, struct sock_msg *in, const struct msg_chunk *m)
{
	/* An element has at least one byte, and snappy shrinks to a sixtieth at most. */
	bool sane = m->count && m->raw_len >= m->count && m->raw_len <= READER_FRAME_MAX && in->data &&
		    (m->codec == CODEC_SNAPPY ? m->raw_len <= in->len * 64 : m->raw_len == in->len);
	if (!sane) {
		log_say(LOG_WARN, "dropped a chunk whose header does not fit its payload");
		return;
	}
	struct held *h = mem_zalloc(sizeof *h);
	atomic_init(&h->refs, 1);
	void (*release)(void *, uint8_t *, size_t);
	void *arg;
	sock_msg_take(in, &release, &arg);
	h->block = block_wrap(in->data, in->len, release, arg);
	h->raw_len = m->raw_len;
	h->count = m->count;
	h->codec = m->codec;
	read_chunk(c->read, clock_mono_ns(), in->peer, m, h, in->len);
}

void
reader_data(void *arg, struct sock_msg *in)
{
	struct client *c = arg;
	struct msg m;
	struct err e;
	if (!link_decode(in, &m, &e))
		return;
	if (m.type == MSG_CHUNK)
		reader_chunk(c, in, &m.chunk);
	else
		read_data(c->read, clock_mono_ns(), in->peer, &m);
	msg_clear(&m);
}

static void
reader_connect(struct client *c, const struct read_action *a)
{
	struct err e;
	if (sock_connect(c->data, a->endpoint, a->worker, &e) != ST_OK) {
		log_say(LOG_WARN, "%s", e.text);
		return;
	}
	c->links = mem_grow(c->links, &c->cap_links, c->n_links + 1, sizeof *c->links);
	c->links[c->n_links].worker = a->worker;
	c->links[c->n_links++].endpoint = mem_strdup(a->endpoint);
}

static void
reader_disconnect(struct client *c, uint64_t worker)
{
	for (size_t i = 0; i < c->n_links; i++) {
		if (c->links[i].worker != worker)
			continue;
		sock_disconnect(c->data, c->links[i].endpoint, worker);
		mem_free(c->links[i].endpoint);
		c->links[i--] = c->links[--c->n_links];
	}
}

static void
reader_deliver(struct client *c, const struct read_action *a)
{
	struct held *h = a->handle;
	atomic_fetch_add(&h->refs, 1);
	pthread_mutex_lock(&c->lock);
	if (c->items_at && c->items_at + c->n_items == c->cap_items) {
		memmove(c->items, c->items + c->items_at, c->n_items * sizeof *c->items);
		c->items_at = 0;
	}
	c->items = mem_grow(c->items, &c->cap_items, c->items_at + c->n_items + 1, sizeof *c->items);
	c->items[c->items_at + c->n_items++] =
		(struct item){ h, a->first, a->count, a->stream, a->offset };
	reader_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_job(struct client *c, struct msg *m)
{
	pthread_mutex_lock(&c->lock);
	c->job_msg = *m;
	memset(m, 0, sizeof *m);
	struct msg_job *j = &c->job_msg.job;
	c->job = (struct client_job){ j->dataset ? j->dataset : "", j->spec ? j->spec : "",
				      j->type ? j->type : "", j->seed, j->epoch };
	c->job_known = true;
	reader_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_over(struct client *c, enum status code, const struct err *e, struct msg *result)
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
	reader_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_do(struct client *c, struct read_action *a)
{
	switch (a->kind) {
	case READ_TELL:
		link_send(c->control, LINK_DISPATCHER, &a->msg, &c->out, NULL);
		break;
	case READ_SEND:
		link_send(c->data, a->worker, &a->msg, &c->out, NULL);
		break;
	case READ_CONNECT:
		reader_connect(c, a);
		break;
	case READ_DISCONNECT:
		reader_disconnect(c, a->worker);
		break;
	case READ_DELIVER:
		reader_deliver(c, a);
		break;
	case READ_FREE:
		held_unref(a->handle);
		break;
	case READ_JOB:
		reader_job(c, &a->msg);
		break;
	case READ_DONE:
		reader_over(c, a->code, a->err, &a->msg);
		break;
	case READ_NONE:
		break;
	}
	msg_clear(&a->msg);
}

/* What the caller's thread wants. */
void
reader_woken(void *arg, int fd, int events)
{
	struct client *c = arg;
	(void)events;
	client_drain(fd);
	pthread_mutex_lock(&c->lock);
	uint64_t written = c->written;
	bool closing = c->closing, keep = c->keep, saved = c->saved;
	struct buf *position = c->position;
	c->written = 0;
	c->closing = c->saved = false;
	pthread_mutex_unlock(&c->lock);
	int64_t now = clock_mono_ns();
	if (written)
		read_written(c->read, now, written);
	if (saved)
		read_saved(c->read, now);
	if (position) {
		read_position(c->read, position);
		pthread_mutex_lock(&c->lock);
		c->position = NULL;
		pthread_cond_signal(&c->placed);
		pthread_mutex_unlock(&c->lock);
	}
	if (closing)
		read_close(c->read, now, keep);
}

static bool
reader_ended(struct client *c)
{
	pthread_mutex_lock(&c->lock);
	read_stats(c->read, &c->stats);
	bool ended = c->over || c->leave;
	pthread_mutex_unlock(&c->lock);
	return ended;
}

/* Who waits for a position waits no longer. */
static void
reader_last(struct client *c)
{
	pthread_mutex_lock(&c->lock);
	c->gone = true;
	if (c->position)
		read_position(c->read, c->position);
	c->position = NULL;
	pthread_cond_signal(&c->placed);
	pthread_mutex_unlock(&c->lock);
}

void *
reader_thread(void *arg)
{
	struct client *c = arg;
	for (;;) {
		struct read_action a;
		while (read_action(c->read, &a))
			reader_do(c, &a);
		if (c->out.failed)
			reader_over(c, c->out.failed, &c->out.err, NULL);
		if (reader_ended(c))
			break;
		net_step(c->net, read_next_deadline(c->read));
		int64_t now = clock_mono_ns();
		if (now >= read_next_deadline(c->read))
			read_tick(c->read, now);
	}
	reader_last(c);
	/* the last acknowledgements are on their way: the peers answered them */
	sock_free(&c->control, READER_LINGER_MS);
	sock_free(&c->data, READER_LINGER_MS);
	return NULL;
}
