/* SPDX-License-Identifier: MIT */
#include "host/work_host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/work/worker.h"
#include "host/link.h"
#include "host/make.h"
#include "host/plans.h"
#include "host/turns.h"
#include "net/address.h"
#include "net/sig.h"

enum { WORK_LINGER_MS = 1000, WORK_JOIN_MS = 1000 };

struct work_make {
	struct make *make;
	int64_t want_ns; /* when to look for a part of a chunk again; INT64_MAX: need not */
};

struct host {
	const struct work_conf *conf;
	struct net *net;
	struct sock *control, *data;
	struct work *work;
	struct make_conf make_conf;
	struct make_queue queue;
	struct make_event *events;
	size_t cap_events;
	struct work_make *makes;
	size_t n_makes, cap_makes;
	size_t listing;            /* threads that list units */
	char name[WIRE_NAME_MAX], where[LINK_WHERE];
	struct buf bound;
	struct link_out out;
	struct address address;
	int claim;
	bool met, drain, over;     /* met: the dispatcher has said something */
	int64_t drain_until_ns;    /* INT64_MAX: not draining */
	enum status end;           /* how it ended, once over */
	struct err *err;
};

static void work_finish(struct host *h, enum status st, const struct err *e);

static void
work_stranger(void *arg, uint64_t peer)
{
	struct host *h = arg;
	struct err e;
	(void)peer;
	if (!h->met)
		work_finish(h, link_stranger(h->where, &e), &e);
}

static void
work_told(void *arg, struct sock_msg *in)
{
	struct host *h = arg;
	struct msg m;
	struct err e;
	enum status st = link_answer(in, &h->met, h->where, &m, &e);
	if (st == ST_UNAVAIL)
		work_finish(h, st, &e);
	if (st != ST_OK)
		return;
	work_message(h->work, clock_mono_ns(), &m);
	msg_clear(&m);
}

static void
work_control_broke(void *arg, uint64_t peer)
{
	struct host *h = arg;
	(void)peer;
	if (h->met)
		log_say(LOG_INFO, "lost the connection to the dispatcher");
	work_dispatcher_gone(h->work, clock_mono_ns());
}

static void
work_asked(void *arg, struct sock_msg *in)
{
	struct host *h = arg;
	struct msg m;
	struct err e;
	if (!link_decode(in, &m, &e))
		return;
	work_data(h->work, clock_mono_ns(), in->peer, &m);
	msg_clear(&m);
}

static void
work_reader_broke(void *arg, uint64_t peer)
{
	work_peer_gone(((struct host *)arg)->work, clock_mono_ns(), peer);
}

static struct work_make *
work_find(struct host *h, struct stream_key key)
{
	for (size_t i = 0; i < h->n_makes; i++) {
		struct stream_key k = make_key(h->makes[i].make);
		if (k.stream == key.stream && k.gen == key.gen && k.iteration == key.iteration &&
		    !make_stopped(h->makes[i].make))
			return &h->makes[i];
	}
	return NULL;
}

static void
work_exit(struct host *h, struct make *m)
{
	for (size_t i = 0; i < h->n_makes; i++)
		if (h->makes[i].make == m)
			h->makes[i] = h->makes[--h->n_makes];
	make_free(&m);
}

/* What a thread has to say. */
static void
work_event(struct host *h, struct make_event *ev, int64_t now)
{
	struct work *w = h->work;
	struct chunk *c = ev->chunk;
	switch (ev->kind) {
	case MAKE_CHUNK:
		ev->chunk = NULL;
		make_taken(ev->make, c->len);
		work_produced(w, now, ev->key, c, c->offset, c->count, c->len,
			      ev->split);
		break;
	case MAKE_SPLIT:
		work_split_taken(w, now, ev->key, ev->number);
		break;
	case MAKE_FAULTS:
		work_faults(w, now, ev->key, ev->number, &ev->faults);
		break;
	case MAKE_RESTART:
		work_restart(w, now, ev->key, ev->number, ev->split, ev->state.data, ev->state.len);
		break;
	case MAKE_HANDED:
		work_handed(w, now, ev->key, ev->can, ev->number, ev->split, ev->state.data,
			    ev->state.len, ev->made);
		break;
	case MAKE_ENDED:
		work_ended(w, now, ev->key, ev->number, ev->made);
		break;
	case MAKE_FAILED:
		work_failed(w, now, ev->key, ev->err, ev->number, ev->split, ev->made);
		break;
	case MAKE_LISTED:
		h->listing--;
		work_listed(w, now, ev->req, ev->units);
		break;
	case MAKE_RESTED:
		work_rested(w, now, ev->key);
		break;
	case MAKE_EXIT:
		work_exit(h, ev->make);
		break;
	}
	make_event_clear(ev);
}

