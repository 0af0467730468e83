/* SPDX-License-Identifier: MIT */
#include "host/work/worker_host.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/asked.h"
#include "base/caught.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/trace.h"
#include "core/work/worker.h"
#include "host/link.h"
#include "host/work/produce.h"
#include "host/work/plans.h"
#include "host/work/turns.h"
#include "host/work/worker_host_inner.h"
#include "net/address.h"
#include "net/notify.h"

/* between two looks at what operators spend: a BEAT is told about once a second */
#define WORKER_HOST_SPENT_NS 250000000LL
enum { WORKER_HOST_LINGER_MS = 1000, WORKER_HOST_JOIN_MS = 1000 };

static void
worker_host_stranger(void *arg, uint64_t peer)
{
	struct worker_host *h = arg;
	struct err e;
	(void)peer;
	if (!h->met)
		worker_host_finish(h, link_stranger(h->way.where, &e), &e);
}

static void
worker_host_denied(void *arg, uint64_t peer, enum sock_denied why)
{
	struct worker_host *h = arg;
	struct err e;
	(void)peer;
	if (secure_denied(&h->way.secure, h->way.list, h->met, why, &e) != ST_OK)
		worker_host_finish(h, e.kind, &e);
}

static void
worker_host_told(void *arg, struct sock_msg *in)
{
	struct worker_host *h = arg;
	struct msg m;
	struct err e;
	enum status st = link_answer(in, &h->met, h->way.where, &m, &e);
	if (st == ST_UNAVAIL)
		worker_host_finish(h, st, &e);
	if (st != ST_OK)
		return;
	if (m.type == MSG_WELCOME && m.welcome.strangers)
		fence_strangers(h->conf->fence);
	if (m.type == MSG_READER_GONE)
		lender_lost(h->lender, m.reader_gone.key.iteration, m.reader_gone.seat);
	worker_message(h->work, clock_mono_ns(), &m);
	msg_clear(&m);
}

static void
worker_host_turned(void *arg, uint64_t peer)
{
	(void)peer;
	worker_dispatcher_reached(((struct worker_host *)arg)->work, clock_mono_ns());
}

static bool
worker_host_renew(void *arg, const char **list, const struct key **keys)
{
	return way_renew(&((struct worker_host *)arg)->way, list, keys);
}

static void
worker_host_control_broke(void *arg, uint64_t peer)
{
	struct worker_host *h = arg;
	(void)peer;
	if (h->met)
		log_say(LOG_INFO, "lost the connection to the dispatcher");
	worker_dispatcher_gone(h->work, clock_mono_ns());
}

/* A reader on this machine wants to map our memory. */
static void
worker_host_attach(struct worker_host *h, uint64_t peer, const struct msg_attach *m)
{
	struct msg reply;
	if (!lender_attach(h->lender, peer, m, &reply))
		return;
	link_send(h->data, peer, &reply, &h->out, NULL);
	msg_clear(&reply);
}

static void
worker_host_asked(void *arg, struct sock_msg *in)
{
	struct worker_host *h = arg;
	struct msg m;
	struct err e;
	if (!link_decode(in, &m, &e))
		return;
	if (m.type == MSG_CREDIT && worker_admits(h->work, &m.credit))
		lender_seat(h->lender, in->peer, m.credit.key.iteration, m.credit.seat);
	if (m.type == MSG_ATTACH)
		worker_host_attach(h, in->peer, &m.attach);
	else
		worker_data(h->work, clock_mono_ns(), in->peer, &m);
	msg_clear(&m);
}

static void
worker_host_reader_broke(void *arg, uint64_t peer)
{
	struct worker_host *h = arg;
	lender_broke(h->lender, peer);
	worker_peer_gone(h->work, clock_mono_ns(), peer);
}

static struct worker_host_make *
worker_host_find(struct worker_host *h, struct stream_key key)
{
	for (size_t i = 0; i < h->n_makes; i++) {
		struct stream_key k = produce_key(h->makes[i].produce);
		if (k.stream == key.stream && k.gen == key.gen && k.iteration == key.iteration &&
		    !produce_stopped(h->makes[i].produce))
			return &h->makes[i];
	}
	return NULL;
}

static void
worker_host_start(struct worker_host *h, struct msg *m)
{
	h->makes = mem_grow(h->makes, &h->cap_makes, h->n_makes + 1, sizeof *h->makes);
	h->makes[h->n_makes++] = (struct worker_host_make){
		produce_new(&m->assign, &h->produce_conf, &h->queue), 1, INT64_MAX
	};
}

static void
worker_host_wanted(struct worker_host_make *wm, uint32_t view)
{
	wm->want_ns = produce_want(wm->produce, view, wm->takers, clock_mono_ns());
}

