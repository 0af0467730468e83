/* SPDX-License-Identifier: MIT */
#include "host/way.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/address_file.h"

enum { WAY_GUIDE_MS = 100, WAY_KEYS = ADDRESS_LIST_MAX / 8 };

/* A guide's answer: the file's addresses and their keys. */
struct way_answer {
	char list[ADDRESS_LIST_MAX]; /* "": there are none */
	enum status st;
	struct key keys[WAY_KEYS];
};

enum status
way_open(struct way *w, const char *addresses, const char *from, bool listens, const char *role, struct err *e)
{
	const char *file = address_file_of(addresses);

	*w = (struct way){ .listens = listens, .list = mem_strdup(addresses) };
	if (file)
		w->file = mem_strdup(file);
	if (from)
		w->from = mem_strdup(from);
	link_where(addresses, from, w->where);
	return secure_to(addresses, listens, role, &w->secure, e);
}

void
way_close(struct way *w)
{
	if (w->guide)
		close(w->guide);
	secure_clear(&w->secure);
	mem_free(w->list);
	mem_free(w->file);
	mem_free(w->from);
	*w = (struct way){ 0 };
}

/* Reads the file; as long as its addresses are those of now, no keys. */
static void
way_read(const struct way *w, struct way_answer *a)
{
	struct key *keys = NULL;
	struct err e;

	memset(a, 0, sizeof *a);
	gate_lift(true); /* the owner named it */
	if (!address_file_read(w->file, a->list, sizeof a->list))
		a->list[0] = '\0';
	if (a->list[0] && strcmp(a->list, w->list) != 0) {
		a->st = secure_moved(&w->secure, a->list, w->listens, &keys, &e);
		if (a->st == ST_OK)
			memcpy(a->keys, keys, address_list_count(a->list) * sizeof *keys);
	}
	gate_lift(false);
	mem_free(keys);
}

/* The guide's own process: answers each byte, until the other end is closed. */
static void
way_guide_serve(struct way *w, int fd)
{
	struct way_answer a;
	char byte;

	prctl(PR_SET_NAME, "dsvc-guide");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd != 3 && dup2(fd, 3) != 3)
		_exit(1);
	close_range(4, ~0u, 0);
	for (int i = 0; i < 3; i++) {
		close(i);
		open("/dev/null", O_RDWR);
	}
	signal(SIGINT, SIG_IGN); /* a terminal sends it to all: the worker hands its streams over first */
	signal(SIGTERM, SIG_IGN);
	signal(SIGUSR2, SIG_IGN);
	while (recv(3, &byte, 1, 0) == 1) {
		way_read(w, &a);
		if (send(3, &a, sizeof a, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

void
way_guide(struct way *w)
{
	int ends[2];

	if (!w->file || w->guide || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return;
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[0]);
		way_guide_serve(w, ends[1]);
	}
	close(ends[1]);
	if (pid > 0)
		w->guide = ends[0];
	else
		close(ends[0]);
}

/* An answer that comes late is taken the next time. */
static void
way_ask(struct way *w, struct way_answer *a)
{
	struct pollfd p = { .fd = w->guide, .events = POLLIN };
	ssize_t n;

	memset(a, 0, sizeof *a);
	if (poll(&p, 1, 0) <= 0 && send(w->guide, "?", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return;
	if (poll(&p, 1, WAY_GUIDE_MS) <= 0)
		return;
	n = recv(w->guide, a, sizeof *a, MSG_DONTWAIT);
	if (n != (ssize_t)sizeof *a)
		memset(a, 0, sizeof *a);
	a->list[sizeof a->list - 1] = '\0';
}

/* Whether the file has other addresses now, to which this program may speak. */
static bool
way_moved(struct way *w)
{
	struct way_answer a;

	if (w->guide)
		way_ask(w, &a);
	else
		way_read(w, &a);
	if (!a.list[0] || !strcmp(a.list, w->list) || address_list_count(a.list) > WAY_KEYS)
		return false;
	if (a.st != ST_OK) {
		if (strcmp(w->said, a.list) != 0)
			log_say(LOG_WARN, "%s now says %s, for which no key is known", w->file, a.list);
		snprintf(w->said, sizeof w->said, "%s", a.list);
		return false;
	}
	mem_free(w->list);
	w->list = mem_strdup(a.list);
	w->secure.n = address_list_count(a.list);
	mem_free(w->secure.servers);
	w->secure.servers = mem_dup(a.keys, w->secure.n * sizeof *a.keys);
	link_where(w->list, w->from, w->where);
	return true;
}

static bool
way_again(void *arg)
{
	return way_moved(arg);
}

/* Whether what was reached speaks as we are to. */
static enum status
way_fits(const struct way *w, struct err *e)
{
	enum address_speech is = w->reached.answer.speech;
	enum address_speech ours = key_none(&w->secure.servers[w->reached.which]) ? ADDRESS_CLEAR : ADDRESS_KEYED;

	return is == ADDRESS_UNTOLD || is == ours ? ST_OK
		: secure_denied(&w->secure, w->list, false, SOCK_DENIED_WAY, e);
}

enum status
way_reach(struct way *w, struct err *e)
{
	enum status st;

	do
		st = link_reach_or(w->list, w->from, w->file ? way_again : NULL, w, &w->reached, e);
	while (st == ST_SKIP);
	return st == ST_OK ? way_fits(w, e) : st;
}

enum status
way_connect(struct way *w, struct sock *s, struct err *e)
{
	enum status st = sock_connect_any(s, w->list, w->secure.servers, w->reached.which, LINK_DISPATCHER, e);

	secure_wipe(&w->secure);
	return st;
}

bool
way_renews(const struct way *w)
{
	return w->file != NULL;
}

bool
way_renew(struct way *w, const char **list, const struct key **keys)
{
	if (!way_moved(w))
		return false;
	log_say(LOG_INFO, "the dispatcher is now at %s", w->list);
	*list = w->list;
	*keys = w->secure.servers;
	return true;
}
