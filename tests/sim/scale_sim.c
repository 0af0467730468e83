/* SPDX-License-Identifier: MIT
 *
 * The dispatcher with 10 000 workers and a million splits: how many decisions
 * it makes in a second, and what a worker costs. Prints figures; fails only if
 * answers are missing, or it is slower than anything could explain.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/disp/dispatcher.h"

enum { WORKERS = 10000, SPLITS = 1000000, READER = 7 };

struct slot { uint64_t peer; struct stream_key key; uint64_t k; };
static struct slot *slots;
static size_t n_slots, n_splits, n_rows, row_bytes;
static int64_t now = 1000000000;

static void
scale_id(const char *spec, size_t n, char *out, size_t size)
{
	(void)spec;
	snprintf(out, size, "%zu", n);
}

static void
scale_row(void *arg, const struct disp_row *row)
{
	(void)arg;
	n_rows++;
	row_bytes += row->n;
}

/* Sends on what comes out: ASSIGN is remembered, SPLIT counted. */
static void
scale_take(struct disp *d)
{
	uint64_t peer;
	struct msg m;

	disp_changes(d, scale_row, NULL);
	while (disp_outbox(d, &peer, &m)) {
		if (m.type == MSG_ASSIGN)
			slots[n_slots++] = (struct slot){ peer, m.assign.key, 0 };
		else if (m.type == MSG_SPLIT)
			n_splits += m.split.splits.n;
		msg_clear(&m);
	}
}

static void
scale_hello(struct disp *d, uint64_t peer, enum wire_role role)
{
	struct msg m = { .type = MSG_HELLO, .hello = { .version = WIRE_VERSION, .role = role, .peer = peer, .slots = 1 } };

	m.hello.name = mem_printf("worker-%llu", (unsigned long long)peer);
	m.hello.endpoint = mem_printf("tcp://10.0.0.1:%llu", (unsigned long long)peer);
	disp_message(d, now, peer, &m);
	msg_clear(&m);
}

static void
scale_open(struct disp *d)
{
	struct split all = { .kind = SPLIT_RANGE, .cuttable = true, .count = INT64_MAX, .times = 1 };
	struct msg m = { .type = MSG_OPEN, .open = { .spec = mem_strdup("counter"), .job.sharding = SHARD_DYNAMIC,
		.job.epoch = 1 } };
	struct msg units = { .type = MSG_UNITS, .units = { .listing = 1, .last = true, .times = 1 } };
	uint64_t peer, lister = 0;

	disp_message(d, now, READER, &m);
	msg_clear(&m);
	while (disp_outbox(d, &peer, &m)) {
		if (m.type == MSG_LIST) {
			lister = peer;
			units.req = m.req;
		}
		msg_clear(&m);
	}
	split_list_add(&units.units.units, &all);
	disp_message(d, now, lister, &units);
	msg_clear(&units);
	scale_take(d);
}

static double
scale_seconds(int64_t since)
{
	return (double)(clock_mono_ns() - since) / 1e9;
}

int
main(void)
{
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true, .spec_id = scale_id };
	struct disp *d = disp_new(&o, now);
	int64_t t = clock_mono_ns();
	size_t before = mallinfo2().uordblks, after;
	double join, start, give, beat;
	bool ok;

	slots = mem_array(WORKERS * 2, sizeof *slots);
	for (uint64_t i = 0; i < WORKERS; i++)
		scale_hello(d, 100 + i, ROLE_WORKER);
	scale_take(d);
	join = scale_seconds(t);
	after = mallinfo2().uordblks;
	t = clock_mono_ns();
	scale_hello(d, READER, ROLE_READER);
	scale_open(d);
	start = scale_seconds(t);
	t = clock_mono_ns();
	n_rows = row_bytes = 0;
	for (size_t n = 0; n < SPLITS && n_slots; n++) {
		struct slot *s = &slots[n % n_slots];
		struct msg m = { .type = MSG_SPLIT_REQ, .split_req = { s->key, s->k++, 1 } };

		disp_message(d, now, s->peer, &m);
		if (n % 64 == 63)
			scale_take(d); /* so many in one transaction */
	}
	scale_take(d);
	give = scale_seconds(t);
	t = clock_mono_ns();
	for (int round = 0; round < 10; round++)
		for (uint64_t i = 0; i < WORKERS; i++) {
			struct msg m = { .type = MSG_BEAT };

			disp_message(d, now += 1000, 100 + i, &m);
			if (i % 64 == 63)
				scale_take(d);
		}
	scale_take(d);
	beat = scale_seconds(t);
	ok = n_slots == WORKERS && n_splits == SPLITS && give < 60;
	printf("# %d workers: %.2f s to join, %.0f bytes each; %zu streams in %.2f s\n", WORKERS, join,
	       (double)(after - before) / WORKERS, n_slots, start);
	printf("# %zu splits: %.0f decisions a second with rows for a durable state (%zu rows, %.0f bytes each); "
	       "%.0f beats a second\n", n_splits, SPLITS / give, n_rows, (double)row_bytes / (double)(n_rows ? n_rows : 1),
	       10.0 * WORKERS / beat);
	printf("1..1\n%s 1 - %d workers, %d splits\n", ok ? "ok" : "not ok", WORKERS, SPLITS);
	disp_free(&d);
	mem_free(slots);
	return !ok;
}
