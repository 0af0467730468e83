/* SPDX-License-Identifier: MIT */
#include "op/pace.h"

#include <time.h>

#include "base/clock.h"

enum { PACE_LOOK_NS = 20 * 1000 * 1000 }; /* how soon a chain that is to stop does */

enum status
pace_wait(const struct op_inst *self, int64_t until)
{
	const atomic_bool *stop = self->ctx->stop;

	for (;;) {
		int64_t left = until - clock_mono_ns();

		if (left <= 0)
			return ST_OK;
		if (stop && atomic_load_explicit(stop, memory_order_relaxed))
			return ST_AGAIN;
		if (left > PACE_LOOK_NS)
			left = PACE_LOOK_NS;
		struct timespec t = { .tv_nsec = (long)left };
		nanosleep(&t, NULL);
	}
}
