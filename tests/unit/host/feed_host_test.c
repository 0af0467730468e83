/* SPDX-License-Identifier: MIT
 *
 * The loop of dsvc-feed, with a core that leaves at the worst moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/feed/feed_host.h"
#include "lang/spec.h"
#include "wire/feed_msg.h"

enum { HANG_S = 60 };

/* A core whose only connection is `fd`, and the thread in which it speaks before it leaves. */
struct guest {
	int fd;
	pthread_t thread;
	uint8_t have[4096];
	size_t n;
	unsigned said;
};

static void
guest_send(const struct guest *g, struct feed_msg *m)
{
	struct buf b = { 0 };

	feed_msg_encode(m, &b);
	assert_int_equal(write(g->fd, b.data, b.len), b.len);
	buf_clear(&b);
}

static void
guest_ready(const struct guest *g, uint64_t done, uint64_t wanted)
{
	struct feed_msg m = { .type = FEED_READY };

	m.ready = (struct feed_ready){ .given = done, .done = done, .wanted = wanted };
	guest_send(g, &m);
}

/* Reads messages up to the first of that type. */
static void
guest_await(struct guest *g, enum feed_msg_type type)
{
	uint8_t *have = g->have;
	size_t n = g->n, size;
	struct feed_msg m = { 0 };
	struct err e;

	for (;;) {
		while (n < 4 || feed_msg_size(have, n, &size, &e) != ST_OK || !size || size > n) {
			ssize_t got = read(g->fd, have + n, sizeof g->have - n);

			assert_true(got > 0);
			n += (size_t)got;
		}
		assert_int_equal(feed_msg_decode(have + 4, size - 4, &m, &e), ST_OK);
		bool found = m.type == type;
		feed_msg_clear(&m);
		memmove(have, have + size, g->n = n -= size);
		if (found)
			return;
	}
}

static void *
guest_begins(void *arg)
{
	struct guest *g = arg;
	struct feed_msg m = { .type = FEED_JOIN };

	m.join = (struct feed_join){ .version = FEED_VERSION, .pid = (uint32_t)getpid() };
	guest_send(g, &m);
	guest_await(g, FEED_WELCOME);
	guest_ready(g, 0, 2);
	guest_await(g, FEED_BATCH);
	guest_ready(g, 1, 3);
	return NULL;
}

/* The feed hears that the first step is done, and is about to tell of the third: the core leaves just now. */
static void
guest_leaves(void *arg, uint64_t step, uint64_t rows)
{
	struct guest *g = arg;
	struct feed_msg m = { .type = FEED_BYE };

	(void)rows;
	if (step != 1 || g->fd < 0)
		return;
	pthread_join(g->thread, NULL);
	m.bye.done = 1;
	guest_send(g, &m);
	close(g->fd);
	g->fd = -1;
}

static void
guest_hears(void *arg, const char *text)
{
	struct guest *g = arg;

	(void)text;
	g->said++;
}

static void
a_core_that_leaves_while_it_is_written_to_ends_the_feed(void **state)
{
	struct spec_src src = { .text = "range 7", .len = 7 };
	struct plan *plan = NULL;
	struct guest g = { 0 };
	struct feed_host_conf c = { .steps = UINT64_MAX, .until = UINT64_MAX, .each = UINT64_MAX, .hosts = 1, .epoch = 1,
		.stop_fd = -1, .tail_word = "pad", .done = guest_leaves, .say = guest_hears, .arg = &g };
	struct feed_host_end end = { 0 };
	struct err e = { 0 };
	int pair[2];
	char listen[24];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	alarm(HANG_S);
	assert_int_equal(plan_make(&src, &plan, &e), ST_OK);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	g.fd = pair[0];
	snprintf(listen, sizeof listen, "fd:%d", pair[1]);
	c.listen = listen;
	c.machine = (struct feed_conf){ .cores = 1, .prefetch = 2, .slots = 4, .rows = 1, .until = UINT64_MAX };
	c.fill = (struct feed_fill_conf){ .element = FEED_ROWS, .batch = 1, .cores = 1, .prefetch = 2, .epochs = 1,
		.hosts = 1, .slot_max = 1 << 20 };
	c.source.plan = plan;
	c.source.max_errors = UINT64_MAX;
	assert_int_equal(pthread_create(&g.thread, NULL, guest_begins, &g), 0);
	assert_int_equal(feed_host_run(&c, &end, &e), ST_OK);
	alarm(0);
	assert_int_equal(end.steps, 1);
	assert_int_equal(end.end.why, FEED_END_STOP);
	assert_int_equal(g.said, 0);
	assert_int_equal(g.fd, -1);
	plan_free(&plan);
}
