/* SPDX-License-Identifier: MIT
 *
 * The dispatcher with 10 000 workers and a million splits: how many decisions
 * it makes in a second of its processor, and what a worker costs. Prints figures; fails only if
 * answers are missing, or it is slower than anything could explain.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "core/disp/dispatcher.h"

enum { WORKERS = 10000, SPLITS = 1000000, READER = 7, READERS = 20, FIRST_READER = 1000000, JOBS = 100000,
	MANY_READERS = 200, MANY_FIRST = 2000000 };

struct slot { uint64_t peer; struct stream_key key; uint64_t k; };
static struct slot *slots;
static size_t n_slots, n_splits, n_rows, row_bytes, n_out, n_streams, n_told;
static uint64_t seats[READERS], iteration;
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
		else if (m.type == MSG_JOB && peer >= FIRST_READER && peer < MANY_FIRST)
			seats[peer - FIRST_READER] = m.job.seat, iteration = m.job.iteration;
		else if (m.type == MSG_STREAMS)
			n_streams++, n_told += m.streams.list.n;
		n_out++;
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
		.job.epoch = 1, .job.name = mem_strdup("scale") } };
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

/* Processor time: others on the machine do not count. */
static int64_t
scale_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double
scale_seconds(int64_t since)
{
	return (double)(scale_clock() - since) / 1e9;
}

/* The first reader has had a chunk of each of a hundred streams. */
static void
scale_takes(struct disp *d)
{
	for (size_t i = 0; i < 100 && i < n_slots; i++) {
		struct msg m = { .type = MSG_TAKES };

		m.takes.list.v = mem_array(1, sizeof *m.takes.list.v);
		m.takes.list.v[m.takes.list.n++] = (struct msg_take){ slots[i].key, seats[0], 0 };
		disp_message(d, now, slots[i].peer, &m);
		msg_clear(&m);
	}
	scale_take(d);
}

static void
scale_join(struct disp *d, uint64_t reader)
{
	struct msg m = { .type = MSG_OPEN, .req = 1, .open = { .spec = mem_strdup("counter"),
		.job = { .sharding = SHARD_DYNAMIC, .epoch = 1, .name = mem_strdup("scale") } } };

	scale_hello(d, reader, ROLE_READER);
	disp_message(d, now, reader, &m);
	msg_clear(&m);
	scale_take(d);
}

/* Workers begin with their streams one after the other, in a second, and many readers are told where they are: in
 * few messages, and each of every stream. */
static bool
scale_news(struct disp *d)
{
	size_t messages;
	int64_t t;

	for (uint64_t i = 0; i < MANY_READERS; i++)
		scale_join(d, MANY_FIRST + i);
	n_streams = n_told = 0;
	t = scale_clock();
	for (size_t i = 0; i < n_slots; i++) {
		struct msg m = { .type = MSG_ASSIGNED, .assigned.key = slots[i].key };

		disp_message(d, now += 1000000000 / WORKERS, slots[i].peer, &m);
		scale_take(d);
	}
	messages = n_streams;
	disp_tick(d, now += 1000000000);
	scale_take(d);
	printf("# %d readers hear of %zu streams in %zu messages, %.2f s\n", MANY_READERS + READERS, n_slots, messages,
	       scale_seconds(t));
	return n_told >= n_slots * MANY_READERS && messages < n_slots * 10;
}

/* More readers of the job; each acknowledges something of a hundred streams, and one leaves:
 * only those streams hear of it. */
static bool
scale_readers(struct disp *d)
{
	int64_t t = scale_clock();
	struct range one = { 0, 1 };
	size_t rows, out;

	for (uint64_t i = 0; i < READERS; i++)
		scale_join(d, FIRST_READER + i);
	printf("# a reader of %zu streams joins in %.0f ms; ", n_slots, scale_seconds(t) * 1000 / READERS);
	t = scale_clock();
	for (uint64_t n = 0; n < READERS * 50; n++) {
		struct msg m = { .type = MSG_ACK, .ack = { .iteration = iteration, .seat = seats[n % READERS],
			.seq = n / READERS + 1 } };

		one = (struct range){ n, n + 1 };
		m.ack.list.v = mem_array(100, sizeof *m.ack.list.v);
		for (uint32_t k = 0; k < 100; k++)
			m.ack.list.v[m.ack.list.n++] = (struct msg_stream_ranges){ k, { mem_dup(&one, sizeof one), 1 } };
		disp_message(d, now, FIRST_READER + n % READERS, &m);
		msg_clear(&m);
		if (n % 64 == 63)
			scale_take(d);
	}
	scale_take(d);
	printf("%.0f ACKs a second, of a hundred streams each; ", READERS * 50 / scale_seconds(t));
	scale_takes(d);
	t = scale_clock();
	rows = n_rows, out = n_out;
	struct msg m = { .type = MSG_CLOSE, .close = { .iteration = iteration, .seat = seats[0], .seq = 51 } };
	disp_message(d, now, FIRST_READER, &m);
	scale_take(d);
	printf("one leaves in %.0f ms with %zu messages and %zu rows\n", scale_seconds(t) * 1000, n_out - out, n_rows - rows);
	return iteration && seats[READERS - 1] && n_out - out < 200 && n_rows - rows < 200;
}

