/* SPDX-License-Identifier: MIT
 *
 * A worker alone with one stream, for tests: told(), credit(), produce() and so on give it an
 * event, and acts[] is what it wants done then.
 */
#ifndef UNIT_WORKER_KIT_H
#define UNIT_WORKER_KIT_H

#include "worker_base.h"

static const struct stream_key key = { 7, 0, 1 };

/* How many actions of this kind there are; -1: the handle of the only one is another. */
static inline int
count(enum worker_action_kind kind, int handle)
{
	int n = 0;

	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == kind && acts[i].handle != (handle < 0 ? acts[i].handle : &names[handle]))
			return -1;
		else
			n += acts[i].kind == kind;
	return n;
}

static inline void
assign(uint32_t places, struct msg_view *views, size_t n, int order)
{
	told((struct msg){ .type = MSG_ASSIGN, .assign = { .key = key, .order = (uint32_t)order, .places = places,
		.views = { views, n } } });
	assert_int_equal(count(WORKER_START, -1), 1);
}

static inline int
setup(void **state)
{
	static const struct worker_opts o = { .peer = 1, .name = "w", .host = "h", .endpoint = "e", .slots = 1,
		.memory = 1000 };

	(void)state;
	w = worker_new(&o, now = 1);
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	return 0;
}

/* Reader `seat` of that view gets credit. */
static inline void
credit(uint32_t view, uint64_t seat, uint64_t total)
{
	struct msg m = { .type = MSG_CREDIT, .credit = { key, seat, 1, total, { 0 }, view } };

	worker_data(w, now += MS, 100 + seat, &m);
	collect();
}

static inline void
ack(uint32_t view, uint64_t seat, uint64_t start, uint64_t end)
{
	struct range r = { start, end };
	struct msg m = { .type = MSG_CHUNK_ACK, .chunk_ack = { key, seat, { &r, 1 }, { 0 }, view } };

	worker_data(w, now += MS, 100 + seat, &m);
	collect();
}

static inline void
produce(uint32_t view, int handle, uint64_t offset, uint32_t n, size_t bytes)
{
	worker_produced(w, now += MS, key, view, &names[handle], offset, n, bytes, 0);
	collect();
}

#endif
