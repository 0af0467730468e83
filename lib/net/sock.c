/* SPDX-License-Identifier: MIT */
#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/big.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/address.h"
#include "net/address_list.h"
#include "net/door.h"
#include "net/net_inner.h"
#include "net/outbox.h"
#include "net/sock_inner.h"

enum {
	SOCK_BURST = 256,    /* messages taken before others get their turn */
	SOCK_LINGER_MS = 500,
	SOCK_NEAR_BUFFER = 256 * 1024,
	SOCK_BACKLOG = 4096, /* many programs started at once come at once */
	SOCK_HANDSHAKE_MS = 5000,
	SOCK_ENFORCE = 93,   /* ZMQ_ZAP_ENFORCE_DOMAIN, which libzmq declares for drafts only */
	SOCK_WAITING = 1000  /* messages read ahead of us; more wait in the system */
};

static void
sock_broke(void *arg, uint64_t peer)
{
	struct sock *s = arg;
	struct track_peer *p = track_find(&s->track, peer);
	/* It may be calling another address of ours, or wait for its turn on a loaded machine. */
	if (p && p->pid && process_watch_add(&s->exits, peer, p->pid))
		track_spare(p, clock_mono_ns() + SOCK_ALIVE_MS * 1000000LL);
	sock_turns_broke(s);
	if (s->o.broke)
		s->o.broke(s->o.arg, peer);
}

static void
sock_gone(void *arg, uint64_t peer)
{
	struct sock *s = arg;
	process_watch_drop(&s->exits, peer);
	if (s->o.gone)
		s->o.gone(s->o.arg, peer);
}

/* Notes the end of a peer. The last messages it sent are read before the next tick reports
 * that it is gone. */
static void
sock_ended(void *arg, uint64_t peer)
{
	track_ended(&((struct sock *)arg)->track, peer, clock_mono_ns());
}

void
sock_process(struct sock *s, uint64_t peer, int64_t pid)
{
	struct track_peer *p = track_find(&s->track, peer);
	if (p)
		p->pid = pid;
}

static void
sock_drop_keys(struct sock *s)
{
	struct key_pair *keys = (struct key_pair *)(uintptr_t)s->o.keys;

	if (keys)
		key_pair_wipe(keys);
	mem_free(keys);
	s->o.keys = NULL;
}

void
sock_use_keys(struct sock *s, const struct key_pair *keys)
{
	sock_drop_keys(s);
	s->o.keys = mem_dup(keys, sizeof *keys);
}

int
sock_fd_of(void *handle)
{
	int fd = -1;
	size_t n = sizeof fd;
	zmq.getsockopt(handle, ZMQ_FD, &fd, &n);
	return fd;
}

struct sock *
sock_new(struct net *n, const struct sock_opts *opts)
{
	struct sock *s = mem_zalloc(sizeof *s);
	s->net = n;
	s->o = *opts;
	s->handle = zmq.socket(net_context(n), ZMQ_ROUTER);
	void *h = s->handle;
	sock_set_int(h, ZMQ_ROUTER_MANDATORY, 1);
	sock_set_int(h, ZMQ_ROUTER_HANDOVER, opts->handover);
	/* for sock_disconnect, which would else wait for ever for a peer that is gone */
	sock_set_int(h, ZMQ_LINGER, SOCK_LINGER_MS);
	sock_set_int(h, ZMQ_SNDHWM, 0);
	sock_set_int(h, ZMQ_RCVHWM, SOCK_WAITING);
	sock_set_int(h, ZMQ_HANDSHAKE_IVL, SOCK_HANDSHAKE_MS);
	/* With a domain, though nobody may ask for it, libzmq refuses the versions of its
	 * protocol that have no handshake. To them any bytes are a peer's name, and it
	 * aborts when such bytes come while the connection is being given up. */
	zmq.setsockopt(h, ZMQ_ZAP_DOMAIN, DOOR_OPEN, strlen(DOOR_OPEN));
	s->o.keys = NULL;
	if (opts->keys)
		sock_use_keys(s, opts->keys);
	sock_set_int(h, ZMQ_BACKLOG, SOCK_BACKLOG);
	sock_set_int(h, ZMQ_RECONNECT_IVL, opts->reconnect_ms ? opts->reconnect_ms : 50);
	sock_set_int(h, ZMQ_RECONNECT_IVL_MAX, 1000);
	sock_set_int(h, ZMQ_CONNECT_TIMEOUT, 3000);
	int64_t most = opts->frame_max ? (int64_t)opts->frame_max : SOCK_HEAD_MAX;
	zmq.setsockopt(h, ZMQ_MAXMSGSIZE, &most, sizeof most);
	if (opts->self) {
		uint8_t id[8];
		big_put_u64(id, opts->self);
		zmq.setsockopt(h, ZMQ_ROUTING_ID, id, sizeof id);
	}
	int64_t return_ms = opts->return_ms ? opts->return_ms : SOCK_RETURN_MS;
	track_init(&s->track, return_ms * 1000000, sock_broke, sock_gone, s);
	process_watch_init(&s->exits, n, sock_ended, s);
	guard_init(&s->guard);
	s->redial_ns = INT64_MAX;
	sock_open_monitor(s);
	s->fd = sock_fd_of(s->handle);
	s->used = true;
	net_add(n, s);
	return s;
}