/* Jobs that are over: what they cost until they are forgotten. */
static bool
scale_finished(void)
{
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true, .spec_id = scale_id };
	struct disp *d = disp_new(&o, now);
	size_t before = mallinfo2().uordblks;
	struct buf all = { 0 }, brief = { 0 };
	int64_t t = scale_clock();
	double make, whole, less, last;
	uint64_t peer;
	struct msg m;

	scale_hello(d, 5, ROLE_WORKER);
	scale_hello(d, READER, ROLE_READER);
	scale_take(d);
	for (int i = 0; i < JOBS; i++) {
		struct msg close = { .type = MSG_CLOSE }, open = { .type = MSG_OPEN, .open = { .spec = mem_strdup("range 0"),
			.job = { .sharding = SHARD_DYNAMIC, .epoch = 1, .name = mem_printf("job-%d", i) } } };
		struct msg units = { .type = MSG_UNITS, .units = { .listing = (uint64_t)i + 1, .last = true, .times = 1 } };

		disp_message(d, now, READER, &open);
		msg_clear(&open);
		for (bool asked = true; asked;) {
			disp_changes(d, scale_row, NULL);
			asked = false;
			while (disp_outbox(d, &peer, &m)) {
				asked |= m.type == MSG_LIST || m.type == MSG_JOB;
				units.req = m.req;
				if (m.type == MSG_LIST)
					disp_message(d, now, peer, &units);
				else if (m.type == MSG_JOB)
					close.close.iteration = m.job.iteration, close.close.seat = m.job.seat;
				msg_clear(&m);
			}
		}
		disp_message(d, now, READER, &close);
		scale_take(d);
	}
	make = scale_seconds(t);
	size_t after = mallinfo2().uordblks;
	t = scale_clock();
	disp_status(d, now, REPORT_ALL, "", &all);
	whole = scale_seconds(t);
	t = scale_clock();
	disp_status(d, now, REPORT_BRIEF, "", &brief);
	less = scale_seconds(t);
	scale_hello(d, 6, ROLE_TOOL);
	scale_take(d);
	t = scale_clock();
	struct msg ask = { .type = MSG_STATUS, .status.recent = 20 };
	disp_message(d, now, 6, &ask);
	last = scale_seconds(t);
	scale_take(d);
	printf("# %d finished jobs: %.0f a second, %.1f MiB; status %.0f ms, %.1f MiB; brief %.0f ms; "
	       "the last 20 %.2f ms\n", JOBS, JOBS / make,
	       (double)(after - before) / 1048576, whole * 1000, (double)all.len / 1048576, less * 1000, last * 1000);
	bool ok = all.len > JOBS && last < 0.05 && after - before < ((size_t)72 << 20);
	buf_clear(&all);
	buf_clear(&brief);
	disp_free(&d);
	return ok;
}

int
main(void)
{
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true, .spec_id = scale_id };
	struct disp *d = disp_new(&o, now);
	int64_t t = scale_clock();
	size_t before = mallinfo2().uordblks, after;
	double join, start, give, beat;
	bool ok;

	slots = mem_array(WORKERS * 2, sizeof *slots);
	for (uint64_t i = 0; i < WORKERS; i++)
		scale_hello(d, 100 + i, ROLE_WORKER);
	scale_take(d);
	join = scale_seconds(t);
	after = mallinfo2().uordblks;
	t = scale_clock();
	scale_hello(d, READER, ROLE_READER);
	scale_open(d);
	start = scale_seconds(t);
	t = scale_clock();
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
	t = scale_clock();
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
	ok = scale_readers(d) && scale_news(d) && scale_finished() && ok;
	printf("1..1\n%s 1 - %d workers, %d splits\n", ok ? "ok" : "not ok", WORKERS, SPLITS);
	disp_free(&d);
	mem_free(slots);
	return !ok;
}
