/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/limit.h"
#include "value/json/json.h"

static struct buf record;

static struct slice
slice_of(const char *json)
{
	struct json *j = json_new();
	struct err e;

	buf_clear(&record);
	assert_int_equal(json_value(j, (const uint8_t *)json, strlen(json), &record, &e), ST_OK);
	json_free(&j);
	return (struct slice){ record.data, record.data + record.len };
}

#define ONE "\"slots\":2,\"workers\":[{\"name\":\"w\"}]"
#define PASS(most, lately, rest) "{" ONE ",\"pass\":{\"state\":\"running\",\"readers\":1,\"running_ms\":9000," \
	"\"slots_most\":" #most ",\"lately\":{" lately "}" rest "}}"
#define TIMES(work, wait, read, starved, out) "\"slot_work_ms\":" #work ",\"slot_wait_ms\":" #wait \
	",\"reader_work_ms\":" #read ",\"reader_wait_ms\":" #starved ",\"reader_out_ms\":" #out
#define OPS ",\"operators\":[{\"operator\":1,\"ms\":10},{\"operator\":3,\"ms\":900},{\"operator\":2,\"ms\":90}]"

/* The limit of a report whose pass is in the field `pass`, in words. */
static enum limit_kind
limit_in(const char *json, struct limit *l)
{
	struct slice report = slice_of(json);
	struct buf say = { 0 }, cure = { 0 };

	limit_find(report, report, record_at(report, "pass"), NULL, l);
	limit_say(l, &say);
	limit_cure(l, &cure);
	assert_true(say.len > 0);
	buf_clear(&say);
	buf_clear(&cure);
	return l->kind;
}

static void
what_readers_wait_for_depends_on_slots(void **state)
{
	struct limit l;

	(void)state;
	assert_int_equal(limit_in(PASS(2, TIMES(2000, 10, 100, 900, 0) OPS, ""), &l), LIMIT_OPERATOR);
	assert_int_equal(l.most.place, 3);
	assert_true(l.most.share > 0.89 && l.most.share < 0.91);
	assert_int_equal(limit_in(PASS(5, TIMES(2000, 10, 100, 900, 0) OPS, ""), &l), LIMIT_WORKERS);
	assert_int_equal(limit_in(PASS(5, TIMES(100, 1900, 100, 900, 0) OPS, ""), &l), LIMIT_NETWORK);
	assert_int_equal(limit_in(PASS(2, TIMES(2000, 10, 100, 900, 0) ",\"operators\":[{\"operator\":1,\"ms\":7}]", ""), &l),
			 LIMIT_SOURCE);
	assert_int_equal(limit_in(PASS(2, TIMES(0, 0, 100, 900, 0), ""), &l), LIMIT_WORKERS);
	assert_false(l.served);
}

static void
readers_that_do_not_wait_are_told_from_their_output(void **state)
{
	struct limit l;

	(void)state;
	assert_int_equal(limit_in(PASS(5, TIMES(100, 1900, 1000, 10, 900) OPS, ""), &l), LIMIT_OUTPUT);
	assert_int_equal(limit_in(PASS(5, TIMES(100, 1900, 1000, 10, 100) OPS, ""), &l), LIMIT_READER);
}

static void
who_is_missing_comes_first(void **state)
{
	struct limit l;

	(void)state;
	assert_int_equal(limit_in(PASS(5, TIMES(0, 0, 0, 0, 0), ",\"waits_for\":\"2/3\""), &l), LIMIT_CONSUMER);
	assert_int_equal(limit_in(PASS(5, TIMES(0, 0, 10, 0, 0), ""), &l), LIMIT_UNKNOWN);
	assert_int_equal(limit_in("{" ONE ",\"pass\":{\"state\":\"running\",\"readers\":0}}", &l), LIMIT_NO_READER);
	assert_int_equal(limit_in("{\"pass\":{\"state\":\"running\",\"readers\":1}}", &l), LIMIT_NO_WORKERS);
	assert_int_equal(limit_in("{" ONE ",\"pass\":{\"state\":\"finished\"}}", &l), LIMIT_OVER);
	assert_int_equal(limit_in("{" ONE ",\"pass\":{\"state\":\"failed\",\"error\":\"no\"}}", &l), LIMIT_FAILED);
	assert_int_equal(limit_in("{" ONE ",\"pass\":{\"state\":\"listing\"}}", &l), LIMIT_LISTING);
}

static void
a_report_of_something_else_is_no_harm(void **state)
{
	struct limit l;

	(void)state;
	assert_int_equal(limit_in("[1,2]", &l), LIMIT_NO_READER);
	assert_int_equal(limit_in("{\"pass\":{\"lately\":7,\"slots_most\":\"x\"}}", &l), LIMIT_NO_READER);
	assert_int_equal(limit_in(PASS(5, TIMES(1, 1, 1000, 1, 18446744073709551615) OPS, ""), &l), LIMIT_OUTPUT);
	assert_true(l.blocked <= 1);
	buf_clear(&record);
}
