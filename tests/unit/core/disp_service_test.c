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
