/* SPDX-License-Identifier: MIT */
#include "base/flock_for.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include "base/clock.h"

enum { FLOCK_STEP_NS = 5 * 1000 * 1000 };

bool
flock_for(int fd, int64_t ns)
{
	int64_t until = clock_mono_ns() + ns;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		const struct timespec step = { .tv_nsec = FLOCK_STEP_NS };

		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		if (clock_mono_ns() >= until)
			return true;
		nanosleep(&step, NULL);
	}
	return true;
}
