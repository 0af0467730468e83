/* SPDX-License-Identifier: MIT
 *
 * One turn of the loop: waits, and calls the handlers.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "net/loop.h"
#include "net/net_inner.h"

static void
net_forget_watches(struct net *n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n->n_watches; i++)
		if (n->watches[i].fd >= 0)
			n->watches[kept++] = n->watches[i];
	n->n_watches = kept;
}

static size_t
net_items(struct net *n)
{
	size_t count = n->n_socks * 2 + n->n_watches;
	n->items = mem_grow(n->items, &n->cap_items, count + 1, sizeof *n->items);
	zmq_pollitem_t *item = n->items;
	for (size_t i = 0; i < n->n_socks; i++) {
		*item++ = (zmq_pollitem_t){ sock_handle(n->socks[i]), 0, ZMQ_POLLIN, 0 };
		*item++ = (zmq_pollitem_t){ sock_monitor(n->socks[i]), 0, ZMQ_POLLIN, 0 };
	}
	for (size_t i = 0; i < n->n_watches; i++) {
		struct watch *w = &n->watches[i];
		short events = (short)((w->events & NET_READ ? ZMQ_POLLIN : 0) |
				       (w->events & NET_WRITE ? ZMQ_POLLOUT : 0) |
				       (w->events & NET_ERROR ? ZMQ_POLLERR : 0));
		*item++ = (zmq_pollitem_t){ NULL, w->fd, events, 0 };
	}
	return count;
}

static long
net_wait_ms(const struct net *n, int64_t until_ns)
{
	for (size_t i = 0; i < n->n_socks; i++)
		if (sock_deadline(n->socks[i]) < until_ns)
			until_ns = sock_deadline(n->socks[i]);
	if (until_ns == INT64_MAX)
		return -1;
	int64_t left = until_ns - clock_mono_ns();
	if (left <= 0)
		return 0;
	left = (left + 999999) / 1000000;
	return left > 3600000 ? 3600000 : (long)left;
}

void
net_step(struct net *n, int64_t until_ns)
{
	net_forget_watches(n);
	size_t n_socks = n->n_socks, n_watches = n->n_watches;
	size_t count = net_items(n);
	if (zmq_poll(n->items, (int)count, net_wait_ms(n, until_ns)) > 0) {
		for (size_t i = 0; i < n_socks; i++)
			if (n->items[2 * i].revents || n->items[2 * i + 1].revents)
				sock_ready(n->socks[i]);
		for (size_t i = 0; i < n_watches; i++) {
			short got = n->items[2 * n_socks + i].revents;
			struct watch w = n->watches[i];
			if (got && w.fd >= 0)
				w.fn(w.arg, w.fd, (got & ZMQ_POLLIN ? NET_READ : 0) |
							  (got & ZMQ_POLLOUT ? NET_WRITE : 0) |
							  (got & ZMQ_POLLERR ? NET_ERROR : 0));
		}
	}
	int64_t now = clock_mono_ns();
	for (size_t i = 0; i < n->n_socks; i++)
		sock_tick(n->socks[i], now);
}
