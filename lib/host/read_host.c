/* SPDX-License-Identifier: MIT
 *
 * Two threads: the caller's (client_*) and the network's (reader_*).
 *
 *	network --items, end--> caller        under the lock, told by `fd`
 *	caller --written, close--> network    under the lock, told by `wake`
 */
#include "host/read_host.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/chunk.h"
#include "host/link.h"
#include "value/mp.h"

enum { READER_LINGER_MS = 500 };
/* Of elements in one chunk, and a little for what is around them. */
#define READER_FRAME_MAX ((size_t)1 << 30)

/* A chunk as it came. The state machine has one reference, each item that is to
 * be delivered another: the machine may drop it (all is over) while the caller's
 * thread is looking into it. */
struct held {
	atomic_int refs;
	struct block *block;  /* the payload; once unpacked, that */
	uint64_t raw_len;
	uint32_t count, codec;
	/* where element `at` begins, for pieces that begin in the middle */
	uint32_t at;
	size_t at_byte;
};

struct item {
	struct held *held;
	uint32_t first, count, stream;
	uint64_t offset;
};

struct client {
	struct client_conf conf;
	struct net *net;
	struct sock *control, *data;
	struct read *read;
	struct buf scratch;
	pthread_t thread;
	bool started;
	char *dispatcher;
	struct held *lent;          /* of the piece taken last */
	struct { uint64_t worker; char *endpoint; } *links;
	size_t n_links, cap_links;

	int fd, wake;
	pthread_mutex_t lock;
	struct item *items;         /* a queue: from items_at on */
	size_t items_at, n_items, cap_items;
	bool readable, over, gone;  /* fd is readable; all is said; the thread is over */
	uint32_t code;              /* once over */
	struct err err;
	uint64_t written;           /* not yet told to the state machine */
	bool closing, keep, leave;  /* asked for; leave: end at once */
	struct buf *position;       /* where the caller waits for it */
	bool saved;
	pthread_cond_t placed;      /* position is there, or the thread is over */
	struct read_stats stats;
	bool job_known;
	struct msg job_msg;
	struct client_job job;
};

static void
client_poke(int fd)
{
	uint64_t one = 1;
	ssize_t rc = write(fd, &one, sizeof one);
	(void)rc; /* full means readable already */
}

static void
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

static void
reader_told(void *arg, struct sock_msg *in)
{
	struct client *c = arg;
	struct msg m;
	struct err e;
	if (!link_decode(in, &m, &e))
		return;
	read_message(c->read, clock_mono_ns(), &m);
	msg_clear(&m);
}

static void
reader_control_broke(void *arg, uint64_t peer)
{
	(void)peer;
	read_dispatcher_gone(((struct client *)arg)->read, clock_mono_ns());
}

static void
reader_worker_broke(void *arg, uint64_t peer)
{
	read_worker_gone(((struct client *)arg)->read, clock_mono_ns(), peer);
}

static void
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

static void
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
	pthread_mutex_unlock(&c->lock);
}

static void
reader_over(struct client *c, uint32_t code, const struct err *e)
{
	pthread_mutex_lock(&c->lock);
	c->over = true;
	c->code = code;
	if (code && e)
		c->err = *e;
	reader_readable(c);
	pthread_mutex_unlock(&c->lock);
}

static void
reader_do(struct client *c, struct read_action *a)
{
	switch (a->kind) {
	case READ_TELL:
		link_send(c->control, LINK_DISPATCHER, &a->msg, &c->scratch, NULL);
		break;
	case READ_SEND:
		link_send(c->data, a->worker, &a->msg, &c->scratch, NULL);
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
		reader_over(c, a->code, a->err);
		break;
	case READ_NONE:
		break;
	}
	msg_clear(&a->msg);
}

/* What the caller's thread wants. */
static void
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

