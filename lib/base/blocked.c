/* SPDX-License-Identifier: MIT */
#include "base/blocked.h"

#include "base/clock.h"

void
blocked_begin(struct blocked *b)
{
	__atomic_store_n(&b->since, (uint64_t)clock_mono_ns(), __ATOMIC_RELAXED);
}

void
blocked_end(struct blocked *b)
{
	uint64_t since = __atomic_load_n(&b->since, __ATOMIC_RELAXED), now = (uint64_t)clock_mono_ns();

	/* In this order: for a moment the time is not counted, and never twice. */
	__atomic_store_n(&b->since, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->ns, __atomic_load_n(&b->ns, __ATOMIC_RELAXED) + (now - since), __ATOMIC_RELAXED);
}

bool
blocked_is(const struct blocked *b)
{
	return __atomic_load_n(&b->since, __ATOMIC_RELAXED) != 0;
}

uint64_t
blocked_ns(const struct blocked *b)
{
	uint64_t since = __atomic_load_n(&b->since, __ATOMIC_RELAXED), now = (uint64_t)clock_mono_ns();

	return __atomic_load_n(&b->ns, __ATOMIC_RELAXED) + (since && now > since ? now - since : 0);
}
