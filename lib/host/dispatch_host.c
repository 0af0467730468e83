/* SPDX-License-Identifier: MIT */
#include "host/dispatch_host.h"

#include <string.h>
#include <unistd.h>

#include "base/asked.h"
#include "base/caught.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "core/disp/dispatcher.h"
#include "host/admission.h"
#include "host/advertise.h"
#include "host/held.h"
#include "host/link.h"
#include "host/quota.h"
#include "lang/spec.h"
#include "net/address.h"
#include "net/door.h"
#include "net/notify.h"
#include "store/store.h"
#include "version.h"

enum { DISPATCH_LINGER_MS = 500 };
#define DISPATCH_RETRY_NS 1000000000LL /* when nothing can be recorded */
#define DISPATCH_END_NS 1000000000LL /* at most so long for others to say BYE */
#define DISPATCH_TIDY_NS 60000000000LL
#define DISPATCH_FULL "the dispatcher cannot record anything: its disk is full or failing, or its state was removed"
#define DISPATCH_FULL_HELP "make room on the dispatcher's disk, or put the state back; it resumes by itself"

struct dispatch_bind {
	struct address address;
	int claim;
};

struct dispatch {
	const struct dispatch_conf *conf;
	struct net *net;
	struct sock *sock;
	struct disp *disp;
	struct admission *admission; /* NULL: no keys are used */
	struct door *door;
	struct dispatch_bind *binds;
	size_t n_binds;
	struct buf first;
	struct link_out out;
	struct quota *quota;
	struct held held;
	int64_t retry_ns, tidy_ns; /* retry: 0 unless the last commit failed */
	bool over, idle;           /* idle: it is over for all, since nothing is to do, or a tool asked for it */
};

static void dispatch_flush(struct dispatch *d);
static void dispatch_send(struct dispatch *d, uint64_t peer, struct msg *m);

/* Handles what has to do with invitations, and all that guests say. */
static bool
dispatch_admission(struct dispatch *d, const struct sock_msg *in, const struct disp_who *who, const struct msg *m)
{
	struct msg answer;
	bool cut;

	if (!admission_message(d->admission, in->user, in->address, who, m, &answer, &cut))
		return false;
	if (cut)
		sock_cut(d->sock, in->peer);
	else
		dispatch_send(d, in->peer, &answer);
	return true;
}

static void
dispatch_cut(void *arg, uint64_t peer)
{
	struct dispatch *d = arg;

	log_say(LOG_INFO, "peer %llx: its key is not allowed any more", (unsigned long long)peer);
	sock_cut(d->sock, peer);
}

static unsigned
dispatch_may(void *arg, const char *user)
{
	return admission_may(((struct dispatch *)arg)->admission, user);
}

static void
dispatch_too_much(struct dispatch *d, uint64_t peer)
{
	log_say(LOG_WARN, "peer %llx asks too much and does not stop; cut its connection", (unsigned long long)peer);
	sock_cut(d->sock, peer);
}

static void
dispatch_message(void *arg, struct sock_msg *in)
{
	struct dispatch *d = arg;
	struct msg m;
	struct err e;
	int64_t now = clock_mono_ns();
	struct disp_who who = admission_who(d->admission, in->user);
	if (!link_decode(in, &m, &e)) {
		if (who.may & MAY_ANY)
			disp_bad_message(d->disp, now, in->peer, &e);
		return;
	}
	if (dispatch_admission(d, in, &who, &m)) {
		msg_clear(&m);
		return;
	}
	const struct msg_hello *h = &m.hello;
	if (m.type == MSG_HELLO && h->pid && h->host && strcmp(h->host, link_host()) == 0)
		sock_process(d->sock, in->peer, h->pid);
	bool large = m.type == MSG_STATUS;
	enum status st = quota_take(d->quota, in->peer, who.may & MAY_ADMIN ? NULL : in->user, now, &m, &e);
	if (st != ST_OK) {
		if (st == ST_TEMP)
			disp_deny(d->disp, now, in->peer, m.req, &e);
		else
			dispatch_too_much(d, in->peer);
		msg_clear(&m);
		return;
	}
	if (m.type == MSG_STATUS)
		disp_wall(d->disp, clock_wall_ns() - now);
	disp_message_of(d->disp, now, in->peer, &who, &m);
	msg_clear(&m);
	if (large) /* many reports at once would be much memory: each leaves before the next is made */
		dispatch_flush(d);
}

