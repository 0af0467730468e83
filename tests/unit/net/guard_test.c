/* SPDX-License-Identifier: MIT
 *
 * Connections of this process with itself; the clock is made up.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "net/guard.h"

#define MS 1000000LL

struct pair { int far, near; };

static struct pair
pair_open(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof a;
	int l = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(l, (struct sockaddr *)&a, n), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (struct sockaddr *)&a, &n), 0);
	struct pair p = { .far = socket(AF_INET, SOCK_STREAM, 0) };
	assert_int_equal(connect(p.far, (struct sockaddr *)&a, n), 0);
	p.near = accept(l, NULL, NULL);
	assert_true(p.near >= 0);
	close(l);
	return p;
}

static void
pair_close(struct pair *p)
{
	close(p->far);
	close(p->near);
}

/* Sends n bytes through and takes them out, as libzmq does. */
static void
pair_push(struct pair *p, size_t n)
{
	static char bytes[65536];
	for (size_t left = n, part; left; left -= part) {
		part = left < sizeof bytes ? left : sizeof bytes;
		assert_int_equal(send(p->far, bytes, part, 0), part);
		assert_int_equal(recv(p->near, bytes, part, MSG_WAITALL), part);
	}
}

static bool
pair_cut(const struct pair *p)
{
	char byte;
	return recv(p->far, &byte, 1, MSG_DONTWAIT) == 0;
}

static void
the_oldest_silent_one_makes_room(void **state)
{
	struct guard g;
	struct pair p[4];
	(void)state;
	guard_init(&g);
	g.silent_max = 2;
	for (int i = 0; i < 4; i++)
		p[i] = pair_open();
	guard_opened(&g, p[0].near, 0);
	guard_took(&g, p[0].near, 10, 1); /* the oldest, but it has spoken */
	guard_opened(&g, p[1].near, 0);
	guard_opened(&g, p[2].near, 0);
	assert_true(g.deadline_ns > 0);
	guard_opened(&g, p[3].near, 0);
	assert_int_equal(g.deadline_ns, 0); /* at once */
	guard_tick(&g, 0);
	assert_false(pair_cut(&p[0]));
	assert_true(pair_cut(&p[1]));
	assert_false(pair_cut(&p[2]));
	assert_false(pair_cut(&p[3]));
	for (int i = 0; i < 4; i++) {
		guard_closed(&g, p[i].near);
		pair_close(&p[i]);
	}
	assert_int_equal(g.open, 0);
	assert_int_equal(g.silent, 0);
	assert_true(g.deadline_ns == INT64_MAX);
	guard_clear(&g);
}

static void
bytes_that_are_no_message_yet_are_bounded(void **state)
{
	struct guard g;
	struct pair p = pair_open();
	(void)state;
	guard_init(&g);
	guard_opened(&g, p.near, 0);
	guard_took(&g, p.near, 0, 1);
	pair_push(&p, GUARD_OWED - 100);
	guard_tick(&g, GUARD_EVERY_MS * MS);
	assert_false(pair_cut(&p));
	guard_took(&g, p.near, GUARD_OWED, 1); /* it was a large message, and now it is here */
	pair_push(&p, 200);
	guard_tick(&g, 2 * GUARD_EVERY_MS * MS);
	assert_false(pair_cut(&p));
	pair_push(&p, GUARD_OWED + 200);
	guard_tick(&g, 3 * GUARD_EVERY_MS * MS);
	assert_true(pair_cut(&p));
	guard_clear(&g);
	pair_close(&p);
}

static void
before_the_first_message_less_is_allowed(void **state)
{
	struct guard g;
	struct pair p = pair_open(), q = pair_open();
	(void)state;
	guard_init(&g);
	guard_opened(&g, p.near, 0);
	guard_opened(&g, q.near, 0);
	pair_push(&p, GUARD_FIRST);
	pair_push(&q, GUARD_FIRST + 1);
	guard_tick(&g, GUARD_EVERY_MS * MS);
	assert_false(pair_cut(&p));
	assert_true(pair_cut(&q));
	guard_clear(&g);
	pair_close(&p);
	pair_close(&q);
}

static void
all_together_are_bounded_and_the_one_with_most_goes(void **state)
{
	enum { N = GUARD_ALL / GUARD_OWED + 1 };
	struct guard g;
	struct pair p[N];
	(void)state;
	guard_init(&g);
	for (int i = 0; i < N; i++) {
		p[i] = pair_open();
		guard_opened(&g, p[i].near, 0);
		guard_took(&g, p[i].near, 0, 0);
		pair_push(&p[i], GUARD_OWED - (i == 2 ? 0 : 4096));
	}
	guard_tick(&g, GUARD_EVERY_MS * MS);
	for (int i = 0; i < N; i++) {
		assert_int_equal(pair_cut(&p[i]), i == 2);
		pair_close(&p[i]);
	}
	guard_clear(&g);
}

/* The descriptor was closed and used again before we were told. */
static void
another_connection_of_the_same_number_is_left_alone(void **state)
{
	struct guard g;
	struct pair p = pair_open(), q = pair_open();
	(void)state;
	guard_init(&g);
	guard_opened(&g, p.near, 0);
	assert_int_equal(dup2(q.near, p.near), p.near);
	assert_false(guard_cut(&g, p.near));
	assert_false(pair_cut(&q));
	guard_clear(&g);
	pair_close(&p);
	pair_close(&q);
}
