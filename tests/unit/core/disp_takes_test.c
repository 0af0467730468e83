/* SPDX-License-Identifier: MIT
 *
 * Which streams are told that a reader is gone: those of which it had chunks.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static void
takes(uint64_t worker, struct stream_key key, uint64_t seat, uint32_t view)
{
	struct msg_take t = { key, seat, view };

	say(worker, (struct msg){ .type = MSG_TAKES, .req = 9, .takes.list = { &t, 1 } });
}

static struct stream_key
running(uint64_t iteration, uint32_t stream)
{
	struct stream_key key = { iteration, stream, 1 };

	say(W1, (struct msg){ .type = MSG_ASSIGNED, .assigned.key = key });
	return key;
}

static size_t
n_got(enum msg_type t)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		n += sent[i].m.type == t;
	return n;
}

static void
dies(uint64_t peer)
{
	forget();
	disp_peer_gone(d, now, peer);
	collect();
}

static void
only_streams_of_which_a_reader_had_chunks_are_told_that_it_is_gone(void **state)
{
	uint64_t it = begin("job", 100000);
	struct stream_key key;

	(void)state;
	wait_for(300 * MS); /* it is worth a stream on every slot */
	running(it, 0);
	key = running(it, 1);
	takes(W1, key, 1, 0);
	assert_int_equal(got(W1, MSG_TAKES_OK)->req, 9);
	assert_null(got(W1, MSG_READER_GONE));
	dies(R1);
	assert_int_equal(n_got(MSG_READER_GONE), 1);
	assert_int_equal(got(W1, MSG_READER_GONE)->reader_gone.key.stream, 1);
	wait_for(2500 * MS);
	assert_int_equal(n_got(MSG_READER_GONE), 1); /* said again, until it is answered */
	say(W1, (struct msg){ .type = MSG_GONE_OK, .gone_ok = { .key = key, .seat = 1 } });
	wait_for(1 * SEC);
	assert_null(got(W1, MSG_READER_GONE));
}

static void
a_worker_that_tells_of_a_reader_that_is_gone_hears_so(void **state)
{
	struct stream_key key = running(begin("job", 100000), 0);

	(void)state;
	dies(R1);
	assert_null(got(W1, MSG_READER_GONE));
	takes(W1, key, 1, 0);
	assert_non_null(got(W1, MSG_TAKES_OK));
	assert_int_equal(got(W1, MSG_READER_GONE)->reader_gone.seat, 1);
}

static void
what_a_worker_tells_of_streams_that_are_not_its_own_is_nothing(void **state)
{
	uint64_t it = begin("job", 100000);
	struct stream_key key = running(it, 0);

	(void)state;
	hello(W2, ROLE_WORKER);
	takes(W2, key, 99, 0);
	takes(W1, (struct stream_key){ it, 0, 7 }, 99, 0);
	takes(W1, (struct stream_key){ it, 77, 1 }, 99, 0);
	takes(W1, key, 99, 5);
	assert_non_null(got(W1, MSG_TAKES_OK));
	assert_null(got(W1, MSG_READER_GONE));
	dies(R1);
	assert_null(got(W1, MSG_READER_GONE));
}
