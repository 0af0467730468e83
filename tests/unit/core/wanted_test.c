/* SPDX-License-Identifier: MIT */
#include "core/wanted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>

#include <cmocka.h>

#define SEC 1000000000ll

/* The mean rate of workers that take so long for an element, and what readers that ask
 * so often demand: how tf.data states its own cases. */
static uint64_t
model(const double *make_s, size_t n_make, const double *take_s, size_t n_take)
{
	struct wanted_job job = { .most = UINT64_MAX };

	for (size_t i = 0; i < n_make; i++)
		job.rate += 1 / make_s[i] / (double)n_make;
	for (size_t i = 0; i < n_take; i++)
		job.demand += 1 / take_s[i];
	return wanted_number(wanted_slots(&job, 1, 10000, 1), 1);
}

static void
the_numeric_cases_of_the_model_system(void **state)
{
	(void)state;
	assert_int_equal(model((double[]){ 0.2 }, 1, (double[]){ 0.025 }, 1), 8);
	assert_int_equal(model((double[]){ 0.2, 0.15 }, 2, (double[]){ 0.025, 0.05 }, 2), 11);
	assert_int_equal(model((double[]){ 0.1, 0.2 }, 2, (double[]){ 0.01, 0.02 }, 2), 20);
	/* Here it replaces outliers by the median first. */
	assert_int_equal(model((double[]){ 0.08 }, 1, (double[]){ 2e-3, 3e-3, 2e-3 }, 3), 107);
	assert_int_equal(model((double[]){ 0.08, 0.07, 0.07 }, 3, (double[]){ 3e-4 }, 1), 244);
}

static void
the_bounds_of_the_model_system(void **state)
{
	static const struct { double estimate; uint64_t slots, wants; } cases[] = {
		{ 50, 15, 50 }, { 10, 2, 8 }, { 10000, 1000, 1500 }, { 200000, 99700, 100000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct wanted_job job = { cases[i].estimate, 1, UINT64_MAX };

		assert_int_equal(wanted_number(wanted_slots(&job, 1, cases[i].slots, 1), 1), cases[i].wants);
	}
}

static void
jobs_share_slots_so_their_needs_are_added_up(void **state)
{
	struct wanted_job jobs[] = { { 30, 10, 100 }, { 50, 10, 100 } };

	(void)state;
	assert_int_equal(wanted_number(wanted_slots(jobs, 2, 100, 1), 1), 8);
	assert_int_equal(wanted_number(wanted_slots(jobs, 2, 100, 0.8), 1), 10);
	assert_int_equal(wanted_number(wanted_slots(jobs, 2, 100, 1), 4), 2);
}

static void
never_more_than_there_is_work_for(void **state)
{
	struct wanted_job three = { 1e6, 1, 3 };

	(void)state;
	assert_int_equal(wanted_number(wanted_slots(&three, 1, 100, 0.5), 1), 3);
}

static void
somebody_who_reads_wants_one_and_nobody_none(void **state)
{
	struct wanted_job fresh = { 0, 0, 7 }, idle = { 1e-9, 1e3, 7 };

	(void)state;
	assert_int_equal(wanted_number(wanted_slots(NULL, 0, 8, 1), 1), 0);
	assert_int_equal(wanted_number(wanted_slots(&fresh, 1, 8, 1), 1), 1);
	assert_int_equal(wanted_number(wanted_slots(&fresh, 1, 0, 1), 1), 1);
	assert_int_equal(wanted_number(wanted_slots(&idle, 1, 8, 1), 1), 1);
}

/* A service of `slots`, each of which makes `rate` a second, and a reader that could take
 * `demand`, for `seconds`; reports come about each second, not quite regularly. */
static void
serve(struct wanted_clock *c, int64_t *now, int seconds, double slots, double rate, double demand)
{
	for (int i = 0; i < seconds; i++) {
		int64_t ns = SEC + (i % 3 - 1) * SEC / 50;
		double can = slots * rate, gets = can < demand ? can : demand, s = (double)ns / 1e9;

		*now += ns;
		c->now.elements += (uint64_t)(gets * s);
		c->now.read_wait += (uint64_t)((double)ns * (1 - gets / demand));
		c->now.read_work += (uint64_t)((double)ns * (gets / demand));
		c->now.slot_work += (uint64_t)((double)ns * gets / rate);
		c->now.slot_wait += (uint64_t)((double)ns * (slots - gets / rate));
		wanted_tick(c, *now);
	}
}

static double
wanted_now(const struct wanted_clock *c, uint64_t slots)
{
	struct wanted_job job = { wanted_demand(c), wanted_rate(c), UINT64_MAX };

	return wanted_slots(&job, 1, slots, 1);
}

static void
ten_reports_give_the_number_also_when_too_few_slots_are_there(void **state)
{
	(void)state;
	for (double slots = 1; slots <= 40; slots++) {
		struct wanted_clock c = { 0 };
		int64_t now = SEC;

		serve(&c, &now, 11, slots, 1000, 4000);
		assert_true(fabs(wanted_now(&c, (uint64_t)slots) - 4) < 1);
	}
}

static void
the_number_follows_a_step_within_fifteen_seconds_and_does_not_overshoot(void **state)
{
	struct wanted_clock c = { 0 };
	int64_t now = SEC;

	(void)state;
	serve(&c, &now, 30, 5, 1000, 4000);
	for (int i = 0; i < 15; i++) {
		serve(&c, &now, 1, 5, 1000, 16000);
		assert_true(wanted_now(&c, 5) < 17);
	}
	assert_true(fabs(wanted_now(&c, 5) - 16) < 1);
	/* Slots that have come since change neither what is wanted nor what one makes. */
	serve(&c, &now, 15, 16, 1000, 16000);
	assert_true(fabs(wanted_now(&c, 16) - 16) < 1);
	serve(&c, &now, 15, 16, 1000, 2500);
	assert_true(fabs(wanted_now(&c, 16) - 2.5) < 1);
}

static void
a_second_without_elements_is_no_sample(void **state)
{
	struct wanted_clock c = { 0 };
	int64_t now = SEC;

	(void)state;
	for (int i = 0; i < 4; i++) { /* two slots, each of which makes an element in four seconds */
		serve(&c, &now, 1, 2, 0.25, 10);
		c.now.elements++;
		serve(&c, &now, 1, 2, 0.25, 10);
	}
	assert_int_equal(c.n, 4);
	assert_true(fabs(wanted_rate(&c) - 0.25) < 0.1);
	assert_true(wanted_demand(&c) > 4); /* it waits for nearly all of its time */
}

static void
what_is_wanted_grows_in_steps(void **state)
{
	(void)state;
	assert_int_equal(wanted_step(0), 1);
	assert_int_equal(wanted_step(3), 12);
	assert_int_equal(wanted_step(1000), 1500);
	assert_int_equal(wanted_step(UINT64_MAX), WANTED_MOST);
}