void
sock_free(struct sock **sp, int linger_ms)
{
	struct sock *s = *sp;
	if (!s)
		return;
	net_remove(s->net, s);
	sock_set_int(s->handle, ZMQ_LINGER, linger_ms);
	zmq.socket_monitor(s->handle, NULL, 0);
	zmq.close(s->handle);
	zmq.close(s->monitor);
	hash_clear(&s->aliases);
	track_clear(&s->track);
	process_watch_clear(&s->exits);
	guard_clear(&s->guard);
	sock_turns_free(s);
	sock_drop_keys(s);
	mem_free(s);
	*sp = NULL;
}

int
sock_fd(const struct sock *s)
{
	return s->fd;
}

int
sock_monitor_fd(const struct sock *s)
{
	return s->monitor_fd;
}

bool
sock_there(struct sock *s)
{
	int events = 0;
	size_t n = sizeof events;
	if (s->used && !s->there) {
		s->used = false;
		s->there = zmq.getsockopt(s->handle, ZMQ_EVENTS, &events, &n) != 0 || (events & ZMQ_POLLIN);
	}
	return s->there;
}

int64_t
sock_deadline(const struct sock *s)
{
	int64_t at = s->track.deadline_ns;
	if (s->guard.deadline_ns < at)
		at = s->guard.deadline_ns;
	if (s->turns && s->turns->due_ns < at)
		at = s->turns->due_ns;
	return s->redial_ns < at ? s->redial_ns : at;
}

void
sock_tick(struct sock *s, int64_t now_ns)
{
	track_tick(&s->track, now_ns);
	guard_tick(&s->guard, now_ns);
	sock_redial(s, now_ns);
	sock_turns_tick(s, now_ns);
}

/* Says, for an address that is bound next, whether connections to it need a key. */
static void
sock_bind_keys(struct sock *s, bool keys)
{
	sock_set_int(s->handle, ZMQ_CURVE_SERVER, keys);
	const char *domain = keys ? DOOR_KEYS : DOOR_OPEN;
	zmq.setsockopt(s->handle, ZMQ_ZAP_DOMAIN, domain, strlen(domain));
	if (!keys)
		return;
	zmq.setsockopt(s->handle, ZMQ_CURVE_SECRETKEY, s->o.keys->secret.b, KEY_BYTES);
	sock_set_int(s->handle, SOCK_ENFORCE, 1); /* without a door nobody is let in */
}

/* Sets buffer sizes for connections made from now on. Bytes that the kernel holds between two
 * processes of one machine should fit their caches; by default it lets them grow to megabytes,
 * which a real network may need. */
static void
sock_tune(struct sock *s, const struct address *a)
{
	int bytes = !a->ipc && address_local(a) ? SOCK_NEAR_BUFFER : -1;

	sock_set_int(s->handle, ZMQ_SNDBUF, bytes);
	sock_set_int(s->handle, ZMQ_RCVBUF, bytes);
}