static void
work_events(void *arg, int fd, int events)
{
	struct host *h = arg;
	(void)fd, (void)events;
	size_t n = make_queue_take(&h->queue, &h->events, &h->cap_events);
	int64_t now = clock_mono_ns();
	for (size_t i = 0; i < n; i++)
		work_event(h, &h->events[i], now);
}

static void
work_start(struct host *h, struct msg *m)
{
	h->makes = mem_grow(h->makes, &h->cap_makes, h->n_makes + 1, sizeof *h->makes);
	h->makes[h->n_makes++] = (struct work_make){
		make_new(&m->assign, &h->make_conf, &h->queue), INT64_MAX
	};
}

static void
work_wanted(struct work_make *wm)
{
	wm->want_ns = make_want(wm->make, clock_mono_ns());
}

static void
work_chunk(struct host *h, struct work_action *a)
{
	struct chunk *c = a->handle;
	a->msg.chunk.codec = c->codec;
	a->msg.chunk.raw_len = c->raw_len;
	struct sock_payload p = chunk_payload(c);
	/* A reader that is not there is told of by its broken connection. */
	link_send(h->data, a->peer, &a->msg, &h->out, &p);
}

static void
work_finish(struct host *h, enum status st, const struct err *e)
{
	h->over = true;
	h->end = st;
	if (e && st != ST_OK)
		*h->err = *e;
}

static void
work_stream_action(struct host *h, struct work_action *a)
{
	struct work_make *wm = work_find(h, a->key);
	if (!wm)
		return;
	switch (a->kind) {
	case WORK_STOP:
		wm->want_ns = INT64_MAX;
		make_stop(wm->make);
		break;
	case WORK_STALL:
	case WORK_RESUME:
		make_stall(wm->make, a->kind == WORK_STALL);
		break;
	case WORK_WANT:
		work_wanted(wm);
		break;
	case WORK_REST:
		make_rest(wm->make);
		break;
	case WORK_GO:
		make_go(wm->make);
		break;
	case WORK_HANDOVER:
		make_handover(wm->make);
		break;
	case WORK_SPLITS:
		make_splits(wm->make, &a->msg.split);
		break;
	default:
		break;
	}
}

static void
work_do(struct host *h, struct work_action *a)
{
	struct chunk *c = a->handle;
	switch (a->kind) {
	case WORK_TELL:
		link_send(h->control, LINK_DISPATCHER, &a->msg, &h->out, NULL);
		break;
	case WORK_SEND:
		link_send(h->data, a->peer, &a->msg, &h->out, NULL);
		break;
	case WORK_CHUNK:
		work_chunk(h, a);
		break;
	case WORK_FREE:
		chunk_free(&c);
		break;
	case WORK_START:
		work_start(h, &a->msg);
		break;
	case WORK_LIST:
		h->listing++;
		make_list(&a->msg.list, a->msg.req, &h->queue);
		break;
	case WORK_WELCOME: {
		struct err e;
		enum status st = h->conf->ready(h->conf->arg, (char *)h->bound.data, &e);
		if (st != ST_OK)
			work_finish(h, st, &e);
		break;
	}
	case WORK_LEAVE:
		if (!h->drain)
			log_say(LOG_INFO, "the dispatcher has ended, and this worker with it");
		work_finish(h, ST_OK, NULL);
		break;
	case WORK_LOST:
		work_finish(h, a->err->kind, a->err);
		break;
	default:
		work_stream_action(h, a);
	}
	msg_clear(&a->msg);
}

