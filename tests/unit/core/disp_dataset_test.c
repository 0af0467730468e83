/* SPDX-License-Identifier: MIT
 *
 * Which datasets are kept, and for how long.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

#define DAY (86400 * SEC)

static void
add(const char *id, const char *spec)
{
	say(T1, (struct msg){ .type = MSG_REGISTER, .req = 2, .reg = { .id = text(id), .spec = text(spec),
		.type = text("int") } });
}

static bool
there(const char *id)
{
	say(T1, (struct msg){ .type = MSG_GET, .req = 3, .get.id = text(id) });
	return got(T1, MSG_DATASET) != NULL;
}

/* The tool is there at the end of the time, as another one would be. */
static void
later(int64_t ns)
{
	wait_for(ns);
	hello(T1, ROLE_TOOL);
}

static void
one_without_a_name_is_forgotten_when_nobody_uses_it(void **state)
{
	(void)state;
	hello(T1, ROLE_TOOL);
	add("", "a");
	add("", "b");
	add("mine", "c");
	later(4 * DAY);
	assert_true(there("id-b")); /* its time begins anew */
	later(4 * DAY);
	assert_false(there("id-a"));
	assert_true(there("id-b"));
	assert_true(there("mine"));
	later(4 * DAY);
	add("", "b"); /* so it does when it is registered again */
	later(4 * DAY);
	assert_true(there("id-b"));
	later(8 * DAY);
	assert_false(there("id-b"));
	assert_true(there("mine"));
}

static void
nor_while_a_job_has_it(void **state)
{
	(void)state;
	hello(T1, ROLE_TOOL);
	add("", "range");
	begin("job", 1000);
	for (int day = 0; day < 9; day++) { /* alive, each of them */
		for (int64_t s = 0; s < DAY / SEC; s += 4) {
			now += 4 * SEC;
			say(R1, (struct msg){ .type = MSG_BEAT });
			say(W1, (struct msg){ .type = MSG_BEAT });
			disp_tick(d, now);
		}
	}
	hello(T1, ROLE_TOOL);
	assert_true(there("id-range"));
	say(R1, (struct msg){ .type = MSG_BYE });
	later(6 * DAY); /* and a minute after which the job is collected */
	assert_true(there("id-range"));
	later(8 * DAY);
	assert_false(there("id-range"));
}

static void
too_many_push_out_those_not_used_for_longest(void **state)
{
	struct disp_opts o = { .instance = 5, .seed = 3, .spec_id = spec_id, .datasets_max = 4 };
	char spec[16];

	teardown(state);
	d = disp_new(&o, now);
	hello(T1, ROLE_TOOL);
	add("mine", "m");
	for (int i = 0; i < 3; i++) {
		snprintf(spec, sizeof spec, "s%d", i);
		add("", spec);
	}
	assert_true(there("id-s0")); /* used last now */
	add("", "more");
	assert_false(there("id-s1"));
	assert_true(there("id-s0") && there("id-s2") && there("id-more") && there("mine"));
	add("second", "n");
	add("third", "o");
	add("fourth", "p");
	assert_non_null(got(T1, MSG_DATASET));
	add("fifth", "q");
	assert_int_equal(got(T1, MSG_ERROR)->error.code, ST_TEMP);
	assert_true(there("mine") && there("fourth"));
}

static void
what_an_open_brought_goes_when_it_is_refused(void **state)
{
	(void)state;
	begin("job", 1000);
	hello(R2, ROLE_READER);
	open_job(R2, "job", "other", 1);
	assert_int_equal(got(R2, MSG_ERROR)->error.code, ST_USAGE);
	hello(T1, ROLE_TOOL);
	assert_false(there("id-other"));
	assert_true(there("id-range"));
}
