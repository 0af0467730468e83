/* SPDX-License-Identifier: MIT */
#include "host/dispatch_host.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "core/dispatcher.h"
#include "host/link.h"
#include "lang/spec.h"
#include "net/address.h"
#include "net/sig.h"

enum { DISPATCH_LINGER_MS = 500 };

struct dispatch_bind {
	struct address address;
	int claim;
};

struct dispatch {
	const struct dispatch_conf *conf;
	struct net *net;
	struct sock *sock;
	struct disp *disp;
	struct dispatch_bind *binds;
	size_t n_binds;
	struct buf first, scratch;
	bool over;
};

static void
dispatch_message(void *arg, struct sock_msg *in)
{
	struct dispatch *d = arg;
	struct msg m;
	struct err e;
	int64_t now = clock_mono_ns();
	if (!link_decode(in, &m, &e)) {
		disp_bad_message(d->disp, now, in->peer, &e);
		return;
	}
	disp_message(d->disp, now, in->peer, &m);
	msg_clear(&m);
}

static void
dispatch_gone(void *arg, uint64_t peer)
{
	struct dispatch *d = arg;
	log_say(LOG_DEBUG, "peer %llx has gone", (unsigned long long)peer);
	disp_peer_gone(d->disp, clock_mono_ns(), peer);
}

static void
dispatch_signal(void *arg, int fd, int events)
{
	(void)fd, (void)events;
	sig_drain();
	((struct dispatch *)arg)->over = true;
}

static void
dispatch_stdin(void *arg, int fd, int events)
{
	(void)events;
	char bytes[256];
	if (read(fd, bytes, sizeof bytes) <= 0)
		((struct dispatch *)arg)->over = true;
}

static void
dispatch_id(const char *spec, size_t n, char *out, size_t out_size)
{
	char id[DATASET_ID_LEN + 1];
	dataset_id(spec, n, id);
	if (out_size >= sizeof id)
		memcpy(out, id, sizeof id);
}

static enum status
dispatch_bind(struct dispatch *d, struct err *e)
{
	const struct dispatch_conf *c = d->conf;
	struct buf bound = { 0 };
	enum status st = ST_OK;
	d->binds = mem_array(c->n_binds, sizeof *d->binds);
	for (size_t i = 0; i < c->n_binds && st == ST_OK; i++) {
		struct dispatch_bind *b = &d->binds[i];
		st = link_may_bind(c->binds[i], c->insecure, e);
		if (st == ST_OK)
			st = address_parse(c->binds[i], &b->address, e);
		if (st == ST_OK)
			st = address_claim(&b->address, &b->claim, e);
		if (st != ST_OK)
			break;
		d->n_binds++;
		st = sock_bind(d->sock, c->binds[i], &bound, e);
		if (st == ST_OK && i == 0)
			buf_str(&d->first, (char *)bound.data);
	}
	buf_clear(&bound);
	return st;
}

/* What changed is made safe, then what may promise it is sent. */
static enum status
dispatch_flush(struct dispatch *d, struct err *e)
{
	(void)e;
	disp_changes(d->disp, NULL, NULL);
	uint64_t peer;
	struct msg m;
	while (disp_outbox(d->disp, &peer, &m)) {
		link_send(d->sock, peer, &m, &d->scratch, NULL);
		msg_clear(&m);
	}
	return ST_OK;
}

/* When to wake, and whether it has been idle for long enough. */
static int64_t
dispatch_deadline(struct dispatch *d)
{
	int64_t at = disp_next_deadline(d->disp);
	if (!d->conf->idle_ns)
		return at;
	int64_t since = disp_idle_since(d->disp);
	if (since == INT64_MAX)
		return at;
	int64_t end = since + d->conf->idle_ns;
	if (end <= clock_mono_ns())
		d->over = true;
	return end < at ? end : at;
}

static enum status
dispatch_loop(struct dispatch *d, struct err *e)
{
	enum status st = ST_OK;
	while (st == ST_OK) {
		st = dispatch_flush(d, e);
		int64_t until = dispatch_deadline(d);
		if (d->over)
			break;
		if (st == ST_OK)
			net_step(d->net, until);
		int64_t now = clock_mono_ns();
		if (now >= disp_next_deadline(d->disp))
			disp_tick(d->disp, now);
	}
	return st;
}

enum status
dispatch_run(const struct dispatch_conf *c, struct err *e)
{
	struct dispatch d = { .conf = c };
	struct disp_opts o = { .instance = sock_peer_new(), .seed = rng_seed_fresh(),
		.durable = c->store != NULL, .job_gc_ns = c->job_gc_ns, .spec_id = dispatch_id };
	struct sock_opts so = { .self = LINK_DISPATCHER, .handover = true,
		.message = dispatch_message, .gone = dispatch_gone, .arg = &d };
	net_raise_files();
	d.net = net_new();
	d.disp = disp_new(&o, clock_mono_ns());
	d.sock = sock_new(d.net, &so);
	net_watch(d.net, sig_open(), NET_READ, dispatch_signal, &d);
	if (c->until_stdin_eof)
		net_watch(d.net, STDIN_FILENO, NET_READ, dispatch_stdin, &d);
	enum status st = dispatch_bind(&d, e);
	if (st == ST_OK)
		st = c->ready(c->arg, (char *)d.first.data, e);
	if (st == ST_OK)
		st = dispatch_loop(&d, e);
	sock_free(&d.sock, DISPATCH_LINGER_MS);
	net_free(&d.net);
	for (size_t i = 0; i < d.n_binds; i++)
		address_release(&d.binds[i].address, &d.binds[i].claim);
	disp_free(&d.disp);
	mem_free(d.binds);
	buf_clear(&d.first);
	buf_clear(&d.scratch);
	return st;
}
