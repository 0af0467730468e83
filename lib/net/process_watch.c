/* SPDX-License-Identifier: MIT */
#include "net/process_watch.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

struct process_watch_one { uint64_t peer; int fd; };

void
process_watch_init(struct process_watch *x, struct net *n, void (*ended)(void *arg, uint64_t peer),
		   void *arg)
{
	*x = (struct process_watch){ .net = n, .ended = ended, .arg = arg };
}

static void
process_watch_remove(struct process_watch *x, size_t i)
{
	net_unwatch(x->net, x->v[i].fd);
	close(x->v[i].fd);
	x->v[i] = x->v[--x->n];
}

void
process_watch_clear(struct process_watch *x)
{
	while (x->n)
		process_watch_remove(x, x->n - 1);
	mem_free(x->v);
	x->v = NULL;
	x->cap = 0;
}

void
process_watch_drop(struct process_watch *x, uint64_t peer)
{
	for (size_t i = x->n; i-- > 0;)
		if (x->v[i].peer == peer)
			process_watch_remove(x, i);
}

static void
process_watch_seen(void *arg, int fd, int events)
{
	struct process_watch *x = arg;
	(void)events;
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].fd == fd) {
			uint64_t peer = x->v[i].peer;
			process_watch_remove(x, i);
			x->ended(x->arg, peer);
			return;
		}
}

bool
process_watch_add(struct process_watch *x, uint64_t peer, int64_t pid)
{
	process_watch_drop(x, peer);
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0) {
		if (errno == ESRCH)
			x->ended(x->arg, peer);
		return false;
	}
	x->v = mem_grow(x->v, &x->cap, x->n + 1, sizeof *x->v);
	x->v[x->n++] = (struct process_watch_one){ peer, fd };
	net_watch(x->net, fd, NET_READ, process_watch_seen, x);
	return true;
}