static void
dispatch_gone(void *arg, uint64_t peer)
{
	struct dispatch *d = arg;
	log_say(LOG_DEBUG, "peer %llx has gone", (unsigned long long)peer);
	quota_forget(d->quota, peer, clock_mono_ns());
	disp_peer_gone(d->disp, clock_mono_ns(), peer);
}

static void
dispatch_signal(void *arg, int fd, int events)
{
	(void)fd, (void)events;
	caught_drain();
	((struct dispatch *)arg)->over = true;
}

/* USR1: where it stands, in one line. HUP: the keys are looked at now, not within a second. */
static void
dispatch_asked(void *arg, int fd, int events)
{
	struct dispatch *d = arg;
	struct asked asked = asked_take();
	char line[DISP_STANDS];
	(void)fd, (void)events;

	if (asked.where) {
		disp_stands(d->disp, line);
		log_say(LOG_WARN, "%s", line);
	}
	if (asked.again && d->admission) {
		admission_again(d->admission);
		log_say(LOG_INFO, "reading %s again", admission_allowed(d->admission));
	}
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
	struct buf bound = { 0 }, told = { 0 };
	enum status st = advertise_check_name(c->advertise, e);
	d->binds = mem_array(c->n_binds + 1, sizeof *d->binds);
	for (size_t i = 0; i < c->n_binds && st == ST_OK; i++) {
		struct dispatch_bind *b = &d->binds[i];
		st = address_parse(c->binds[i], &b->address, e);
		if (st == ST_OK)
			st = address_claim(&b->address, &b->claim, e);
		if (st != ST_OK)
			break;
		d->n_binds++;
		st = sock_bind(d->sock, c->binds[i], &bound, e);
		buf_reset(&told);
		if (st == ST_OK)
			st = advertise_tell_host(i ? NULL : c->advertise, (char *)bound.data, &told, e);
		if (st == ST_OK && i == 0)
			buf_str(&d->first, (char *)told.data);
		if (st == ST_OK && d->admission)
			admission_bound(d->admission, (char *)told.data);
	}
	buf_clear(&bound);
	buf_clear(&told);
	return st;
}

/* Rows that the dispatcher does not keep in memory. If one cannot be read, all is over. */
static bool
dispatch_read_row(void *arg, const struct disp_row *key, struct buf *out)
{
	struct dispatch *d = arg;
	enum status st = store_get(d->conf->store, key, out, &d->out.err);
	if (st == ST_NOINPUT)
		st = ST_DATA;
	if (st != ST_OK)
		d->out.failed = st;
	return st == ST_OK;
}

/* For programs of the same user here, which need no key: dsvc-invite above all. Another
 * dispatcher may have it. */
static void
dispatch_bind_own(struct dispatch *d)
{
	struct dispatch_bind *b = &d->binds[d->n_binds];
	struct buf bound = { 0 };
	struct err e;
	const char *own = d->admission ? d->conf->own : NULL;

	for (size_t i = 0; own && i < d->conf->n_binds; i++)
		if (!strcmp(d->conf->binds[i], own))
			own = NULL;
	if (!own)
		return;
	if (address_parse(own, &b->address, &e) == ST_OK && address_claim(&b->address, &b->claim, &e) == ST_OK) {
		d->n_binds++;
		if (sock_bind(d->sock, own, &bound, &e) == ST_OK)
			own = NULL;
	}
	if (own)
		log_say(LOG_INFO, "%s; invite with dsvc-invite -d, from a key with the role admin", e.text);
	buf_clear(&bound);
}

/* Whether it listens beyond private sockets, and with keys. */
static bool
dispatch_keyed(const struct dispatch_conf *c)
{
	bool tcp = false;

	for (size_t i = 0; i < c->n_binds; i++)
		tcp |= strncmp(c->binds[i], "tcp:", 4) == 0;
	return tcp && !c->insecure;
}

static enum status
dispatch_ready(const struct dispatch *d, struct err *e)
{
	const struct dispatch_conf *c = d->conf;
	struct buf words = { 0 };
	char key[KEY_TEXT + 1] = "";

	if (d->admission) {
		key_print(&admission_keys(d->admission)->public, key);
		buf_printf(&words, " key %s (keys of others: %s)", key, admission_allowed(d->admission));
	}
	enum status st = c->ready(c->arg, (char *)d->first.data, key[0] ? key : NULL,
				  words.data ? (char *)words.data : "", e);
	if (st == ST_OK)
		notify_say("READY=1\nSTATUS=ready on %s", (char *)d->first.data);
	if (st == ST_OK && d->admission && !admission_any(d->admission))
		log_say(LOG_INFO, "no keys of others yet; dsvc-invite makes the first");
	buf_clear(&words);
	return st;
}

