/* SPDX-License-Identifier: MIT */
#include "net/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"

static int notify_fd = -1;
static int64_t notify_every, notify_due; /* ns; 0: nobody watches */

/* The time within which the manager wants to hear something, if it is this process that it means. */
static void
notify_watched(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	int64_t n, who;

	if (!usec || !str_int(usec, strlen(usec), &n) || n <= 0 || n > INT64_MAX / 1000)
		return;
	if (pid && (!str_int(pid, strlen(pid), &who) || who != (int64_t)getpid()))
		return;
	notify_every = n * 1000 / 2;
}

void
notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = path ? strlen(path) : 0;

	if (n > 1 && n < sizeof a.sun_path && (*path == '/' || *path == '@')) {
		memcpy(a.sun_path, path, n);
		if (*path == '@') /* an abstract one */
			a.sun_path[0] = '\0';
		socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
		notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (notify_fd >= 0 && connect(notify_fd, (struct sockaddr *)&a, len)) {
			close(notify_fd);
			notify_fd = -1;
		}
	}
	if (notify_fd >= 0)
		notify_watched();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void
notify_say(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (notify_fd < 0)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n > 0)
		send(notify_fd, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int64_t
notify_watchdog(int64_t now_ns)
{
	if (!notify_every)
		return INT64_MAX;
	if (now_ns >= notify_due) {
		notify_say("WATCHDOG=1");
		notify_due = now_ns + notify_every;
	}
	return notify_due;
}
