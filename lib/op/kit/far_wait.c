/* SPDX-License-Identifier: MIT */
#include "op/kit/far_wait.h"

static bool
far_wait_over(const void *ctx)
{
	return op_stopped(ctx);
}

struct fetch_wait
far_wait(const struct op_ctx *ctx)
{
	return (struct fetch_wait){ .stopped = far_wait_over, .arg = ctx };
}
