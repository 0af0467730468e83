/* SPDX-License-Identifier: MIT
 *
 * One turn of the loop: waits, and calls the handlers.
 */
#include <poll.h>

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

/* Gives how many sockets have messages of which their descriptors do not tell. */
static size_t
net_items(struct net *n)
{
	size_t there = 0;
	n->items = mem_grow(n->items, &n->cap_items, n->n_socks * 2 + n->n_watches + 1, sizeof *n->items);
	struct pollfd *item = n->items;
	for (size_t i = 0; i < n->n_socks; i++) {
		there += sock_there(n->socks[i]);
		*item++ = (struct pollfd){ sock_fd(n->socks[i]), POLLIN, 0 };
		*item++ = (struct pollfd){ sock_monitor_fd(n->socks[i]), POLLIN, 0 };
	}
	for (size_t i = 0; i < n->n_watches; i++) {
		struct watch *w = &n->watches[i];
		short events = (short)((w->events & NET_READ ? POLLIN : 0) | (w->events & NET_WRITE ? POLLOUT : 0));
		*item++ = (struct pollfd){ w->fd, events, 0 };
	}
	return there;
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

/* Calls those for whom the poll found something, of those that there were before it. */
static void
net_call(struct net *n, size_t n_socks, size_t n_watches)
{
	for (size_t i = 0; i < n_socks; i++)
		if (n->items[2 * i].revents || n->items[2 * i + 1].revents || sock_there(n->socks[i]))
			sock_ready(n->socks[i]);
	for (size_t i = 0; i < n_watches; i++) {
		short got = n->items[2 * n_socks + i].revents;
		struct watch w = n->watches[i];
		if (got && w.fd >= 0)
			w.fn(w.arg, w.fd, (got & POLLIN ? NET_READ : 0) | (got & POLLOUT ? NET_WRITE : 0) |
						  (got & ~(POLLIN | POLLOUT) ? NET_ERROR : 0));
	}
}

void
net_step(struct net *n, int64_t until_ns)
{
	net_forget_watches(n);
	size_t n_socks = n->n_socks, n_watches = n->n_watches;
	bool there = net_items(n) > 0;
	if (poll(n->items, (nfds_t)(2 * n_socks + n_watches), there ? 0 : (int)net_wait_ms(n, until_ns)) >= 0)
		net_call(n, n_socks, n_watches);
	int64_t now = clock_mono_ns();
	for (size_t i = 0; i < n->n_socks; i++)
		sock_tick(n->socks[i], now);
}