static void *
reader_thread(void *arg)
{
	struct client *c = arg;
	for (;;) {
		struct read_action a;
		while (read_action(c->read, &a))
			reader_do(c, &a);
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

static enum status
client_machine(struct client *c, uint64_t self, struct err *e)
{
	const struct client_conf *f = &c->conf;
	struct read_opts o = { .peer = self, .name = "", .host = link_host(),
		.pid = (uint32_t)getpid(), .job = f->job, .dataset = f->dataset, .spec = f->spec,
		.type = f->type, .sharding = f->sharding, .order = f->order, .shards = f->shards,
		.epoch = f->epoch, .seeded = f->seeded, .seed = f->seed, .options = f->options,
		.min_workers = f->min_workers, .wait_ms = (uint32_t)(f->wait_ns / 1000000),
		.window = f->window, .budget = f->budget, .checkpoint = f->checkpoint };
	if (f->position) {
		o.position = f->position->data;
		o.position_len = f->position->len;
	}
	return read_new(&o, clock_mono_ns(), &c->read, e);
}

static enum status
client_start(struct client *c, struct err *e)
{
	uint64_t self = sock_peer_new();
	struct sock_opts control = { .self = self, .message = reader_told,
		.broke = reader_control_broke, .arg = c };
	struct sock_opts data = { .self = self, .message = reader_data,
		.broke = reader_worker_broke, .frame_max = READER_FRAME_MAX, .arg = c };
	c->net = net_new();
	c->control = sock_new(c->net, &control);
	c->data = sock_new(c->net, &data);
	net_watch(c->net, c->wake, NET_READ, reader_woken, c);
	enum status st = client_machine(c, self, e);
	if (st == ST_OK)
		st = sock_connect(c->control, c->dispatcher, LINK_DISPATCHER, e);
	if (st != ST_OK)
		return st;
	int rc = pthread_create(&c->thread, NULL, reader_thread, c);
	if (rc != 0)
		return err_set(e, ST_TEMP, "cannot start a thread: %s", strerror(rc));
	c->started = true;
	return ST_OK;
}

enum status
client_open(const struct client_conf *conf, struct client **out, struct err *e)
{
	enum status st = link_reach(conf->dispatcher, conf->from, LINK_WAIT_MS, NULL, 0, e);
	if (st != ST_OK)
		return st;
	link_tune_memory();
	struct client *c = mem_zalloc(sizeof *c);
	c->conf = *conf;
	c->dispatcher = mem_strdup(conf->dispatcher);
	c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->placed, NULL);
	st = client_start(c, e);
	if (st != ST_OK)
		client_free(&c);
	*out = c;
	return st;
}

static void
client_forget(struct client *c)
{
	while (c->n_items)
		held_unref(c->items[c->items_at + --c->n_items].held);
	c->items_at = 0;
}

void
client_free(struct client **cp)
{
	struct client *c = *cp;
	if (!c)
		return;
	if (c->started) {
		pthread_mutex_lock(&c->lock);
		c->leave = true;
		pthread_mutex_unlock(&c->lock);
		client_poke(c->wake);
		pthread_join(c->thread, NULL);
	}
	sock_free(&c->control, 0);
	sock_free(&c->data, 0);
	held_unref(c->lent);
	client_forget(c);
	struct read_action a;
	if (c->read)
		read_stop(c->read);
	while (c->read && read_action(c->read, &a)) {
		if (a.kind == READ_FREE)
			held_unref(a.handle);
		msg_clear(&a.msg);
	}
	read_free(&c->read);
	net_free(&c->net);
	while (c->n_links)
		mem_free(c->links[--c->n_links].endpoint);
	mem_free(c->links);
	mem_free(c->items);
	mem_free(c->dispatcher);
	msg_clear(&c->job_msg);
	buf_clear(&c->scratch);
	close(c->fd);
	close(c->wake);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->placed);
	mem_free(c);
	*cp = NULL;
}

int
client_fd(const struct client *c)
{
	return c->fd;
}