/* A socket file is for its owner alone from the moment it is there: who may connect
 * may use the service. libzmq takes no mode, and to change it behind the bind would
 * leave a gap, so it is the mask that says it. That is of the whole process, but
 * programs bind before they have threads that make files. */
static int
sock_bind_as_owner(struct sock *s, const struct address *a)
{
	mode_t before = a->ipc ? umask(0177) : 0;
	char text[ADDRESS_MAX];

	address_numeric(a, text, sizeof text);
	if (strchr(text, '['))
		sock_set_int(s->handle, ZMQ_IPV6, 1);
	s->used = true;
	int failed = zmq.bind(s->handle, text);
	int error = errno;

	if (a->ipc)
		umask(before);
	errno = error;
	return failed;
}

enum status
sock_bind(struct sock *s, const char *address, struct buf *bound, struct err *e)
{
	struct address a;
	enum status st = address_parse(address, &a, e);
	if (st != ST_OK)
		return st;
	if (strchr(a.host, ':'))
		sock_set_int(s->handle, ZMQ_IPV6, 1);
	sock_tune(s, &a);
	sock_bind_keys(s, s->o.keys && !a.ipc);
	if (sock_bind_as_owner(s, &a) != 0) {
		int code = errno;
		err_set(e, code == EACCES || code == EPERM ? ST_PERM : ST_UNAVAIL,
			"cannot bind %s: %s", address, zmq.strerror(code));
		if (code == EADDRINUSE)
			err_help(e, "another program listens there; port * takes any free one");
		return e ? e->kind : ST_UNAVAIL;
	}
	char text[ADDRESS_MAX + 64];
	size_t n = sizeof text;
	buf_reset(bound);
	if (zmq.getsockopt(s->handle, ZMQ_LAST_ENDPOINT, text, &n) == 0)
		buf_str(bound, text);
	else
		buf_str(bound, address);
	return ST_OK;
}

void
sock_unbind(struct sock *s, const char *bound)
{
	s->used = true;
	zmq.unbind(s->handle, bound);
}

static void
sock_forget(struct sock *s, uint64_t peer)
{
	struct track_peer *p = track_find(&s->track, peer);
	if (p && p->alias)
		hash_del(&s->aliases, &p->alias, sizeof p->alias);
	track_drop(&s->track, peer);
}

enum status
sock_connect(struct sock *s, const char *address, uint64_t peer, struct err *e)
{
	return sock_connect_key(s, address, NULL, peer, e);
}

enum status
sock_connect_key(struct sock *s, const char *address, const struct key *key, uint64_t peer, struct err *e)
{
	struct address a;
	enum status st = address_parse(address, &a, e);
	if (st != ST_OK)
		return st;
	if (strchr(a.host, ':'))
		sock_set_int(s->handle, ZMQ_IPV6, 1);
	struct track_peer *p = track_keep(&s->track, peer, address, address_local(&a));
	if (key && !p->key)
		p->key = mem_dup(key, sizeof *key);
	s->calls = true;
	if (!sock_dial(s, p)) {
		sock_forget(s, peer);
		return err_set(e, ST_UNAVAIL, "cannot connect to %s: %s", address,
			       zmq.strerror(errno));
	}
	return ST_OK;
}

/* Whether it names a host, whose address may be another one the next time. */
static bool
sock_is_name(const char *address)
{
	struct in6_addr scratch;
	struct address a;

	return address_parse(address, &a, NULL) == ST_OK && !a.ipc && inet_pton(AF_INET, a.host, &scratch) != 1 &&
	       inet_pton(AF_INET6, a.host, &scratch) != 1;
}

enum status
sock_connect_any(struct sock *s, const char *list, const struct key *keys, size_t first, uint64_t peer,
		 struct err *e)
{
	size_t n = address_list_count(list);
	size_t at = first < n ? first : 0;
	char *address = address_list_at(list, at);
	const struct key *key = keys && !key_none(&keys[at]) ? &keys[at] : NULL;
	enum status st = sock_connect_key(s, address, key, peer, e);

	mem_free(address);
	if (st == ST_OK && (n > 1 || s->o.renew || sock_is_name(list)))
		sock_turns_open(s, peer, list, keys, at);
	return st;
}

