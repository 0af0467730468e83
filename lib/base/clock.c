/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

static int64_t
clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
clock_mono_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

int64_t
clock_wall_ns(void)
{
	return clock_read(CLOCK_REALTIME);
}