/* Which bytes of the chunk the piece is. */
static enum status
client_slice(const struct item *it, struct client_piece *out, struct err *e)
{
	struct held *h = it->held;
	if (h->codec == CODEC_SNAPPY) {
		struct block *raw;
		if (!chunk_unpack(h->block->data, h->block->len, h->raw_len, &raw))
			return err_set(e, ST_PROTO, "stream %u sent a chunk that cannot be unpacked", it->stream);
		block_unref(&h->block);
		h->block = raw;
		h->codec = CODEC_NONE;
	}
	const uint8_t *p = h->block->data, *end = p + h->block->len;
	*out = (struct client_piece){ p, h->block->len, it->count, h->block, it->stream, it->offset };
	if (it->first == 0 && it->count == h->count)
		return ST_OK;
	if (it->first < h->at)
		h->at = 0, h->at_byte = 0;
	const uint8_t *at = p + h->at_byte, *from = NULL;
	uint32_t last = it->first + it->count;
	for (uint32_t i = h->at; at && i <= last; i++) {
		if (i == it->first)
			from = at;
		if (i == last)
			break;
		at = mp_check_next(at, end);
	}
	if (!at)
		return err_set(e, ST_PROTO, "stream %u sent a chunk with malformed elements", it->stream);
	h->at = last;
	h->at_byte = (size_t)(at - p);
	out->p = from;
	out->len = (size_t)(at - from);
	return ST_OK;
}

enum status
client_take(struct client *c, struct client_piece *out, struct err *e)
{
	struct item it;
	enum status st = ST_AGAIN;
	held_unref(c->lent);
	c->lent = NULL;
	pthread_mutex_lock(&c->lock);
	if (c->n_items) {
		it = c->items[c->items_at++];
		if (--c->n_items == 0)
			c->items_at = 0;
		st = ST_OK;
	} else if (c->over) {
		st = c->code ? (enum status)c->code : ST_END;
		if (c->code && e)
			*e = c->err;
	} else if (c->readable) {
		c->readable = false;
		client_drain(c->fd);
	}
	pthread_mutex_unlock(&c->lock);
	if (st != ST_OK)
		return st;
	c->lent = it.held;
	return client_slice(&it, out, e);
}

void
client_written(struct client *c, uint64_t elements)
{
	if (!elements)
		return;
	pthread_mutex_lock(&c->lock);
	bool first = c->written == 0;
	c->written += elements;
	pthread_mutex_unlock(&c->lock);
	if (first)
		client_poke(c->wake);
}

void
client_position(struct client *c, struct buf *out)
{
	buf_reset(out);
	pthread_mutex_lock(&c->lock);
	if (c->gone) { /* nobody else looks at the machine any more */
		if (c->written)
			read_written(c->read, clock_mono_ns(), c->written);
		c->written = 0;
		read_position(c->read, out);
	} else {
		c->position = out;
		client_poke(c->wake);
		while (c->position)
			pthread_cond_wait(&c->placed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
}

void
client_saved(struct client *c)
{
	pthread_mutex_lock(&c->lock);
	c->saved = true;
	pthread_mutex_unlock(&c->lock);
	client_poke(c->wake);
}

const struct client_job *
client_job(const struct client *c)
{
	return &c->job;
}

void
client_close(struct client *c, bool keep, int wait_ms)
{
	int64_t until = clock_mono_ns() + (int64_t)wait_ms * 1000000;
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	c->keep = keep;
	pthread_mutex_unlock(&c->lock);
	client_poke(c->wake);
	for (;;) {
		pthread_mutex_lock(&c->lock);
		bool over = c->over;
		client_forget(c); /* nobody wants them any more */
		if (!over && c->readable) {
			c->readable = false;
			client_drain(c->fd);
		}
		pthread_mutex_unlock(&c->lock);
		int64_t left = (until - clock_mono_ns()) / 1000000;
		if (over || left <= 0)
			return;
		struct pollfd p = { .fd = c->fd, .events = POLLIN };
		poll(&p, 1, (int)left + 1);
	}
}

void
client_stats(struct client *c, struct read_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}
