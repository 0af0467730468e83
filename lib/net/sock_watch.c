/* SPDX-License-Identifier: MIT
 *
 * What happens to a socket's connections, as libzmq's monitor tells it.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "net/address.h"
#include "net/net_inner.h"
#include "net/sock_inner.h"

enum { SOCK_REDIAL_MS = 1000, SOCK_BROKE_EARLY = 3 };

void
sock_open_monitor(struct sock *s)
{
	char name[64];
	snprintf(name, sizeof name, "inproc://monitor-%p", (void *)s);
	zmq.socket_monitor(s->handle, name, ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED |
			   ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
			   ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
			   ZMQ_EVENT_DISCONNECTED);
	s->monitor = zmq.socket(net_context(s->net), ZMQ_PAIR);
	sock_set_int(s->monitor, ZMQ_LINGER, 0);
	sock_set_int(s->monitor, ZMQ_RCVHWM, 0); /* or many events would stop libzmq's thread */
	zmq.connect(s->monitor, name);
	s->monitor_fd = sock_fd_of(s->monitor);
	sock_drain_monitor(s); /* its descriptor tells nothing before it was found empty once */
}

void
sock_redial(struct sock *s, int64_t now_ns)
{
	if (now_ns < s->redial_ns)
		return;
	s->redial_ns = INT64_MAX;
	for (size_t i = 0; i < s->track.peers.n; i++) {
		struct track_peer *p = s->track.peers.items[i].value;
		if (!p->redial_ns)
			continue;
		if (p->redial_ns > now_ns) {
			s->redial_ns = p->redial_ns < s->redial_ns ? p->redial_ns : s->redial_ns;
			continue;
		}
		p->redial_ns = 0;
		s->used = true;
		zmq.disconnect(s->handle, p->address);
		hash_del(&s->aliases, &p->alias, sizeof p->alias);
		sock_dial(s, p);
	}
}

/* A client's connection ended before its handshake was done. When libzmq says that it
 * failed, it connects again by itself; when it does not, what came was not its protocol, and
 * it has given the address up. */
static void
sock_failed(struct sock *s, struct track_peer *p, int64_t now_ns)
{
	if (p->shaken || p->broken || (s->turns && s->turns->n > 1)) /* with several addresses, the next one is called */
		return;
	p->redial_ns = now_ns + SOCK_REDIAL_MS * 1000000LL;
	if (p->redial_ns < s->redial_ns)
		s->redial_ns = p->redial_ns;
	if (s->o.stranger && !p->denied)
		s->o.stranger(s->o.arg, p->id);
}

static void
sock_deny(struct sock *s, struct track_peer *p, enum sock_denied why)
{
	if (!p)
		return;
	p->denied = true;
	if (s->o.denied)
		s->o.denied(s->o.arg, p->id, why);
}

/* Whoever has not the key that we were told cannot read what we say, and hangs up. A
 * program that ends just then does so too, but not again and again. */
static void
sock_broke_early(struct sock *s, struct track_peer *p)
{
	p->broken = true;
	if (p->key && ++p->broke_early >= SOCK_BROKE_EARLY)
		sock_deny(s, p, SOCK_DENIED_SERVER);
}

static void
sock_event(struct sock *s, uint16_t event, int32_t value, const char *address)
{
	int64_t now = clock_mono_ns();
	struct track_peer *p = s->calls ? track_by_address(&s->track, address) : NULL;
	switch (event) {
	case ZMQ_EVENT_ACCEPTED:
		track_opened(&s->track, value);
		guard_opened(&s->guard, value, now);
		break;
	case ZMQ_EVENT_CONNECTED:
		track_opened(&s->track, value);
		if (!p)
			break;
		p->shaken = p->broken = p->denied = false;
		track_seen(&s->track, p->id, value, p->local, now);
		break;
	case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
		if (p) {
			p->shaken = true;
			p->broke_early = 0;
		}
		if (p && s->turns)
			sock_turns_shaken(s);
		if (p && s->o.connected)
			s->o.connected(s->o.arg, p->id);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
		if (p)
			sock_broke_early(s, p);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
		sock_deny(s, p, SOCK_DENIED_KEY);
		break;
	case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
		if (value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
			sock_deny(s, p, SOCK_DENIED_WAY);
		else if (p && p->key)
			sock_deny(s, p, SOCK_DENIED_SERVER);
		break;
	case ZMQ_EVENT_DISCONNECTED:
		if (p && p->fd == value)
			sock_failed(s, p, now);
		guard_closed(&s->guard, value);
		track_closed(&s->track, value, now);
		break;
	}
}

void
sock_watch_monitor(struct sock *s)
{
	struct pollfd p = { s->monitor_fd, POLLIN, 0 };

	if (poll(&p, 1, 0) != 0)
		sock_drain_monitor(s);
}

void
sock_drain_monitor(struct sock *s)
{
	zmq_msg_t m;
	zmq.msg_init(&m);
	while (zmq.msg_recv(&m, s->monitor, ZMQ_DONTWAIT) >= 0) {
		uint16_t event = 0;
		int32_t value = -1;
		if (zmq.msg_size(&m) >= 6) {
			const uint8_t *p = zmq.msg_data(&m);
			memcpy(&event, p, 2);
			memcpy(&value, p + 2, 4);
		}
		char address[ADDRESS_MAX + 64] = "";
		if (zmq.msg_more(&m) && zmq.msg_recv(&m, s->monitor, ZMQ_DONTWAIT) >= 0)
			snprintf(address, sizeof address, "%.*s", (int)zmq.msg_size(&m),
				 (char *)zmq.msg_data(&m));
		sock_event(s, event, value, address);
	}
	zmq.msg_close(&m);
}