void
sock_disconnect(struct sock *s, const char *address, uint64_t peer)
{
	s->used = true;
	zmq.disconnect(s->handle, address);
	sock_forget(s, peer);
}

/* Whether what libzmq knows of the other end's address is of this machine. For
 * ipc it is no IP address at all. */
static bool
sock_is_local(zmq_msg_t *m)
{
	const char *a = zmq.msg_gets(m, "Peer-Address");
	struct in6_addr scratch;
	if (!a || (inet_pton(AF_INET, a, &scratch) != 1 && inet_pton(AF_INET6, a, &scratch) != 1))
		return true;
	return strncmp(a, "127.", 4) == 0 || strcmp(a, "::1") == 0 ||
	       strncmp(a, "::ffff:127.", 11) == 0;
}

static void
sock_complain(struct sock *s, const char *what)
{
	int64_t now = clock_mono_ns();
	if (s->complained_ns && now - s->complained_ns < (int64_t)1000000000)
		return;
	s->complained_ns = now;
	log_say(LOG_WARN, "dropped a message that %s", what);
}

/* A message that did not come over the connection that we know of its peer. */
static struct track_peer *
sock_seen(struct sock *s, uint64_t peer, int fd, zmq_msg_t *m)
{
	track_seen(&s->track, peer, fd, sock_is_local(m), clock_mono_ns());
	struct track_peer *p = track_find(&s->track, peer);
	if (p && p->fd == fd)
		p->dropped = false;
	return p;
}

static void
sock_deliver(struct sock *s, const uint8_t *id, zmq_msg_t *head, zmq_msg_t *payload)
{
	struct sock_msg m = { .peer = big_u64(id) };
	if (s->calls) {
		struct track_peer *called = hash_get(&s->aliases, &m.peer, sizeof m.peer);
		if (!called)
			return; /* the message is from a connection that was given up */
		m.peer = called->id;
	}
	struct track_peer *p = track_find(&s->track, m.peer);
	int fd = zmq.msg_get(head, ZMQ_SRCFD);
	if (!p || p->fd != fd)
		p = sock_seen(s, m.peer, fd, head);
	if (p && p->dropped)
		return; /* the message was sent before the connection was cut */
	if (s->turns)
		s->turns->asked = 0;
	if (!s->calls && s->o.keys) {
		m.user = zmq.msg_gets(head, "User-Id");
		if (m.user && !*m.user)
			m.user = NULL;
		const char *address = m.user ? zmq.msg_gets(head, "Peer-Address") : NULL;
		m.address = address ? address : "";
	}
	m.head = zmq.msg_data(head);
	m.head_len = zmq.msg_size(head);
	if (payload) {
		m.data = zmq.msg_data(payload);
		m.len = zmq.msg_size(payload);
		m.frame = payload;
	}
	if (m.head_len > SOCK_HEAD_MAX)
		sock_complain(s, "has too long a header");
	else
		s->o.message(s->o.arg, &m);
}

/* One message: routing id, header and at most one payload; false: none is there. */
static bool
sock_receive(struct sock *s)
{
	enum { SOCK_FRAMES = 3 };
	zmq_msg_t frame[SOCK_FRAMES];
	size_t n = 0, surplus = 0, bytes = 0;
	int more = 1, fd = -1;
	while (more) {
		zmq_msg_t *f = n < SOCK_FRAMES ? &frame[n] : NULL, extra;
		if (!f)
			f = &extra;
		zmq.msg_init(f);
		if (zmq.msg_recv(f, s->handle, ZMQ_DONTWAIT) < 0) {
			zmq.msg_close(f);
			break;
		}
		more = zmq.msg_more(f);
		if (n) { /* the first one is libzmq's own: who it is */
			bytes += zmq.msg_size(f);
			fd = zmq.msg_get(f, ZMQ_SRCFD);
		}
		if (f == &extra) {
			zmq.msg_close(f);
			surplus++;
		} else {
			n++;
		}
	}
	if (n == 0)
		return false;
	sock_watch_monitor(s); /* before the descriptor is looked up */
	guard_took(&s->guard, fd, bytes, n + surplus - 1);
	if (n < 2 || surplus)
		sock_complain(s, "has not one or two frames");
	else if (zmq.msg_size(&frame[0]) != 8)
		sock_complain(s, "comes from a peer whose routing id is not 8 bytes long");
	else
		sock_deliver(s, zmq.msg_data(&frame[0]), &frame[1], n == 3 ? &frame[2] : NULL);
	for (size_t i = 0; i < n; i++)
		zmq.msg_close(&frame[i]);
	return true;
}

