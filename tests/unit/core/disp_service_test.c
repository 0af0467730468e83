/* SPDX-License-Identifier: MIT */
#include "dispatcher_kit.h"

#include "core/disp/disp_inner.h"
#include "value/record.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static struct buf kept;

static struct slice
report(void)
{
	buf_clear(&kept);
	assert_true(disp_status(d, now, REPORT_BRIEF, "", &kept));
	return (struct slice){ kept.data, kept.data + kept.len };
}

static uint64_t
moves(const char *cause)
{
	return record_uint(record_at(report(), "moves"), cause);
}

static void
the_time_of_the_start_stays_when_the_clock_is_set(void **state)
{
	(void)state;
	assert_int_equal(record_uint(report(), "started_ms"), 0);
	disp_wall(d, 1000 * SEC);
	now += 50 * SEC;
	assert_int_equal(record_uint(report(), "started_ms"), 1001000); /* it began at second 1 */
	disp_wall(d, 5000 * SEC);
	assert_int_equal(record_uint(report(), "started_ms"), 1001000);
	buf_clear(&kept);
}

static void
a_move_counts_by_its_cause_and_streams_without_a_worker_do_not(void **state)
{
	uint64_t id = begin("one", 1000);
	struct iteration *it = iter_find(d, id);
	uint64_t had = 0;

	(void)state;
	assert_non_null(it);
	for (size_t i = 0; i < it->n_streams; i++)
		had += it->streams[i]->worker != NULL;
	assert_true(had > 0);
	assert_int_equal(record_uint(report(), "slots_used"), had);
	assert_int_equal(moves("lost"), 0);
	disp_peer_gone(d, ++now, W1);
	assert_int_equal(moves("lost"), had);
	assert_int_equal(moves("drained") + moves("unreachable") + moves("balanced"), 0);
	assert_int_equal(record_uint(report(), "slots_used"), 0);
	service_move(d, it->streams[0], MOVE_UNREACHABLE); /* nobody has it */
	assert_int_equal(moves("unreachable"), 0);
	buf_clear(&kept);
}

static void
told_costs(void *arg, struct disp_costs *out)
{
	*out = *(const struct disp_costs *)arg;
}

static void
a_state_is_told_of_with_its_costs_and_one_that_is_not_there_is_nil(void **state)
{
	static struct disp_costs costs = { .bytes = 8192, .commits = 3, .commit_ns = 1500000000,
		.within = { [DISP_COMMIT_STEPS - 1] = 2 } };
	struct slice s = record_at(report(), "state"), step = { 0 };

	(void)state;
	assert_int_equal(*s.p, 0xc0);
	d->o.costs = told_costs;
	d->o.costs_arg = &costs;
	s = record_at(report(), "state");
	assert_int_equal(record_uint(s, "bytes"), 8192);
	assert_int_equal(record_uint(s, "commits"), 3);
	assert_float_equal(record_float(s, "commit_seconds"), 1.5, 1e-9);
	for (struct record_items it = record_list(s, "within"); record_next(&it, &s);)
		step = s;
	assert_float_equal(record_float(step, "seconds"), 3, 1e-9);
	assert_int_equal(record_uint(step, "commits"), 2);
	buf_clear(&kept);
}

static struct slice
operator_of(struct slice all, uint32_t place)
{
	struct record_items sets = record_list(all, "datasets");
	struct slice s, op;

	while (record_next(&sets, &s))
		for (struct record_items ops = record_list(s, "operators"); record_next(&ops, &op);)
			if (record_uint(op, "operator") == place)
				return op;
	return (struct slice){ 0 };
}

static void
times_and_elements_of_operators_add_up_for_their_dataset(void **state)
{
	uint64_t id = begin("one", 1000);
	struct msg_op_time first[] = { { 1, 250000000, 10 }, { 2, 500000000, 0 } }, later[] = { { 2, 500000000, 7 } };
	struct msg_clock c = { .iteration = id, .work_ns = 1, .ops = { first, 2 } };

	(void)state;
	say(W1, (struct msg){ .type = MSG_BEAT, .beat.clocks = { &c, 1 } });
	c.ops = (struct msg_op_times){ later, 1 };
	say(W1, (struct msg){ .type = MSG_BEAT, .beat.clocks = { &c, 1 } });
	say(R1, (struct msg){ .type = MSG_BEAT, .beat.clocks = { &c, 1 } }); /* readers have no operators */
	struct slice op = operator_of(report(), 1);
	assert_float_equal(record_float(op, "busy_seconds"), 0.25, 1e-9);
	assert_int_equal(record_uint(op, "elements"), 10);
	op = operator_of(report(), 2);
	assert_float_equal(record_float(op, "busy_seconds"), 1, 1e-9);
	assert_int_equal(record_uint(op, "elements"), 7);
	/* No more of them than one message has. */
	for (uint32_t i = 0; i < 2 * WIRE_OPS_MAX; i++) {
		first[0].place = 10 + i;
		c.ops = (struct msg_op_times){ first, 1 };
		say(W1, (struct msg){ .type = MSG_BEAT, .beat.clocks = { &c, 1 } });
	}
	assert_non_null(operator_of(report(), 10 + WIRE_OPS_MAX - 3).p);
	assert_null(operator_of(report(), 10 + WIRE_OPS_MAX - 2).p);
	buf_clear(&kept);
}