static void
worker_host_chunk(struct worker_host *h, struct worker_action *a)
{
	struct chunk *c = a->handle;
	int64_t began = trace_begin();
	uint64_t count = c->count, bytes = c->len;
	a->msg.chunk.codec = c->codec;
	a->msg.chunk.raw_len = c->raw_len;
	/* A reader that is not there is told of by its broken connection. */
	bool lent = lender_chunk(h->lender, a->peer, c, &a->msg.chunk);
	struct sock_payload p = { 0 };
	if (!lent)
		p = chunk_payload(c);
	worker_sent(h->work, a->msg.chunk.key.iteration, a->msg.chunk.raw_len, lent ? 0 : bytes);
	link_send(h->data, a->peer, &a->msg, &h->out, lent ? NULL : &p);
	trace_span(began, TRACE_SEND, lent ? "lent" : NULL, count, bytes, a->msg.chunk.key.stream);
}

void
worker_host_finish(struct worker_host *h, enum status st, const struct err *e)
{
	h->over = true;
	h->end = st;
	if (e && st != ST_OK)
		*h->err = *e;
}

static void
worker_host_stream_action(struct worker_host *h, struct worker_action *a)
{
	struct worker_host_make *wm = worker_host_find(h, a->key);
	if (!wm)
		return;
	switch (a->kind) {
	case WORKER_STOP:
		wm->want_ns = INT64_MAX;
		produce_stop(wm->produce);
		break;
	case WORKER_STALL:
	case WORKER_RESUME:
		produce_stall(wm->produce, a->kind == WORKER_STALL);
		break;
	case WORKER_WANT:
		wm->takers = a->takers;
		worker_host_wanted(wm, a->view);
		break;
	case WORKER_REST:
		produce_rest(wm->produce);
		break;
	case WORKER_GO:
		produce_go(wm->produce);
		break;
	case WORKER_STEP:
		produce_step(wm->produce, a->free);
		break;
	case WORKER_HANDOVER:
		produce_handover(wm->produce);
		break;
	case WORKER_SPLITS:
		produce_splits(wm->produce, &a->msg.split);
		break;
	default:
		break;
	}
}

static void
worker_host_do(struct worker_host *h, struct worker_action *a)
{
	struct chunk *c = a->handle;
	switch (a->kind) {
	case WORKER_TELL:
		link_send(h->control, LINK_DISPATCHER, &a->msg, &h->out, NULL);
		break;
	case WORKER_SEND:
		link_send(h->data, a->peer, &a->msg, &h->out, NULL);
		break;
	case WORKER_CHUNK:
		worker_host_chunk(h, a);
		break;
	case WORKER_FREE:
		chunk_free(&c);
		break;
	case WORKER_START:
		worker_host_start(h, &a->msg);
		break;
	case WORKER_TAP:
		for (size_t i = 0; i < h->n_makes; i++)
			if (produce_key(h->makes[i].produce).iteration == a->msg.tap.iteration)
				produce_tap(h->makes[i].produce, &a->msg.tap);
		break;
	case WORKER_LIST:
		h->listing++;
		produce_list(&a->msg.list, h->name, a->msg.req, &h->queue);
		break;
	case WORKER_WELCOME: {
		struct err e;
		enum status st = h->conf->ready(h->conf->arg, (char *)h->bound.data, &e);
		notify_say("READY=1\nSTATUS=works for the dispatcher at %s", h->way.where);
		if (st != ST_OK)
			worker_host_finish(h, st, &e);
		break;
	}
	case WORKER_DRAIN:
		h->drain = true;
		break;
	case WORKER_LEAVE:
		if (!h->drain)
			log_say(LOG_INFO, "the dispatcher has ended, and this worker with it");
		worker_host_finish(h, ST_OK, NULL);
		break;
	case WORKER_LOST:
		worker_host_finish(h, a->err->kind, a->err);
		break;
	default:
		worker_host_stream_action(h, a);
	}
	msg_clear(&a->msg);
}

static void
worker_host_stdin(void *arg, int fd, int events)
{
	struct worker_host *h = arg;
	char bytes[256];
	(void)events;
	if (read(fd, bytes, sizeof bytes) <= 0) {
		net_unwatch(h->net, fd);
		worker_host_finish(h, ST_OK, NULL);
	}
}

