/* SPDX-License-Identifier: MIT
 *
 * A tool ends the service: at once, or when the workers have left.
 */
#include "core/disp/disp_inner.h"
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static const struct msg_ending *
end_said(uint32_t how)
{
	say(T1, (struct msg){ .type = MSG_END, .req = 5, .end.how = how });
	return &got(T1, MSG_ENDING)->ending;
}

static void
to_ask_ends_nothing(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(T1, ROLE_TOOL);
	const struct msg_ending *m = end_said(END_ASK);
	assert_true(m->how == END_ASK && m->workers == 1 && m->readers == 1);
	assert_null(got(W1, MSG_BYE));
	assert_false(disp_ends(d));
}

static void
now_is_now(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(T1, ROLE_TOOL);
	assert_int_equal(end_said(END_NOW)->how, END_NOW);
	assert_true(disp_ends(d));
}

static void
workers_are_told_to_leave_those_that_come_too_and_the_end_is_when_none_is_there(void **state)
{
	(void)state;
	hello(W1, ROLE_WORKER);
	hello(T1, ROLE_TOOL);
	assert_int_equal(end_said(END_DRAIN)->workers, 1);
	assert_true(got(W1, MSG_BYE)->bye.drain);
	assert_false(disp_ends(d));
	hello(W2, ROLE_WORKER);
	assert_true(got(W2, MSG_BYE)->bye.drain);
	/* Said again, nobody is told again; and it cannot be taken back. */
	assert_int_equal(end_said(END_ASK)->how, END_DRAIN);
	assert_int_equal(end_said(END_DRAIN)->workers, 2);
	assert_null(got(W1, MSG_BYE));
	say(W1, (struct msg){ .type = MSG_BYE, .req = 3, .bye.drain = true });
	assert_non_null(got(W1, MSG_BYE_OK));
	assert_false(disp_ends(d));
	disp_peer_gone(d, now, W2);
	assert_true(disp_ends(d));
}

static void
with_no_worker_there_is_nothing_to_wait_for_and_now_hastens(void **state)
{
	(void)state;
	hello(T1, ROLE_TOOL);
	end_said(END_DRAIN);
	assert_true(disp_ends(d));
	hello(W1, ROLE_WORKER);
	assert_false(disp_ends(d));
	end_said(END_NOW);
	assert_true(disp_ends(d));
}

static void
only_tools_end_a_service(void **state)
{
	(void)state;
	hello(R1, ROLE_READER);
	say(R1, (struct msg){ .type = MSG_END, .req = 5, .end.how = END_NOW });
	assert_null(got(R1, MSG_ENDING));
	assert_false(disp_ends(d));
}
