/* SPDX-License-Identifier: MIT
 *
 * The caller's side of a reader.
 */
#include "host/reader_host.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/wake.h"
#include "host/chunk.h"
#include "host/reader_host_inner.h"
#include "host/link.h"
#include "value/mp.h"

static enum status
reader_host_machine(struct reader_host *c, uint64_t self, struct err *e)
{
	const struct reader_host_conf *f = &c->conf;
	link_name(c->name);
	struct reader_opts o = { .peer = self, .name = c->name, .host = link_host(), .hostname = link_hostname(),
		.pid = (uint32_t)getpid(), .job = f->job, .dataset = f->dataset, .spec = f->spec,
		.type = f->type, .in_rounds = f->in_rounds, .budget = f->budget, .give_up_ns = f->give_up_ns, .where = c->way.where,
		.stops = f->stops, .lag = f->lag };
	if (f->position) {
		o.position = f->position->data;
		o.position_len = f->position->len;
	}
	o.given = f->given;
	o.n_given = f->n_given;
	return reader_new(&o, clock_mono_ns(), &c->read, e);
}

static enum status
reader_host_start(struct reader_host *c, struct err *e)
{
	uint64_t self = sock_peer_new();
	struct sock_opts control = { .self = self, .message = reader_net_told,
		.broke = reader_net_control_broke, .stranger = reader_net_stranger,
		.turned = reader_net_turned, .denied = reader_net_denied, .keys = secure_own(&c->way.secure),
		.renew = way_renews(&c->way) ? reader_net_renew : NULL, .arg = c };
	struct sock_opts data = { .fresh = true, .message = reader_net_data,
		.broke = reader_net_worker_broke, .connected = reader_net_worker_up, .frame_max = READER_NET_FRAME_MAX, .arg = c };
	c->net = net_new();
	c->control = sock_new(c->net, &control);
	c->data = sock_new(c->net, &data);
	net_watch(c->net, c->wake, NET_READ, reader_net_woken, c);
	enum status st = reader_host_machine(c, self, e);
	if (st == ST_OK)
		st = way_connect(&c->way, c->control, e);
	if (st != ST_OK)
		return st;
	st = thread_start(&c->thread, reader_net_thread, c, "the network", e);
	c->started = st == ST_OK;
	return st;
}

/* The caller's texts may go as soon as reader_host_open returns. */
static void
reader_host_own(struct reader_host *c)
{
	const char **texts[] = { &c->conf.dataset, &c->conf.spec, &c->conf.type };
	job_opts_own(&c->conf.job);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*texts[i] = c->texts[i] = mem_strdup(*texts[i]);
}

enum status
reader_host_open(const struct reader_host_conf *conf, struct reader_host **out, struct err *e)
{
	struct way way = { 0 };
	enum status st = job_opts_check(&conf->job, e);
	if (st == ST_OK)
		st = net_check_files(e);
	if (st == ST_OK)
		st = way_open(&way, conf->dispatcher, conf->from, false, "read,register", e);
	if (st == ST_OK)
		st = way_reach(&way, e);
	if (st != ST_OK) {
		way_close(&way);
		return st;
	}
	link_tune_memory();
	struct reader_host *c = mem_zalloc(sizeof *c);
	c->conf = *conf;
	c->way = way;
	secure_wipe(&way.secure);
	c->conf.dispatcher = c->conf.from = NULL; /* the way has them */
	reader_host_own(c);
	c->fd = wake_open();
	c->wake = wake_open();
	c->stop_fd = wake_open();
	c->why = why_new(c->wake);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->placed, NULL);
	st = reader_host_start(c, e);
	if (st != ST_OK)
		reader_host_free(&c);
	*out = c;
	return st;
}

static void
reader_host_forget(struct reader_host *c)
{
	while (c->n_items)
		held_unref(c->items[c->items_at + --c->n_items].held);
	c->items_at = 0;
}

