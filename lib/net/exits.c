/* SPDX-License-Identifier: MIT */
#include "net/exits.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

struct exits_one { uint64_t peer; int fd; };

void
exits_init(struct exits *x, struct net *n, void (*ended)(void *arg, uint64_t peer), void *arg)
{
	*x = (struct exits){ .net = n, .ended = ended, .arg = arg };
}

static void
exits_remove(struct exits *x, size_t i)
{
	net_unwatch(x->net, x->v[i].fd);
	close(x->v[i].fd);
	x->v[i] = x->v[--x->n];
}

void
exits_clear(struct exits *x)
{
	while (x->n)
		exits_remove(x, x->n - 1);
	mem_free(x->v);
	x->v = NULL;
	x->cap = 0;
}

void
exits_drop(struct exits *x, uint64_t peer)
{
	for (size_t i = x->n; i-- > 0;)
		if (x->v[i].peer == peer)
			exits_remove(x, i);
}

static void
exits_seen(void *arg, int fd, int events)
{
	struct exits *x = arg;
	(void)events;
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].fd == fd) {
			uint64_t peer = x->v[i].peer;
			exits_remove(x, i);
			x->ended(x->arg, peer);
			return;
		}
}

void
exits_watch(struct exits *x, uint64_t peer, int64_t pid)
{
	exits_drop(x, peer);
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0) {
		if (errno == ESRCH)
			x->ended(x->arg, peer);
		return;
	}
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct exits_one){ peer, fd };
	net_watch(x->net, fd, NET_READ, exits_seen, x);
}
