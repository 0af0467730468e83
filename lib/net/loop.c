/* SPDX-License-Identifier: MIT */
#include "net/loop.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/wake.h"
#include "net/net_inner.h"
#include "net/zmq_lib.h"

/* For a context with its threads, a few sockets and their connections, and a state. */
enum { NET_FILES = 32 };

/* Seeds rand(), from which libzmq draws the ids that it makes up itself. It never seeds
 * it, so those ids would be the same in each run, and a peer that calls itself by the
 * next one makes libzmq abort. */
static void
net_seed(void)
{
	srand((unsigned)rng_seed_fresh());
}

struct net *
net_new(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, net_seed);
	zmq_lib_need();
	struct net *n = mem_zalloc(sizeof *n);
	n->ctx = zmq.ctx_new();
	zmq.ctx_set(n->ctx, ZMQ_IO_THREADS, 1);
	return n;
}

void
net_free(struct net **np)
{
	struct net *n = *np;
	if (!n)
		return;
	zmq.ctx_term(n->ctx);
	mem_free(n->socks);
	mem_free(n->watches);
	mem_free(n->items);
	mem_free(n);
	*np = NULL;
}

void *
net_context(struct net *n)
{
	return n->ctx;
}

void
net_add(struct net *n, struct sock *s)
{
	n->socks = mem_grow(n->socks, &n->cap_socks, n->n_socks + 1, sizeof *n->socks);
	n->socks[n->n_socks++] = s;
}

void
net_remove(struct net *n, struct sock *s)
{
	for (size_t i = 0; i < n->n_socks; i++)
		if (n->socks[i] == s)
			n->socks[i] = n->socks[--n->n_socks];
}

void
net_watch(struct net *n, int fd, int events, void (*fn)(void *, int, int), void *arg)
{
	n->watches = mem_grow(n->watches, &n->cap_watches, n->n_watches + 1, sizeof *n->watches);
	n->watches[n->n_watches++] = (struct watch){ fd, events, fn, arg };
}

void
net_unwatch(struct net *n, int fd)
{
	for (size_t i = 0; i < n->n_watches; i++)
		if (n->watches[i].fd == fd)
			n->watches[i].fd = -1;
}

uint64_t
net_host_id(void)
{
	char text[128] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (!f || !fgets(text, sizeof text, f))
		gethostname(text, sizeof text - 1);
	if (f)
		fclose(f);
	/* hash_bytes is seeded per process, and this must be the same in all */
	uint64_t id = 1;
	for (const char *c = text; *c; c++)
		id = rng_mix(id, (uint8_t)*c);
	struct stat pids;
	if (stat("/proc/self/ns/pid", &pids) == 0)
		id = rng_mix(id, pids.st_ino);
	return id;
}

void
net_zmq_version(int *major, int *minor, int *patch)
{
	zmq_lib_need();
	zmq.version(major, minor, patch);
}

enum status
net_check_files(struct err *e)
{
	int fd[NET_FILES], n = 0;
	struct rlimit r = { 0 };

	/* Also those count that were open when the program was started. */
	for (int i = 0; i < NET_FILES; i++)
		if ((fd[n] = wake_open()) >= 0)
			n++;
	for (int i = 0; i < n; i++)
		close(fd[i]);
	if (n == NET_FILES)
		return ST_OK;
	getrlimit(RLIMIT_NOFILE, &r);
	err_set(e, ST_CONFIG, "only %d more files may be open (the limit is %lld), and %d are needed", n,
		(long long)r.rlim_cur, NET_FILES);
	err_help(e, "raise the limit: ulimit -n 1024");
	return ST_CONFIG;
}

void
net_raise_files(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max > 65536 ? 65536 : r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}