/* When it has had nothing to do for long enough; INT64_MAX: never. */
static int64_t
worker_host_idle(struct worker_host *h, int64_t now)
{
	if (!h->conf->idle_ns || h->drain)
		return INT64_MAX;
	if (!h->met || h->listing || worker_streams(h->work) || worker_kept_bytes(h->work))
		h->idle_ns = now;
	if (h->conf->idle_ns > INT64_MAX - h->idle_ns)
		return INT64_MAX;
	int64_t end = h->idle_ns + h->conf->idle_ns;
	if (now >= end) {
		log_say(LOG_INFO, "nothing to do for %.3g s", (double)h->conf->idle_ns / 1e9);
		h->drain = true;
	}
	return end;
}

static int64_t
worker_host_deadline(struct worker_host *h)
{
	int64_t at = worker_next_deadline(h->work), now = clock_mono_ns();
	int64_t idle = worker_host_idle(h, now), watched = notify_watchdog(now);
	if (idle < at)
		at = idle;
	if (watched < at)
		at = watched;
	if (h->drain_until_ns < at)
		at = h->drain_until_ns;
	for (size_t i = 0; i < h->n_makes; i++)
		if (h->makes[i].want_ns < at)
			at = h->makes[i].want_ns;
	return at;
}

static void
worker_host_wants(struct worker_host *h)
{
	int64_t now = clock_mono_ns();
	for (size_t i = 0; i < h->n_makes; i++)
		if (h->makes[i].want_ns <= now)
			worker_host_wanted(&h->makes[i], WORKER_ALL_VIEWS);
}

static void
worker_host_begin_drain(struct worker_host *h)
{
	int64_t now = clock_mono_ns();
	h->drain_until_ns = now + h->conf->drain_ns;
	notify_say("STOPPING=1\nSTATUS=draining");
	log_say(LOG_INFO, "draining: handing work over; interrupt again to quit now");
	worker_drain(h->work, now);
}

/* Nobody takes what is left, or there is no dispatcher to take it over: others
 * will make it again when this worker has gone. */
static void
worker_host_end_drain(struct worker_host *h)
{
	struct err e;
	if (worker_streams(h->work) == 0 && worker_kept_bytes(h->work) == 0) {
		worker_host_finish(h, ST_OK, NULL);
		return;
	}
	err_set(&e, ST_TEMP, "could not hand over all streams in time; others will make their elements again");
	worker_host_finish(h, ST_TEMP, &e);
}

static void
worker_host_loop(struct worker_host *h)
{
	for (;;) {
		struct worker_action a;
		while (worker_action(h->work, &a))
			worker_host_do(h, &a);
		if (h->out.failed && !h->over)
			worker_host_finish(h, h->out.failed, &h->out.err);
		if (h->over)
			return;
		if (h->drain && h->drain_until_ns == INT64_MAX) {
			worker_host_begin_drain(h);
			continue;
		}
		net_step(h->net, worker_host_deadline(h));
		struct lender_stats shares;
		lender_stats(h->lender, &shares);
		worker_shares(h->work, shares.arena, shares.leased);
		worker_host_wants(h);
		int64_t now = clock_mono_ns();
		if (now >= h->spent_at + WORKER_HOST_SPENT_NS) {
			for (size_t i = 0; i < h->n_makes; i++)
				worker_host_spent(h, h->makes[i].produce);
			h->spent_at = now;
		}
		if (now >= worker_next_deadline(h->work))
			worker_tick(h->work, now);
		if (now >= h->drain_until_ns)
			worker_host_end_drain(h);
	}
}

static void
worker_host_open(struct worker_host *h, uint64_t self)
{
	struct sock_opts control = { .self = self, .message = worker_host_told,
		.broke = worker_host_control_broke, .stranger = worker_host_stranger,
		.turned = worker_host_turned, .denied = worker_host_denied, .keys = secure_own(&h->way.secure),
		.renew = way_renews(&h->way) ? worker_host_renew : NULL, .arg = h };
	struct sock_opts data = { .self = self, .handover = true, .message = worker_host_asked,
		.broke = worker_host_reader_broke, .arg = h };
	h->net = net_new();
	h->control = sock_new(h->net, &control);
	h->data = sock_new(h->net, &data);
	produce_queue_init(&h->queue);
	net_watch(h->net, h->queue.fd, NET_READ, worker_host_events, h);
	net_watch(h->net, caught_stops(), NET_READ, worker_host_signal, h);
	worker_host_signals();
	net_watch(h->net, asked_open(), NET_READ, worker_host_requests, h);
	if (h->conf->until_stdin_eof)
		net_watch(h->net, STDIN_FILENO, NET_READ, worker_host_stdin, h);
}

/* Threads that do not end in time are left to the end of the process: they may
 * hang in a file system or in a program that they run. */
