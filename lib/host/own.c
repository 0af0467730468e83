/* SPDX-License-Identifier: MIT */
#include "host/own.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/disp/dispatcher.h"
#include "host/link.h"
#include "host/tool.h"
#include "net/address.h"
#include "value/record.h"

/* Whether it is a program of dsvc that belongs to this user. */
static bool
own_is_ours(long pid)
{
	char path[40], name[32] = "";
	struct stat s;

	snprintf(path, sizeof path, "/proc/%ld", pid);
	if (stat(path, &s) != 0 || s.st_uid != geteuid())
		return false;
	snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	FILE *f = fopen(path, "re");
	bool read = f && fgets(name, sizeof name, f);
	if (f)
		fclose(f);
	return read && str_starts(name, "dsvc-");
}

static void
own_add(struct own *o, long pid, enum own_role role)
{
	if (pid <= 0 || pid == getpid())
		return;
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].pid == pid)
			return;
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0 || !own_is_ours(pid)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	o->v = mem_grow(o->v, &o->cap, o->n + 1, sizeof *o->v);
	o->v[o->n++] = (struct own_process){ .pid = pid, .role = role, .fd = fd };
}

/* The process that listens there; 0: nobody. */
static long
own_listener(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct ucred who = { 0 };
	socklen_t n = sizeof who;

	if (strlen(path) >= sizeof a.sun_path)
		return 0;
	strcpy(a.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (struct sockaddr *)&a, sizeof a) != 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0)
		who.pid = 0;
	close(fd);
	return who.pid;
}

static void
own_listeners(const char *folder, struct own *out)
{
	char path[ADDRESS_MAX];
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		bool dispatch = !strcmp(entry->d_name, "dispatch");
		if (!dispatch && !str_starts(entry->d_name, "work-"))
			continue;
		if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < sizeof path &&
		    !str_ends(path, ".lock"))
			own_add(out, own_listener(path), dispatch ? OWN_DISPATCHER : OWN_WORKER);
	}
	if (d)
		closedir(d);
}

static void
own_peers(struct slice report, const char *list, enum own_role role, struct own *out)
{
	struct record_items it = record_list(report, list);
	struct slice peer;

	while (record_next(&it, &peer)) {
		if (record_is(peer, "host", link_host()))
			own_add(out, (long)record_uint(peer, "pid"), role);
		else if (role == OWN_WORKER)
			out->elsewhere++;
		out->readers += role == OWN_READER;
	}
}

static void
own_report(struct slice report, struct own *out)
{
	out->answers = true;
	out->durable = record_uint(report, "durable");
	out->slots = record_uint(report, "slots");
	own_peers(report, "workers", OWN_WORKER, out);
	own_peers(report, "readers", OWN_READER, out);
}

/* A dispatcher that does not answer is no error: less is known then. */
static void
own_ask(const char *address, struct own *out)
{
	struct msg reply, ask = { .type = MSG_STATUS, .status = { .what = REPORT_ALL, .job = (char *)"" } };
	struct err e;

	if (tool_once(address, "the default", &ask, MSG_REPORT, &reply, &e) != ST_OK)
		return;
	if (mp_check(reply.report.value.p, reply.report.value.n))
		own_report((struct slice){ reply.report.value.p, reply.report.value.p + reply.report.value.n }, out);
	msg_clear(&reply);
}

enum status
own_look(const char *address, struct own *out, struct err *e)
{
	struct buf folder = { 0 };
	enum status st = address_folder(&folder, false, e);

	*out = (struct own){ 0 };
	if (st == ST_OK)
		own_listeners((const char *)folder.data, out);
	if (own_count(out, OWN_DISPATCHER))
		own_ask(address, out);
	buf_clear(&folder);
	return st;
}

void
own_clear(struct own *o)
{
	for (size_t i = 0; i < o->n; i++)
		close(o->v[i].fd);
	mem_free(o->v);
	*o = (struct own){ 0 };
}

size_t
own_count(const struct own *o, unsigned roles)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += o->v[i].role & roles && !o->v[i].ended;
	return n;
}

void
own_tell(const struct own *o, unsigned roles, int sig)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].role & roles && !o->v[i].ended)
			syscall(SYS_pidfd_send_signal, o->v[i].fd, sig, NULL, 0);
}

bool
own_wait(struct own *o, unsigned roles, int64_t ns, int stop_fd)
{
	int64_t now = clock_mono_ns(), until = ns > INT64_MAX - now ? INT64_MAX : now + ns;
	struct pollfd *p = mem_array(o->n + 1, sizeof *p);
	bool told = false;

	while (own_count(o, roles) && !told) {
		for (size_t i = 0; i < o->n; i++)
			p[i] = (struct pollfd){ .fd = o->v[i].role & roles && !o->v[i].ended ? o->v[i].fd : -1,
				.events = POLLIN };
		p[o->n] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
		int64_t left = until == INT64_MAX ? -1 : (until - clock_mono_ns() + 999999) / 1000000;
		if (until != INT64_MAX && left <= 0)
			break;
		if (poll(p, o->n + 1, left > INT32_MAX ? INT32_MAX : (int)left) < 0 && errno != EINTR)
			break;
		for (size_t i = 0; i < o->n; i++)
			o->v[i].ended |= p[i].fd >= 0 && p[i].revents & POLLIN;
		told = stop_fd >= 0 && p[o->n].revents;
	}
	mem_free(p);
	return own_count(o, roles) == 0;
}

void
own_sweep(void)
{
	struct buf folder = { 0 };

	address_sweep("work");
	address_sweep("arena");
	address_sweep("dispatch");
	if (address_folder(&folder, false, NULL) == ST_OK)
		rmdir((const char *)folder.data);
	buf_clear(&folder);
}
