/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/track.h"

static uint64_t broke_last, gone_last;
static int broke_n, gone_n;

static void
on_broke(void *arg, uint64_t peer)
{
	(void)arg;
	broke_last = peer;
	broke_n++;
}

static void
on_gone(void *arg, uint64_t peer)
{
	(void)arg;
	gone_last = peer;
	gone_n++;
}

static void
start(struct track *t)
{
	broke_n = gone_n = 0;
	broke_last = gone_last = 0;
	track_init(t, 200, on_broke, on_gone, NULL);
}

static void
local_peer_is_gone_when_it_does_not_return(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_opened(&t, 5);
	track_seen(&t, 77, 5, true, 0);
	track_closed(&t, 5, 1000);
	assert_int_equal(broke_n, 1);
	assert_int_equal(t.deadline_ns, 1200);
	track_tick(&t, 1199);
	assert_int_equal(gone_n, 0);
	track_tick(&t, 1200);
	assert_int_equal(gone_n, 1);
	assert_int_equal(gone_last, 77);
	assert_null(track_find(&t, 77));
	assert_int_equal(t.deadline_ns, INT64_MAX);
	track_clear(&t);
}

static void
local_peer_that_returns_is_not_gone(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_opened(&t, 5);
	track_seen(&t, 77, 5, true, 0);
	track_closed(&t, 5, 1000);
	track_opened(&t, 5);
	track_seen(&t, 77, 5, true, 1100);
	track_tick(&t, 5000);
	assert_int_equal(broke_n, 1);
	assert_int_equal(gone_n, 0);
	track_clear(&t);
}

static void
remote_peer_is_forgotten_and_never_gone(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_opened(&t, 9);
	track_seen(&t, 3, 9, false, 0);
	track_closed(&t, 9, 10);
	track_tick(&t, 100000);
	assert_int_equal(broke_n, 1);
	assert_int_equal(gone_n, 0);
	assert_null(track_find(&t, 3));
	track_clear(&t);
}

static void
message_left_over_makes_nobody_alive(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_opened(&t, 5);
	track_closed(&t, 5, 10);
	track_seen(&t, 77, 5, true, 20);
	assert_null(track_find(&t, 77));
	track_seen(&t, 77, 4000, true, 20);
	track_seen(&t, 77, -1, true, 20);
	assert_null(track_find(&t, 77));
	track_clear(&t);
}

static void
descriptor_used_again_breaks_the_one_before(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_opened(&t, 5);
	track_seen(&t, 1, 5, true, 0);
	track_seen(&t, 2, 5, true, 0);
	assert_int_equal(broke_n, 1);
	assert_int_equal(broke_last, 1);
	track_closed(&t, 5, 10);
	assert_int_equal(broke_last, 2);
	track_clear(&t);
}

static void
new_connection_of_the_same_peer_breaks_its_old_one(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_opened(&t, 5);
	track_seen(&t, 1, 5, true, 0);
	track_opened(&t, 6);
	track_seen(&t, 1, 6, true, 0);
	assert_int_equal(broke_n, 1);
	track_closed(&t, 5, 10);
	assert_int_equal(broke_n, 1);
	track_tick(&t, 100000);
	assert_int_equal(gone_n, 0);
	track_clear(&t);
}

static void
kept_peer_stays_and_is_found_by_address(void **state)
{
	struct track t;
	(void)state;
	start(&t);
	track_keep(&t, 1, "ipc:///a", true);
	assert_ptr_equal(track_by_address(&t, "other spelling"), track_find(&t, 1));
	track_keep(&t, 2, "ipc:///b", true);
	assert_null(track_by_address(&t, "other spelling"));
	assert_int_equal(track_by_address(&t, "ipc:///b")->id, 2);
	track_opened(&t, 4);
	track_seen(&t, 2, 4, true, 0);
	track_closed(&t, 4, 10);
	track_tick(&t, 1000);
	assert_int_equal(gone_n, 1);
	assert_non_null(track_find(&t, 2));
	track_clear(&t);
}