static void
dispatch_send(struct dispatch *d, uint64_t peer, struct msg *m)
{
	link_send(d->sock, peer, m, &d->out, NULL);
	msg_clear(m);
}

/* Makes safe what changed. False: it cannot be, for now. */
static bool
dispatch_record(struct dispatch *d)
{
	struct store *store = d->conf->store;
	struct err e;
	disp_changes(d->disp, store ? store_put : NULL, store);
	if (!store || store_commit(store, &e) == ST_OK) {
		if (d->retry_ns) {
			log_say(LOG_INFO, "recording again");
			disp_refuse_new(d->disp, NULL);
		}
		d->retry_ns = 0;
		return true;
	}
	if (!d->retry_ns) {
		log_say(LOG_ERROR, "%s; nothing new is promised until this works", e.text);
		disp_refuse_new(d->disp, DISPATCH_FULL);
	}
	d->retry_ns = clock_mono_ns() + DISPATCH_RETRY_NS;
	return false;
}

/* A registration that cannot be recorded now is refused; said again it will be answered. */
static void
dispatch_refuse(struct dispatch *d, uint64_t peer, struct msg *promise)
{
	struct msg m = { .type = MSG_ERROR, .req = promise->req, .error = { .code = ST_IO,
		.text = mem_strdup(DISPATCH_FULL), .help = mem_strdup(DISPATCH_FULL_HELP) } };
	msg_clear(promise);
	dispatch_send(d, peer, &m);
}

static void
dispatch_send_held(void *arg, uint64_t peer, struct msg *m)
{
	dispatch_send(arg, peer, m);
}

/* Records changes first, and then sends the messages that promise them. */
static void
dispatch_flush(struct dispatch *d)
{
	if (d->out.failed)
		return;
	bool safe = d->retry_ns > clock_mono_ns() ? false : dispatch_record(d);
	if (safe)
		held_send(&d->held, dispatch_send_held, d);
	uint64_t peer;
	struct msg m;
	while (disp_outbox(d->disp, &peer, &m)) {
		if (safe || !disp_promises(m.type))
			dispatch_send(d, peer, &m);
		else if (m.type == MSG_DATASET)
			dispatch_refuse(d, peer, &m);
		else
			held_add(&d->held, peer, &m);
	}
}

static void
dispatch_tidy(struct dispatch *d, int64_t now)
{
	if (!d->conf->store || now < d->tidy_ns)
		return;
	d->tidy_ns = now + DISPATCH_TIDY_NS;
	store_tidy(d->conf->store);
}

/* When to wake, and whether it has been idle for long enough. */
static int64_t
dispatch_deadline(struct dispatch *d)
{
	int64_t at = disp_next_deadline(d->disp);
	if (admission_deadline(d->admission) < at)
		at = admission_deadline(d->admission);
	if (d->retry_ns && d->retry_ns < at)
		at = d->retry_ns;
	int64_t watched = notify_watchdog(clock_mono_ns());
	if (watched < at)
		at = watched;
	if (!d->conf->idle_ns)
		return at;
	int64_t since = disp_idle_since(d->disp);
	if (since == INT64_MAX)
		return at;
	int64_t end = since + d->conf->idle_ns;
	if (end <= clock_mono_ns())
		d->over = d->idle = true;
	return end < at ? end : at;
}

/* Tells all, and waits until they have said BYE too: what was sent last may be lost when
 * its sender closes the socket. */
static void
dispatch_end(struct dispatch *d)
{
	int64_t until = clock_mono_ns() + DISPATCH_END_NS;
	disp_end(d->disp);
	dispatch_flush(d);
	while (!disp_alone(d->disp) && clock_mono_ns() < until && !d->out.failed) {
		net_step(d->net, until);
		dispatch_flush(d);
	}
}

