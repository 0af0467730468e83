/* SPDX-License-Identifier: MIT */
#include "net/door.h"

#include <string.h>

#include "base/mem.h"
#include "net/net_inner.h"
#include "net/zmq_lib.h"

/* Frames of a question, behind the two of the envelope; version is the first. */
enum { DOOR_VERSION = 2, DOOR_REQUEST, DOOR_DOMAIN, DOOR_ADDRESS, DOOR_IDENTITY, DOOR_MECHANISM, DOOR_KEY,
	DOOR_FRAMES };

struct door {
	struct net *net;
	void *handle;
	int fd;
	const char *(*ask)(void *arg, const struct key *k, const char *address);
	void *arg;
};

static bool
door_is(zmq_msg_t *m, const char *text)
{
	return zmq.msg_size(m) == strlen(text) && memcmp(zmq.msg_data(m), text, strlen(text)) == 0;
}

/* "" for who comes without a key to where none is asked for; NULL: refused. */
static const char *
door_judge(struct door *d, zmq_msg_t *f, size_t n)
{
	char address[256] = "";

	if (n < DOOR_KEY || !door_is(&f[DOOR_VERSION], "1.0"))
		return NULL;
	if (door_is(&f[DOOR_MECHANISM], "NULL"))
		return door_is(&f[DOOR_DOMAIN], DOOR_OPEN) ? "" : NULL;
	if (n != DOOR_FRAMES || !door_is(&f[DOOR_MECHANISM], "CURVE") || !door_is(&f[DOOR_DOMAIN], DOOR_KEYS) ||
	    zmq.msg_size(&f[DOOR_KEY]) != KEY_BYTES || zmq.msg_size(&f[DOOR_ADDRESS]) >= sizeof address)
		return NULL;
	struct key k;
	memcpy(k.b, zmq.msg_data(&f[DOOR_KEY]), KEY_BYTES);
	memcpy(address, zmq.msg_data(&f[DOOR_ADDRESS]), zmq.msg_size(&f[DOOR_ADDRESS]));
	return d->ask(d->arg, &k, address);
}

static void
door_say(struct door *d, zmq_msg_t *f, size_t n, const char *user)
{
	const char *text[] = { user ? "200" : "400", user ? "OK" : "refused", user ? user : "", "" };

	for (size_t i = 0; i <= DOOR_REQUEST && i < n; i++)
		zmq.msg_send(&f[i], d->handle, ZMQ_SNDMORE | ZMQ_DONTWAIT);
	for (size_t i = 0; i < 4; i++)
		zmq.send(d->handle, text[i], strlen(text[i]), (i < 3 ? ZMQ_SNDMORE : 0) | ZMQ_DONTWAIT);
}

static bool
door_receive(struct door *d)
{
	zmq_msg_t f[DOOR_FRAMES], extra;
	size_t n = 0;
	bool more = true, any = false;

	while (more) {
		zmq_msg_t *m = n < DOOR_FRAMES ? &f[n] : &extra;
		zmq.msg_init(m);
		if (zmq.msg_recv(m, d->handle, ZMQ_DONTWAIT) < 0) {
			zmq.msg_close(m);
			break;
		}
		any = true;
		more = zmq.msg_more(m);
		if (n < DOOR_FRAMES)
			n++;
		else
			zmq.msg_close(m);
	}
	if (n > DOOR_REQUEST)
		door_say(d, f, n, door_judge(d, f, n));
	for (size_t i = 0; i < n; i++)
		zmq.msg_close(&f[i]);
	return any;
}

static void
door_ready(void *arg, int fd, int events)
{
	(void)fd, (void)events;
	while (door_receive(arg))
		;
}

struct door *
door_new(struct net *n, const char *(*ask)(void *, const struct key *, const char *), void *arg)
{
	struct door *d = mem_zalloc(sizeof *d);
	size_t size = sizeof d->fd;
	int none = 0;

	*d = (struct door){ n, zmq.socket(net_context(n), ZMQ_ROUTER), -1, ask, arg };
	zmq.setsockopt(d->handle, ZMQ_LINGER, &none, sizeof none);
	zmq.bind(d->handle, "inproc://zeromq.zap.01");
	zmq.getsockopt(d->handle, ZMQ_FD, &d->fd, &size);
	net_watch(n, d->fd, NET_READ, door_ready, d);
	return d;
}

void
door_free(struct door **dp)
{
	struct door *d = *dp;

	if (!d)
		return;
	net_unwatch(d->net, d->fd);
	zmq.close(d->handle);
	mem_free(d);
	*dp = NULL;
}