void
reader_host_free(struct reader_host **cp)
{
	struct reader_host *c = *cp;
	if (!c)
		return;
	if (c->started) {
		pthread_mutex_lock(&c->lock);
		c->leave = true;
		pthread_mutex_unlock(&c->lock);
		wake_set(c->wake);
		pthread_join(c->thread, NULL);
	}
	sock_free(&c->control, 0);
	sock_free(&c->data, 0);
	held_unref(c->lent);
	reader_host_forget(c);
	struct reader_action a;
	if (c->read)
		reader_stop(c->read);
	while (c->read && reader_action(c->read, &a)) {
		if (a.kind == READER_FREE)
			held_unref(a.handle);
		msg_clear(&a.msg);
	}
	reader_free(&c->read);
	msg_clear(&c->result);
	reader_net_unlink_all(c);
	net_free(&c->net);
	mem_free(c->items);
	mem_free(c->marks);
	for (size_t i = 0; i < sizeof c->texts / sizeof *c->texts; i++)
		mem_free(c->texts[i]);
	job_opts_clear(&c->conf.job);
	msg_clear(&c->job_msg);
	link_out_clear(&c->out);
	way_close(&c->way);
	close(c->fd);
	why_free(&c->why);
	close(c->wake);
	close(c->stop_fd);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->placed);
	mem_free(c);
	*cp = NULL;
}

int
reader_host_fd(const struct reader_host *c)
{
	return c->fd;
}

/* Which bytes of the chunk the piece is. */
static enum status
reader_host_slice(struct reader_host *c, const struct item *it, struct reader_host_piece *out, struct err *e)
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
	if (!c->conf.in_place && borrower_is(h->block)) {
		/* the caller looks into it, so it may not change, and may keep it for long */
		struct block *own = block_new(h->block->len);
		memcpy(own->data, h->block->data, h->block->len);
		own->len = h->block->len;
		block_unref(&h->block);
		h->block = own;
	}
	const uint8_t *p = h->block->data, *end = p + h->block->len;
	*out = (struct reader_host_piece){ p, h->block->len, it->count, h->block, it->stream, it->offset,
		h->worker };
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
reader_host_take(struct reader_host *c, struct reader_host_piece *out, struct err *e)
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
		st = c->code != ST_OK ? c->code : ST_END;
		if (c->code && e)
			*e = c->err;
	} else if (c->readable) {
		c->readable = false;
		wake_clear(c->fd);
	}
	pthread_mutex_unlock(&c->lock);
	if (st != ST_OK)
		return st;
	c->lent = it.held;
	c->taken += it.count;
	return reader_host_slice(c, &it, out, e);
}

void
reader_host_written(struct reader_host *c, uint64_t elements)
{
	if (!elements)
		return;
	pthread_mutex_lock(&c->lock);
	bool first = c->written == 0;
	c->written += elements;
	pthread_mutex_unlock(&c->lock);
	if (first)
		wake_set(c->wake);
}

uint64_t
reader_host_mark_in(struct reader_host *c, uint64_t n)
{
	pthread_mutex_lock(&c->lock);
	uint64_t left = reader_mark_in(&c->stats, c->conf.job.checkpoint_rounds, n);
	pthread_mutex_unlock(&c->lock);
	return left;
}

void
reader_host_mark(struct reader_host *c, uint64_t bytes, uint64_t elements)
{
	pthread_mutex_lock(&c->lock);
	if (c->n_marks == c->cap_marks)
		c->marks = mem_grow(c->marks, &c->cap_marks, c->n_marks + 1, sizeof *c->marks);
	c->marks[c->n_marks++] = (struct host_mark){ c->written, bytes, elements };
	pthread_mutex_unlock(&c->lock);
	wake_set(c->wake);
}