void
sock_ready(struct sock *s)
{
	int n = 0;
	sock_watch_monitor(s);
	while (n < SOCK_BURST && sock_receive(s))
		n++;
	s->there = s->used = n == SOCK_BURST; /* else it was empty just now */
}

static void
sock_frame_release(void *arg, uint8_t *data, size_t len)
{
	(void)data, (void)len;
	zmq.msg_close(arg);
	mem_free(arg);
}

void
sock_msg_take(struct sock_msg *m, void (**release)(void *, uint8_t *, size_t), void **arg)
{
	zmq_msg_t *mine = mem_alloc(sizeof *mine);
	zmq.msg_init(mine);
	zmq.msg_move(mine, m->frame);
	m->data = zmq.msg_data(mine); /* short frames lie inside the struct and move */
	*release = sock_frame_release;
	*arg = mine;
}

static void
sock_sent_free(void *data, void *hint)
{
	struct sock_payload *sent = hint;
	sent->release(sent->arg, data, sent->len);
	mem_free(sent);
}

static void
sock_payload_drop(const struct sock_payload *p)
{
	if (p)
		p->release(p->arg, (uint8_t *)p->data, p->len);
}

/* A server's peer that does not read what it is sent. */
static void
sock_drop(struct sock *s, struct track_peer *p)
{
	if (p->dropped)
		return;
	p->dropped = true;
	log_say(LOG_WARN, "peer %llx does not read: %zu MB wait for it; cut its connection",
		(unsigned long long)p->id, outbox_bytes(p->out) >> 20);
	guard_cut(&s->guard, p->fd);
}

/* Sends the header; `more` follows. False: there is no such peer, or it does not read. */
static bool
sock_send_head(struct sock *s, struct track_peer *p, const void *head, size_t n, int more)
{
	if (s->calls)
		return zmq.send(s->handle, head, n, ZMQ_DONTWAIT | more) >= 0;
	void *copy, *hint;
	zmq_msg_t m;
	if (!p->out)
		p->out = outbox_new();
	if (!outbox_put(p->out, head, n, &copy, &hint))
		return false;
	zmq.msg_init_data(&m, copy, n, outbox_release, hint);
	if (zmq.msg_send(&m, s->handle, ZMQ_DONTWAIT | more) >= 0)
		return true;
	zmq.msg_close(&m);
	return false;
}

void
sock_cut(struct sock *s, uint64_t peer)
{
	struct track_peer *p = s->calls ? NULL : track_find(&s->track, peer);

	if (!p || p->dropped)
		return;
	p->dropped = true;
	guard_cut(&s->guard, p->fd);
}

bool
sock_send(struct sock *s, uint64_t peer, const void *head, size_t n,
	  const struct sock_payload *payload)
{
	uint8_t id[8];
	struct track_peer *p = track_find(&s->track, peer);
	s->used = true;
	big_put_u64(id, s->calls && p ? p->alias : peer);
	if (!s->calls && p && !p->dropped && p->out &&
	    outbox_bytes(p->out) + n + OUTBOX_EACH > OUTBOX_MAX)
		sock_drop(s, p);
	if ((!s->calls && (!p || p->dropped)) ||
	    zmq.send(s->handle, id, sizeof id, ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0 ||
	    !sock_send_head(s, p, head, n, payload ? ZMQ_SNDMORE : 0)) {
		sock_payload_drop(payload);
		return false;
	}
	if (!payload)
		return true;
	struct sock_payload *sent = mem_dup(payload, sizeof *payload);
	zmq_msg_t m;
	zmq.msg_init_data(&m, (void *)payload->data, payload->len, sock_sent_free, sent);
	if (zmq.msg_send(&m, s->handle, ZMQ_DONTWAIT) < 0) {
		zmq.msg_close(&m);
		return false;
	}
	return true;
}
