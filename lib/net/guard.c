/* SPDX-License-Identifier: MIT */
#include "net/guard.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum { GUARD_FRAME = 9 }; /* bytes before a frame, at most */

struct guard_conn {
	uint64_t cookie;   /* 0: not open */
	uint64_t age;      /* which connection it is, counted from 1 */
	uint64_t taken;    /* bytes that reached us */
	uint64_t owed;     /* at the last look: messages that came in but did not reach us */
	bool spoke, cut;
};

struct guard_turn {
	uint64_t age;
	int fd;
};

void
guard_init(struct guard *g)
{
	struct rlimit r;
	memset(g, 0, sizeof *g);
	g->deadline_ns = INT64_MAX;
	g->silent_max = GUARD_SILENT;
	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur / 4 < GUARD_SILENT)
		g->silent_max = r.rlim_cur / 4;
}

void
guard_clear(struct guard *g)
{
	mem_free(g->conns);
	mem_free(g->turns);
	memset(g, 0, sizeof *g);
	g->deadline_ns = INT64_MAX;
}

static uint64_t
guard_cookie(int fd)
{
	uint64_t cookie = 0;
	socklen_t n = sizeof cookie;
	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &n) == 0 ? cookie : 0;
}

static struct guard_conn *
guard_find(const struct guard *g, int fd)
{
	if (fd < 0 || (size_t)fd >= g->n_conns || !g->conns[fd].cookie)
		return NULL;
	return &g->conns[fd];
}

static bool
guard_silent(const struct guard *g, const struct guard_turn *t)
{
	const struct guard_conn *c = guard_find(g, t->fd);
	return c && c->age == t->age && !c->spoke && !c->cut;
}

/* Puts a connection at the end of the line, which sheds what no longer waits in it. */
static void
guard_queue(struct guard *g, int fd, uint64_t age)
{
	if (g->n_turns > 64 && g->n_turns > 2 * g->silent) {
		size_t kept = 0;
		for (size_t i = g->turn; i < g->n_turns; i++)
			if (guard_silent(g, &g->turns[i]))
				g->turns[kept++] = g->turns[i];
		g->turn = 0;
		g->n_turns = kept;
	}
	g->turns = mem_grow(g->turns, &g->cap_turns, g->n_turns + 1, sizeof *g->turns);
	g->turns[g->n_turns++] = (struct guard_turn){ age, fd };
}

void
guard_opened(struct guard *g, int fd, int64_t now_ns)
{
	uint64_t cookie = fd < 0 ? 0 : guard_cookie(fd);
	guard_closed(g, fd);
	if (!cookie)
		return;
	if ((size_t)fd >= g->n_conns) {
		size_t n = (size_t)fd + 64;
		g->conns = mem_realloc(g->conns, n * sizeof *g->conns);
		memset(g->conns + g->n_conns, 0, (n - g->n_conns) * sizeof *g->conns);
		g->n_conns = n;
	}
	g->conns[fd] = (struct guard_conn){ .cookie = cookie, .age = ++g->opened };
	g->open++;
	g->silent++;
	guard_queue(g, fd, g->opened);
	if (g->silent > g->silent_max)
		g->deadline_ns = now_ns;
	else if (g->deadline_ns == INT64_MAX)
		g->deadline_ns = now_ns + GUARD_EVERY_MS * 1000000LL;
}

void
guard_closed(struct guard *g, int fd)
{
	struct guard_conn *c = guard_find(g, fd);
	if (!c)
		return;
	g->open--;
	g->silent -= !c->spoke && !c->cut;
	*c = (struct guard_conn){ 0 };
	if (!g->open)
		g->deadline_ns = INT64_MAX;
}

void
guard_took(struct guard *g, int fd, size_t bytes, size_t frames)
{
	struct guard_conn *c = guard_find(g, fd);
	if (!c)
		return;
	g->silent -= !c->spoke && !c->cut;
	c->spoke = true;
	c->taken += bytes + frames * GUARD_FRAME;
}

bool
guard_cut(struct guard *g, int fd)
{
	struct guard_conn *c = guard_find(g, fd);
	if (!c || c->cut)
		return false;
	g->silent -= !c->spoke;
	c->cut = true;
	int mine = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int held = mine < 0 ? fd : mine; /* no descriptor is left: the race has to be taken */
	bool same = guard_cookie(held) == c->cookie;
	if (same)
		shutdown(held, SHUT_RDWR);
	if (mine >= 0)
		close(mine);
	return same;
}

static void
guard_tell(struct guard *g, const char *why, int64_t now_ns)
{
	if (g->told_ns && now_ns - g->told_ns < 1000000000LL)
		return;
	g->told_ns = now_ns;
	log_say(LOG_WARN, "cut a connection %s", why);
}

/* Cuts the oldest of those that have said nothing. */
static void
guard_oldest(struct guard *g)
{
	while (g->turn < g->n_turns) {
		const struct guard_turn *t = &g->turns[g->turn++];
		if (guard_silent(g, t)) {
			guard_cut(g, t->fd);
			return;
		}
	}
	g->silent = 0; /* cannot be: it counts what stands in line */
}

static uint64_t
guard_owed(const struct guard_conn *c, int fd)
{
	struct tcp_info t;
	socklen_t n = sizeof t;
	memset(&t, 0, sizeof t);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &n) != 0)
		return 0;
	return t.tcpi_bytes_received > c->taken ? t.tcpi_bytes_received - c->taken : 0;
}

/* Cuts what is over its limit; returns what all others owe together. */
static uint64_t
guard_weigh(struct guard *g, int64_t now_ns)
{
	uint64_t all = 0;
	for (size_t fd = 0; fd < g->n_conns; fd++) {
		struct guard_conn *c = &g->conns[fd];
		if (!c->cookie || c->cut)
			continue;
		c->owed = guard_owed(c, (int)fd);
		if (c->owed && guard_cookie((int)fd) != c->cookie) {
			guard_closed(g, (int)fd); /* libzmq closed it without a word */
		} else if (c->owed > (c->spoke ? GUARD_OWED : GUARD_FIRST)) {
			guard_cut(g, (int)fd);
			guard_tell(g, "that sends a message without end", now_ns);
		} else {
			all += c->owed;
		}
	}
	return all;
}

/* The connection that owes most; NULL: none owes anything. */
static struct guard_conn *
guard_most(const struct guard *g)
{
	struct guard_conn *most = NULL;
	for (size_t fd = 0; fd < g->n_conns; fd++) {
		struct guard_conn *c = &g->conns[fd];
		if (c->cookie && !c->cut && c->owed && (!most || c->owed > most->owed))
			most = c;
	}
	return most;
}

void
guard_tick(struct guard *g, int64_t now_ns)
{
	if (now_ns < g->deadline_ns)
		return;
	g->deadline_ns = now_ns + GUARD_EVERY_MS * 1000000LL;
	if (g->silent > g->silent_max)
		guard_tell(g, "that said nothing, to make room for others", now_ns);
	while (g->silent > g->silent_max)
		guard_oldest(g);
	uint64_t all = guard_weigh(g, now_ns);
	struct guard_conn *most;
	while (all > GUARD_ALL && (most = guard_most(g))) {
		all -= most->owed;
		guard_cut(g, (int)(most - g->conns));
		guard_tell(g, "that has most under way, for all together have too much", now_ns);
	}
}
