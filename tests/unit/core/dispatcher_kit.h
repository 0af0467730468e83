/* SPDX-License-Identifier: MIT
 *
 * A dispatcher alone, for tests of what it answers: say() gives it a message of a peer,
 * got() is what it sent to a peer since then.
 */
#ifndef UNIT_DISPATCHER_KIT_H
#define UNIT_DISPATCHER_KIT_H

#include "core/disp/dispatcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define MS 1000000ll
#define SEC 1000000000ll
enum { W1 = 11, W2 = 12, R1 = 21, R2 = 22, T1 = 31 };

static struct disp *d;
static int64_t now;
static struct { uint64_t peer; struct msg m; } sent[512];
static size_t n_sent;

static inline void
spec_id(const char *spec, size_t n, char *out, size_t size)
{
	snprintf(out, size, "id-%.*s", (int)n, spec);
}

/* Called with each row; NULL: nothing is kept. */
static void (*on_row)(void *arg, const struct disp_row *row);

static inline void
collect(void)
{
	disp_changes(d, on_row, NULL);
	while (disp_outbox(d, &sent[n_sent].peer, &sent[n_sent].m)) {
		struct buf b = { 0 };
		struct err e;

		msg_encode(&sent[n_sent].m, &b);
		if (msg_fits(&sent[n_sent].m, b.len, &e))
			fail_msg("%s", e.text);
		buf_clear(&b);
		assert_true(++n_sent < 512);
	}
}

static inline void
forget(void)
{
	while (n_sent)
		msg_clear(&sent[--n_sent].m);
}

/* The message of this type sent to `peer` since the last one; NULL: none. */
static inline struct msg *
got(uint64_t peer, enum msg_type t)
{
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].peer == peer && sent[i].m.type == t)
			return &sent[i].m;
	return NULL;
}

/* A message of a peer with a key; NULL: nobody was asked who it is. */
static inline void
say_of(uint64_t peer, const struct disp_who *who, const struct msg *m)
{
	struct msg copy;

	forget();
	now += MS;
	msg_copy(&copy, m);
	if (who)
		disp_message_of(d, now, peer, who, &copy);
	else
		disp_message(d, now, peer, &copy);
	msg_clear(&copy);
	collect();
}

static inline void
say(uint64_t peer, struct msg m)
{
	say_of(peer, NULL, &m);
}

static inline void
wait_for(int64_t ns)
{
	forget();
	for (int64_t end = now + ns; now < end;) {
		int64_t at = disp_next_deadline(d);

		now = at < end && at > now ? at : end;
		disp_tick(d, now);
		collect();
	}
}

static inline char *
text(const char *s)
{
	return (char *)(uintptr_t)s;
}

static inline void
hello(uint64_t peer, enum wire_role role)
{
	say(peer, (struct msg){ .type = MSG_HELLO, .req = 1, .hello = { .version = WIRE_VERSION, .role = role,
		.peer = peer, .name = text("n"), .endpoint = text("ep"), .slots = 2 } });
	assert_non_null(got(peer, MSG_WELCOME));
}

static inline void
open_job(uint64_t peer, const char *job, const char *spec, uint64_t seed)
{
	say(peer, (struct msg){ .type = MSG_OPEN, .req = 7, .open = { .job.name = text(job), .spec = text(spec),
		.type = text("int"), .job.sharding = SHARD_DYNAMIC, .job.epoch = 1, .job.seeded = true, .job.seed = seed,
		.job.min_workers = 1, .job.wait_ms = 500 } });
}

static inline void
units(uint64_t worker, uint64_t req, uint64_t count)
{
	struct split s = { .kind = SPLIT_RANGE, .cuttable = true, .count = count, .times = 1, .weight = count };
	struct msg m = { .type = MSG_UNITS, .req = req, .units = { .listing = 1, .last = true, .times = 1,
		.units = { count ? &s : NULL, count ? 1 : 0, 1 } } };

	say(worker, m);
}

static inline int
setup(void **state)
{
	struct disp_opts o = { .instance = 5, .seed = 3, .spec_id = spec_id, .job_gc_ns = 60 * SEC,
		.report_part = 100 };

	(void)state;
	now = SEC;
	d = disp_new(&o, now);
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	forget();
	disp_free(&d);
	return 0;
}

/* W1, R1 and a running pass of `count` elements; leaves the ASSIGN in sent. */
static inline uint64_t
begin(const char *job, uint64_t count)
{
	struct msg *m;

	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	open_job(R1, job, "range", 1);
	m = got(W1, MSG_LIST);
	assert_non_null(m);
	assert_string_equal(m->list.spec, "range");
	units(W1, m->req, count);
	m = got(R1, MSG_JOB);
	assert_non_null(m);
	assert_int_equal(m->req, 7);
	return m->job.iteration;
}

#endif