/* First one drains, second one leaves at once. */
static void
work_signal(void *arg, int fd, int events)
{
	struct host *h = arg;
	(void)fd, (void)events;
	sig_drain();
	if (sig_count(NULL) > 1)
		work_finish(h, ST_OK, NULL);
	else
		h->drain = true;
}

static void
work_stdin(void *arg, int fd, int events)
{
	struct host *h = arg;
	char bytes[256];
	(void)events;
	if (read(fd, bytes, sizeof bytes) <= 0) {
		net_unwatch(h->net, fd);
		work_finish(h, ST_OK, NULL);
	}
}

static int64_t
work_deadline(const struct host *h)
{
	int64_t at = work_next_deadline(h->work);
	if (h->drain_until_ns < at)
		at = h->drain_until_ns;
	for (size_t i = 0; i < h->n_makes; i++)
		if (h->makes[i].want_ns < at)
			at = h->makes[i].want_ns;
	return at;
}

static void
work_wants(struct host *h)
{
	int64_t now = clock_mono_ns();
	for (size_t i = 0; i < h->n_makes; i++)
		if (h->makes[i].want_ns <= now)
			work_wanted(&h->makes[i]);
}

static void
work_begin_drain(struct host *h)
{
	int64_t now = clock_mono_ns();
	h->drain_until_ns = now + h->conf->drain_ns;
	log_say(LOG_INFO, "draining: handing over what is under way; once more to leave at once");
	work_drain(h->work, now);
}

/* Nobody takes what is left, or there is no dispatcher to take it over: others
 * will make it again when this worker has gone. */
static void
work_end_drain(struct host *h)
{
	struct err e;
	if (work_streams(h->work) == 0 && work_kept_bytes(h->work) == 0) {
		work_finish(h, ST_OK, NULL);
		return;
	}
	err_set(&e, ST_TEMP, "could not hand over all streams in time; others will make their elements again");
	work_finish(h, ST_TEMP, &e);
}

static void
work_loop(struct host *h)
{
	for (;;) {
		struct work_action a;
		while (work_action(h->work, &a))
			work_do(h, &a);
		if (h->out.failed && !h->over)
			work_finish(h, h->out.failed, &h->out.err);
		if (h->over)
			return;
		if (h->drain && h->drain_until_ns == INT64_MAX) {
			work_begin_drain(h);
			continue;
		}
		net_step(h->net, work_deadline(h));
		work_wants(h);
		int64_t now = clock_mono_ns();
		if (now >= work_next_deadline(h->work))
			work_tick(h->work, now);
		if (now >= h->drain_until_ns)
			work_end_drain(h);
	}
}

/* Where readers are to come: as asked, else the way the dispatcher was reached. */
static enum status
work_bind(struct host *h, const char *local, struct err *e)
{
	const struct work_conf *c = h->conf;
	struct buf at = { 0 };
	enum status st = ST_OK;
	if (c->bind) {
		buf_str(&at, c->bind);
	} else if (strncmp(c->dispatcher, "ipc:", 4) == 0) {
		address_sweep("work");
		st = address_fresh("work", &at, e);
	} else {
		buf_printf(&at, "tcp://%s:*", local);
	}
	if (st == ST_OK)
		st = link_may_bind((char *)at.data, c->insecure, e);
	if (st == ST_OK)
		st = address_parse((char *)at.data, &h->address, e);
	if (st == ST_OK && !h->address.ipc && (strcmp(h->address.host, "*") == 0 ||
					       strcmp(h->address.host, "0.0.0.0") == 0)) {
		st = err_set(e, ST_USAGE, "%s does not say where readers find this worker", (char *)at.data);
		err_help(e, "bind one address of this machine, such as tcp://%s:*", local[0] ? local : "127.0.0.1");
	}
	if (st == ST_OK)
		st = address_claim(&h->address, &h->claim, e);
	if (st == ST_OK)
		st = sock_bind(h->data, (char *)at.data, &h->bound, e);
	if (!c->allow_exec && (!h->address.ipc || strncmp(c->dispatcher, "ipc:", 4) != 0))
		plans_refuse_exec();
	buf_clear(&at);
	return st;
}

