/* SPDX-License-Identifier: MIT
 *
 * A reader whose workers cannot be reached says so, and ends when the dispatcher knows no other.
 */
#include "reader_kit.h"

#define EACH_TEARDOWN teardown

/* So long nothing happens, but for the dispatcher's beats. */
static bool
said_within(int64_t ns)
{
	for (int64_t end = now + ns; now < end;) {
		now += 500 * MS;
		told((struct msg){ .type = MSG_BEAT });
		reader_tick(r, now);
		collect();
		if (act(READER_UNREACHED, 0))
			return true;
	}
	return false;
}

static void
a_worker_without_a_connection_is_told_after_five_seconds_and_again(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	assert_false(said_within(4 * SEC));
	assert_true(said_within(3 * SEC));
	assert_int_equal(act(READER_UNREACHED, 0)->worker, WORKER);
	reader_unreached(r, now, WORKER, "no way");
	collect();
	const struct msg *m = &act(READER_TELL, MSG_UNREACHED)->msg;
	assert_int_equal(m->unreached.worker, WORKER);
	assert_true(m->unreached.down_ms >= 5000);
	assert_string_equal(m->unreached.why, "no way");
	assert_true(said_within(4 * SEC));
	told((struct msg){ .type = MSG_GONE, .gone = { .iteration = 7, .seat = 3, .code = ST_UNAVAIL,
		.text = (char *)(uintptr_t)"none" } });
	assert_int_equal(act(READER_DONE, 0)->code, ST_UNAVAIL);
	assert_string_equal(act(READER_DONE, 0)->err->text, "none");
}

static void
a_worker_with_a_connection_is_not_however_slow_it_is(void **state)
{
	(void)state;
	begin((struct reader_opts){ 0 }, 1);
	streams(1, 1, STREAM_RUNNING, 0);
	for (int i = 0; i < 5; i++) {
		reader_worker_up(r, now, WORKER);
		assert_false(said_within(4 * SEC)); /* within it is called anew, because it is silent */
	}
	reader_worker_up(r, now, WORKER);
	reader_worker_gone(r, now, WORKER);
	collect();
	assert_false(said_within(4 * SEC));
	assert_true(said_within(3 * SEC));
	reader_worker_up(r, now, WORKER); /* meanwhile */
	assert_false(reader_unreached(r, now, WORKER, "no way"));
	collect();
	assert_null(act(READER_TELL, MSG_UNREACHED));
}
