/* SPDX-License-Identifier: MIT */
#include "standby.h"

#include <poll.h>
#include <unistd.h>

#include "base/caught.h"
#include "base/log.h"

enum { STANDBY_LOOK_MS = 100 };

/* Whether to end, after a moment. */
static bool
standby_over(bool until_eof)
{
	struct pollfd p[2] = { { .fd = caught_stops(), .events = POLLIN },
		{ .fd = until_eof ? STDIN_FILENO : -1, .events = POLLIN } };
	char bytes[256];

	poll(p, 2, STANDBY_LOOK_MS);
	return caught_count() > 0 || (p[1].revents && read(STDIN_FILENO, bytes, sizeof bytes) <= 0);
}

enum status
standby_open(const char *dir, bool wait, bool until_eof, struct store **out, struct err *e)
{
	enum status st;

	for (bool told = false;; told = true) {
		st = wait && store_taken(dir) ? ST_UNAVAIL : store_open(dir, out, e);
		if (!wait || st != ST_UNAVAIL)
			break;
		if (!told)
			log_say(LOG_INFO, "standby: another dispatcher uses the state in %s; waiting for its end", dir);
		if (standby_over(until_eof))
			return ST_END;
	}
	return st;
}