static enum status
dispatch_loop(struct dispatch *d, struct err *e)
{
	for (;;) {
		dispatch_flush(d);
		if (d->out.failed) {
			*e = d->out.err;
			return d->out.failed;
		}
		int64_t until = dispatch_deadline(d);
		if (disp_ends(d->disp) && !d->over) {
			log_say(LOG_INFO, "ending, as dsvc-stop has asked");
			d->over = d->idle = true;
		}
		if (d->over)
			break;
		net_step(d->net, until);
		int64_t now = clock_mono_ns();
		if (now >= disp_next_deadline(d->disp))
			disp_tick(d->disp, now);
		dispatch_tidy(d, now);
		if (d->admission && admission_look(d->admission, now))
			disp_review(d->disp, now, dispatch_may, d, dispatch_cut);
	}
	notify_say("STOPPING=1");
	/* Whoever stops one with a state means to start it again: it is waited for.
	 * Otherwise the service is over, and so it is when there is nothing to do. */
	if (!d->conf->store || d->idle)
		dispatch_end(d);
	return ST_OK;
}

static enum status
dispatch_row(void *arg, const struct disp_row *r, struct err *e)
{
	return disp_load(arg, r, e);
}

/* The state of before, if there is one. */
static enum status
dispatch_load(struct dispatch *d, struct err *e)
{
	struct store *store = d->conf->store;
	if (!store || store_empty(store))
		return ST_OK;
	enum status st = store_load(store, dispatch_row, d->disp, e);
	if (st == ST_OK)
		st = disp_loaded(d->disp, clock_mono_ns(), e);
	if (st != ST_OK) {
		err_wrap(e, "the state of before cannot be used");
		err_help(e, "move its folder away to start over");
	}
	return st;
}

/* Whether others than this user may reach the dispatcher, by one of its addresses. */
static bool
dispatch_open_to_all(const struct dispatch_conf *c)
{
	bool open = false;

	for (size_t i = 0; i < c->n_binds; i++)
		open = open || strncmp(c->binds[i], "ipc:", 4) != 0;
	return open;
}

enum status
dispatch_run(const struct dispatch_conf *c, struct err *e)
{
	struct dispatch d = { .conf = c };
	struct disp_opts o = { .instance = sock_peer_new(), .version = PROGRAM_VERSION,
		.seed = rng_seed_fresh(), .secret = secret_new(),
		.durable = c->store != NULL, .strangers = dispatch_open_to_all(c),
		.job_gc_ns = c->job_gc_ns, .unfinished_gc_ns = c->unfinished_gc_ns,
		.group_gc_ns = c->group_gc_ns, .dataset_gc_ns = c->dataset_gc_ns,
		.beat_ms = c->beat_ms, .loss_ms = c->loss_ms, .spec_id = dispatch_id,
		.read_row = c->store ? dispatch_read_row : NULL, .read_arg = &d,
		.costs = c->store ? store_costs : NULL, .costs_arg = c->store };
	struct sock_opts so = { .self = LINK_DISPATCHER, .handover = true,
		.message = dispatch_message, .gone = dispatch_gone, .arg = &d };
	net_raise_files();
	if (net_check_files(e))
		return ST_CONFIG;
	if (dispatch_keyed(c)) {
		enum status st = admission_open(c->allowed, c->state, &d.admission, e);
		if (st != ST_OK)
			return st;
		so.keys = admission_keys(d.admission);
	}
	d.quota = quota_new();
	d.net = net_new();
	if (d.admission)
		d.door = door_new(d.net, admission_door, d.admission);
	d.disp = disp_new(&o, clock_mono_ns());
	d.sock = sock_new(d.net, &so);
	net_watch(d.net, caught_stops(), NET_READ, dispatch_signal, &d);
	net_watch(d.net, asked_open(), NET_READ, dispatch_asked, &d);
	if (c->until_stdin_eof)
		net_watch(d.net, STDIN_FILENO, NET_READ, dispatch_stdin, &d);
	enum status st = dispatch_load(&d, e);
	if (st == ST_OK && d.admission) /* keys may have been struck out meanwhile */
		disp_review(d.disp, clock_mono_ns(), dispatch_may, &d, dispatch_cut);
	if (st == ST_OK)
		st = dispatch_bind(&d, e);
	if (st == ST_OK)
		dispatch_bind_own(&d);
	if (st == ST_OK)
		st = dispatch_ready(&d, e);
	if (st == ST_OK)
		st = dispatch_loop(&d, e);
	sock_free(&d.sock, DISPATCH_LINGER_MS);
	quota_free(&d.quota);
	door_free(&d.door);
	net_free(&d.net);
	for (size_t i = 0; i < d.n_binds; i++)
		address_release(&d.binds[i].address, &d.binds[i].claim);
	disp_free(&d.disp);
	admission_free(&d.admission);
	held_clear(&d.held);
	mem_free(d.binds);
	buf_clear(&d.first);
	link_out_clear(&d.out);
	return st;
}
