/* SPDX-License-Identifier: MIT */
#include "core/contact.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Says HELLO until it is given up; how many times. */
static int
silence(struct contact *c, int64_t until, struct err *e)
{
	int said = 0;

	for (int64_t now = 0; now <= until; now += 100000000)
		for (enum contact_event what; (what = contact_tick(c, now, e)) != CONTACT_NONE;) {
			if (what == CONTACT_LOST)
				return said;
			said += what == CONTACT_HELLO;
		}
	return -1;
}

static void
what_never_answers_is_told_with_its_address_and_where_that_came_from(void **state)
{
	struct contact c;
	struct err e = { 0 };

	(void)state;
	contact_init(&c, 0, 0, "tcp://h:5 (from DSVC_DISPATCHER)");
	assert_int_equal(silence(&c, CONTACT_FIRST_NS - 100000000, &e), -1);
	contact_init(&c, 0, 0, "tcp://h:5 (from DSVC_DISPATCHER)");
	assert_true(silence(&c, CONTACT_FIRST_NS, &e) > 5);
	assert_int_equal(e.kind, ST_UNAVAIL);
	assert_string_equal(e.text,
			    "no dispatcher at tcp://h:5 (from DSVC_DISPATCHER): no answer within 10 s");
	contact_init(&c, 0, 0, NULL);
	assert_true(silence(&c, CONTACT_FIRST_NS, &e) > 5);
	assert_string_equal(e.text, "no dispatcher: no answer within 10 s");
}

static void
one_with_state_is_waited_for_as_long_as_was_asked(void **state)
{
	struct msg_welcome w = { .instance = 1, .durable = true, .beat_ms = 1000, .loss_ms = 5000 };
	struct contact c;
	struct err e = { 0 };

	(void)state;
	contact_init(&c, 0, 30000000000, NULL);
	contact_welcome(&c, 0, &w);
	contact_gone(&c, 0);
	assert_int_equal(silence(&c, 29000000000, &e), -1);
	contact_gone(&c, 0);
	assert_true(silence(&c, 31000000000, &e) >= 0);
	assert_int_equal(e.kind, ST_TEMP);
}

static void
time_in_which_the_program_stood_still_is_not_silence(void **state)
{
	struct msg_welcome w = { .instance = 1, .beat_ms = 1000, .loss_ms = 5000 };
	struct contact c;
	struct err e = { 0 };

	(void)state;
	contact_init(&c, 0, 0, NULL);
	assert_int_equal(contact_tick(&c, 0, &e), CONTACT_HELLO);
	contact_welcome(&c, 0, &w);
	/* stopped for a minute: says BEAT, and has as long as ever to hear */
	assert_int_equal(contact_tick(&c, 60000000000, &e), CONTACT_BEAT);
	assert_int_equal(contact_tick(&c, 61000000000, &e), CONTACT_BEAT);
	/* the answer may come before the timer */
	contact_heard(&c, 90000000000);
	assert_int_equal(contact_tick(&c, 90000000000, &e), CONTACT_BEAT);
	/* and one that hears nothing though it listens gives up all the same */
	int64_t now = 90000000000;
	enum contact_event what = CONTACT_NONE;
	while (what != CONTACT_LOST && now < 120000000000) {
		now = contact_deadline(&c);
		what = contact_tick(&c, now, &e);
	}
	assert_int_equal(now, 95000000000);
	assert_int_equal(e.kind, ST_TEMP);
}

static void
a_stop_while_saying_hello_is_not_counted_either(void **state)
{
	struct msg_welcome w = { .instance = 1, .beat_ms = 1000, .loss_ms = 5000 };
	struct contact c;
	struct err e = { 0 };

	(void)state;
	contact_init(&c, 0, 0, NULL);
	assert_int_equal(contact_tick(&c, 0, &e), CONTACT_HELLO);
	contact_welcome(&c, 0, &w);
	contact_who(&c, 500000000);
	assert_int_equal(contact_tick(&c, 500000000, &e), CONTACT_HELLO);
	assert_int_equal(contact_tick(&c, 50000000000, &e), CONTACT_HELLO);
	assert_int_equal(contact_welcome(&c, 50000000000, &w), CONTACT_SAME);
}
