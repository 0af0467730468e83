/* SPDX-License-Identifier: MIT
 *
 * A reader alone, for tests: told(), chunk() and written() give it an event, and acts[] is what
 * it wants done then.
 */
#ifndef UNIT_READER_KIT_H
#define UNIT_READER_KIT_H

#include "core/read/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define MS 1000000ll
#define SEC 1000000000ll
enum { WORKER = 50 };

static struct reader *r;
static int64_t now;
static struct reader_action acts[256];
static size_t n_acts;
static char names[64], endpoint[64];

static inline void
collect(void)
{
	while (n_acts)
		msg_clear(&acts[--n_acts].msg);
	while (reader_action(r, &acts[n_acts])) {
		if (acts[n_acts].kind == READER_CONNECT)
			strncpy(endpoint, acts[n_acts].endpoint, sizeof endpoint - 1);
		assert_true(++n_acts < 256);
	}
}

static inline struct reader_action *
act(enum reader_action_kind kind, enum msg_type t)
{
	for (size_t i = 0; i < n_acts; i++)
		if (acts[i].kind == kind && (!t || acts[i].msg.type == t))
			return &acts[i];
	return NULL;
}

static inline void
told(struct msg m)
{
	struct msg copy;

	msg_copy(&copy, &m);
	reader_message(r, now += MS, &copy);
	msg_clear(&copy);
	collect();
}

static inline void
streams(uint32_t n, uint32_t gen, uint32_t state, uint64_t length)
{
	struct msg_stream v[4];

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct msg_stream){ .stream = i, .gen = gen, .state = state, .worker = WORKER,
			.endpoint = (char *)(uintptr_t)"ep", .length = length };
	told((struct msg){ .type = MSG_STREAMS, .streams = { .iteration = 7, .version = gen, .all_known = true,
		.total = n, .list = { v, n } } });
}

static inline void
chunk(int handle, uint32_t stream, uint32_t gen, uint64_t offset, uint32_t count, uint32_t skip)
{
	struct msg_chunk c = { .key = { 7, stream, gen }, .seat = 3, .session = 1, .offset = offset,
		.count = count, .skip = skip };

	reader_chunk(r, now += MS, WORKER, &c, &names[handle], 100);
	collect();
}

static inline void
begin(struct reader_opts o, uint32_t shards)
{
	struct err e;

	now = SEC;
	o.peer = 1;
	o.name = "r";
	o.host = "h";
	if (!o.dataset)
		o.dataset = "d";
	assert_int_equal(reader_new(&o, now, &r, &e), ST_OK);
	collect();
	assert_non_null(act(READER_TELL, MSG_HELLO));
	told((struct msg){ .type = MSG_WELCOME, .welcome = { WIRE_VERSION, 5, false, 1000, 5000 } });
	assert_non_null(act(READER_TELL, MSG_OPEN));
	if (!shards)
		return;
	told((struct msg){ .type = MSG_JOB, .req = act(READER_TELL, MSG_OPEN)->msg.req, .job = { .iteration = 7,
		.seat = 3, .dataset = (char *)(uintptr_t)"d", .opts.sharding = o.job.sharding, .opts.order = o.job.order,
		.opts.shards = shards,
		.block = 2 } });
	assert_non_null(act(READER_JOB, 0));
}

static inline int
teardown(void **state)
{
	(void)state;
	reader_stop(r);
	collect();
	while (n_acts)
		msg_clear(&acts[--n_acts].msg);
	reader_free(&r);
	return 0;
}

static inline void
written(uint64_t n)
{
	reader_written(r, now += MS, n);
	collect();
}

#endif