uint64_t
reader_host_position_at(struct reader_host *c, uint64_t n, struct buf *out)
{
	buf_reset(out);
	pthread_mutex_lock(&c->lock);
	c->position = out;
	c->position_n = n;
	if (c->gone) { /* nobody else looks at the machine any more */
		reader_net_written(c, clock_mono_ns(), c->written, c->marks, c->n_marks);
		c->written = 0;
		c->n_marks = 0;
		reader_net_position(c);
	} else {
		wake_set(c->wake);
		while (c->position)
			pthread_cond_wait(&c->placed, &c->lock);
	}
	n = c->position_n;
	pthread_mutex_unlock(&c->lock);
	return n;
}

void
reader_host_position(struct reader_host *c, struct buf *out)
{
	reader_host_position_at(c, UINT64_MAX, out);
}

void
reader_host_release(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	c->release = true;
	pthread_mutex_unlock(&c->lock);
	wake_set(c->wake);
}

bool
reader_host_at_end(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	bool end = c->end_told && !c->n_items; /* the numbers may tell of items that are still to come */
	pthread_mutex_unlock(&c->lock);
	return end;
}

void
reader_host_saved(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	c->saved = true;
	pthread_mutex_unlock(&c->lock);
	wake_set(c->wake);
}

bool
reader_host_opened(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	bool opened = c->job_known;
	pthread_mutex_unlock(&c->lock);
	return opened;
}

const struct reader_host_job *
reader_host_job(const struct reader_host *c)
{
	return &c->job;
}

void
reader_host_close(struct reader_host *c, bool keep, int wait_ms)
{
	int64_t until = clock_mono_ns() + (int64_t)wait_ms * 1000000;
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	c->keep = keep;
	pthread_mutex_unlock(&c->lock);
	wake_set(c->wake);
	for (;;) {
		pthread_mutex_lock(&c->lock);
		bool over = c->over;
		reader_host_forget(c); /* nobody wants them any more */
		if (!over && c->readable) {
			c->readable = false;
			wake_clear(c->fd);
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
reader_host_stats(struct reader_host *c, struct reader_stats *out)
{
	pthread_mutex_lock(&c->lock);
	*out = c->stats;
	pthread_mutex_unlock(&c->lock);
}

void
reader_host_feeds(struct reader_host *c, const struct reader_feeds *f)
{
	pthread_mutex_lock(&c->lock);
	c->feeds = *f;
	pthread_mutex_unlock(&c->lock);
}

bool
reader_host_was_over(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	bool was_over = c->over && !c->code && !c->job_known && c->result.type == MSG_DONE;
	pthread_mutex_unlock(&c->lock);
	return was_over;
}

const struct msg_done *
reader_host_result(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	bool there = c->over && c->result.type == MSG_DONE;
	pthread_mutex_unlock(&c->lock);
	return there ? &c->result.done : NULL;
}

uint64_t
reader_host_rounds(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	uint64_t had = c->stats.before + c->taken, n = c->stats.places ? c->stats.places : 1;
	pthread_mutex_unlock(&c->lock);
	return (had + n - 1) / n;
}

void
reader_host_stop_at(struct reader_host *c, uint64_t rounds, uint64_t multiple)
{
	pthread_mutex_lock(&c->lock);
	bool first = !c->stopping;
	if (first) {
		c->stopping = true;
		c->stop_rounds = rounds;
		c->stop_multiple = multiple;
	}
	pthread_mutex_unlock(&c->lock);
	if (first)
		wake_set(c->wake);
}

int
reader_host_stop_fd(const struct reader_host *c)
{
	return c->stop_fd;
}

bool
reader_host_halted(struct reader_host *c)
{
	pthread_mutex_lock(&c->lock);
	wake_clear(c->stop_fd);
	bool halted = c->halted;
	pthread_mutex_unlock(&c->lock);
	return halted;
}

bool
reader_host_fence(struct reader_host *c, uint64_t *rounds)
{
	pthread_mutex_lock(&c->lock);
	wake_clear(c->stop_fd);
	bool fenced = c->fenced;
	*rounds = c->fence;
	pthread_mutex_unlock(&c->lock);
	return fenced;
}