static void
work_open(struct host *h, uint64_t self)
{
	struct sock_opts control = { .self = self, .message = work_told,
		.broke = work_control_broke, .stranger = work_stranger, .arg = h };
	struct sock_opts data = { .self = self, .handover = true, .message = work_asked,
		.broke = work_reader_broke, .arg = h };
	h->net = net_new();
	h->control = sock_new(h->net, &control);
	h->data = sock_new(h->net, &data);
	make_queue_init(&h->queue);
	net_watch(h->net, h->queue.fd, NET_READ, work_events, h);
	net_watch(h->net, sig_open(), NET_READ, work_signal, h);
	if (h->conf->until_stdin_eof)
		net_watch(h->net, STDIN_FILENO, NET_READ, work_stdin, h);
}

/* Threads that do not end in time are left to the end of the process: they may
 * hang in a file system or in a program that they run. */
static bool
work_join(struct host *h)
{
	int64_t until = clock_mono_ns() + (int64_t)WORK_JOIN_MS * 1000000;
	for (size_t i = 0; i < h->n_makes; i++)
		make_stop(h->makes[i].make);
	return turns_wait(h->make_conf.turns, until) && h->listing == 0;
}

static void
work_close(struct host *h, bool clean)
{
	sock_free(&h->control, WORK_LINGER_MS);
	sock_free(&h->data, WORK_LINGER_MS);
	net_free(&h->net);
	address_release(&h->address, &h->claim);
	buf_clear(&h->bound);
	link_out_clear(&h->out);
	if (!clean || !h->work)
		return;
	work_events(h, 0, 0);
	work_stop(h->work);
	struct work_action a;
	while (work_action(h->work, &a)) {
		struct chunk *c = a.handle;
		if (a.kind == WORK_FREE)
			chunk_free(&c);
		msg_clear(&a.msg);
	}
	work_free(&h->work);
	while (h->n_makes)
		work_exit(h, h->makes[0].make);
	turns_free(&h->make_conf.turns);
	make_queue_clear(&h->queue);
	mem_free(h->events);
	mem_free(h->makes);
}

static void
work_set_up(struct host *h, uint64_t self)
{
	const struct work_conf *c = h->conf;
	char host[128] = "";
	gethostname(host, sizeof host - 1);
	if (c->name)
		snprintf(h->name, sizeof h->name, "%s", c->name);
	else
		snprintf(h->name, sizeof h->name, "%s:%ld", host, (long)getpid());
	link_where(c->dispatcher, c->from, h->where);
	struct work_opts o = { .peer = self, .name = h->name, .host = link_host(),
		.endpoint = (char *)h->bound.data, .tags = c->tags, .pid = (uint32_t)getpid(),
		.slots = c->slots, .memory = c->memory, .give_up_ns = c->give_up_ns, .where = h->where };
	/* Two more, so that streams are closed though all the others are busy. */
	h->make_conf = (struct make_conf){ turns_new(work_threads(c->slots) + 2), h->name, c->pack, c->restart_ns };
	struct address a;
	if (c->pack == PACK_AUTO && address_parse((char *)h->bound.data, &a, NULL) == ST_OK &&
	    address_local(&a))
		h->make_conf.pack = PACK_NONE; /* no network to save */
	h->work = work_new(&o, clock_mono_ns());
}

enum status
work_run(const struct work_conf *c, struct err *e)
{
	struct host h = { .conf = c, .claim = -1, .err = e, .drain_until_ns = INT64_MAX };
	char local[128];
	uint64_t self = sock_peer_new();
	net_raise_files();
	enum status st = net_check_files(e);
	if (st == ST_OK)
		st = link_reach(c->dispatcher, c->from, LINK_WAIT_MS, local, sizeof local, e);
	if (st != ST_OK)
		return st;
	link_tune_memory();
	work_open(&h, self);
	st = work_bind(&h, local, e);
	if (st == ST_OK)
		st = sock_connect(h.control, c->dispatcher, LINK_DISPATCHER, e);
	bool clean = true;
	if (st == ST_OK) {
		work_set_up(&h, self);
		work_loop(&h);
		st = h.end;
		clean = work_join(&h);
	}
	work_close(&h, clean);
	return st;
}