static bool
worker_host_join(struct worker_host *h)
{
	int64_t until = clock_mono_ns() + (int64_t)WORKER_HOST_JOIN_MS * 1000000;
	for (size_t i = 0; i < h->n_makes; i++)
		produce_stop(h->makes[i].produce);
	produce_list_stop();
	struct pollfd p = { .fd = h->queue.fd, .events = POLLIN };
	for (int64_t left; h->listing && (left = until - clock_mono_ns()) > 0;)
		if (poll(&p, 1, (int)(left / 1000000) + 1) > 0)
			worker_host_events(h, 0, 0);
	return turns_wait(h->produce_conf.turns, until) && h->listing == 0;
}

static void
worker_host_close(struct worker_host *h, bool clean)
{
	sock_free(&h->control, WORKER_HOST_LINGER_MS);
	sock_free(&h->data, WORKER_HOST_LINGER_MS);
	door_free(&h->door);
	lender_stop(h->lender);
	if (clean) /* nothing writes any more into what readers have */
		lender_free(&h->lender);
	net_free(&h->net);
	address_release(&h->address, &h->claim);
	buf_clear(&h->bound);
	buf_clear(&h->told);
	buf_clear(&h->endpoint);
	way_close(&h->way);
	link_out_clear(&h->out);
	if (!clean || !h->work)
		return;
	worker_host_events(h, 0, 0);
	worker_stop(h->work);
	struct worker_action a;
	while (worker_action(h->work, &a)) {
		struct chunk *c = a.handle;
		if (a.kind == WORKER_FREE)
			chunk_free(&c);
		msg_clear(&a.msg);
	}
	worker_free(&h->work);
	while (h->n_makes)
		worker_host_exit(h, h->makes[0].produce);
	turns_free(&h->produce_conf.turns);
	arenas_free(&h->arenas);
	produce_queue_clear(&h->queue);
	mem_free(h->events);
	mem_free(h->makes);
}

static void
worker_host_set_up(struct worker_host *h, uint64_t self)
{
	const struct worker_host_conf *c = h->conf;
	link_name(h->name);
	if (c->name)
		snprintf(h->name, sizeof h->name, "%s", c->name);
	struct worker_opts o = { .peer = self, .name = h->name, .host = link_host(), .hostname = link_hostname(),
		.endpoint = (char *)h->endpoint.data, .tags = c->tags, .pid = (uint32_t)getpid(),
		.slots = c->slots, .memory = c->memory, .give_up_ns = c->give_up_ns, .where = h->way.where };
	/* Two more, so that streams are closed though all the others are busy. */
	h->produce_conf = (struct produce_conf){ turns_new(worker_threads(c->slots) + 2), h->name, c->pack,
		h->arenas, c->restart_ns };
	struct address a;
	if (c->pack == PACK_AUTO && address_parse((char *)h->told.data, &a, NULL) == ST_OK &&
	    address_local(&a))
		h->produce_conf.pack = PACK_NONE; /* no network to save */
	h->work = worker_new(&o, clock_mono_ns());
}

static enum status
worker_host_fence(struct worker_host *h, struct err *e)
{
	const struct worker_host_conf *c = h->conf;
	bool strangers = !link_is_ipc(c->dispatcher) || !link_is_ipc(c->bind) || !link_is_ipc(c->advertise);

	if (fence_confines(c->fence, strangers))
		way_guide(&h->way);
	return fence_up(c->fence, strangers, c->bind && !strncmp(c->bind, "ipc://", 6) ? c->bind + 6 : NULL, e);
}

enum status
worker_host_run(const struct worker_host_conf *c, struct err *e)
{
	struct worker_host h = { .conf = c, .claim = -1, .err = e, .drain_until_ns = INT64_MAX };
	uint64_t self = sock_peer_new();
	net_raise_files();
	enum status st = net_check_files(e);
	if (st == ST_OK) /* before the fence is up, behind which no key can be read */
		st = way_open(&h.way, c->dispatcher, c->from, true, "work", e);
	if (st == ST_OK)
		st = worker_host_fence(&h, e);
	if (st == ST_OK)
		st = way_reach(&h.way, e);
	if (st != ST_OK) {
		way_close(&h.way);
		return st;
	}
	link_tune_memory();
	worker_host_open(&h, self);
	st = worker_host_bind(&h, &h.way.reached.answer, e);
	if (st == ST_OK)
		st = worker_host_share(&h, e);
	if (st == ST_OK)
		st = way_connect(&h.way, h.control, e);
	bool clean = true;
	if (st == ST_OK) {
		worker_host_set_up(&h, self);
		worker_host_loop(&h);
		st = h.end;
		clean = worker_host_join(&h);
	}
	worker_host_close(&h, clean);
	return st;
}
