/* SPDX-License-Identifier: MIT */
#include "op/kit/pace.h"

#include <time.h>

#include "base/clock.h"
#include "base/pool.h"

enum { PACE_LOOK_NS = 20 * 1000 * 1000 }; /* how often a wait checks for a stop */

static enum status
pace_sleep(const struct op_inst *self, int64_t until)
{
	for (;;) {
		int64_t left = until - clock_mono_ns();

		if (left <= 0)
			return ST_OK;
		if (op_stopped(self->ctx))
			return ST_AGAIN;
		if (left > PACE_LOOK_NS)
			left = PACE_LOOK_NS;
		struct timespec t = { .tv_nsec = (long)left };
		nanosleep(&t, NULL);
	}
}

enum status
pace_wait(const struct op_inst *self, int64_t until)
{
	pool_wait_begin();
	enum status st = pace_sleep(self, until);
	pool_wait_end();
	return st;
}
