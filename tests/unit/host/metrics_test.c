/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/metrics.h"
#include "value/json/json.h"

/* The report as metrics; lent until the next call. */
static const char *
metrics_of(const char *json, struct metrics_conf c)
{
	static struct buf out;
	struct json *j = json_new();
	struct buf report = { 0 };
	struct err e;

	buf_clear(&out);
	assert_int_equal(json_value(j, (const uint8_t *)json, strlen(json), &report, &e), ST_OK);
	json_free(&j);
	metrics_print((struct slice){ report.data, report.data + report.len }, &c, &out);
	buf_byte(&out, 0);
	buf_clear(&report);
	return (const char *)out.data;
}

static void
has(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	if (!at || (at > text && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line `%s` in:\n%s", line, text);
}

static void
the_service_itself(void **state)
{
	const char *t = metrics_of("{\"durable\":true,\"version\":\"1.\\\"2\",\"started_ms\":1700000000250,\"slots\":4,"
		"\"moves\":{\"lost\":3,\"drained\":2,\"unreachable\":1,\"balanced\":7},\"jobs\":[]}",
		(struct metrics_conf){ 0 });

	(void)state;
	assert_non_null(strstr(t, "\ndsvc_build_info{version=\"1.\\\"2\",protocol=\""));
	has(t, "dsvc_start_time_seconds 1700000000.25");
	has(t, "dsvc_durable 1");
	has(t, "dsvc_stream_moves_total{cause=\"lost\"} 3");
	has(t, "dsvc_stream_moves_total{cause=\"drained\"} 2");
	has(t, "dsvc_stream_moves_total{cause=\"unreachable\"} 1");
	has(t, "dsvc_stream_moves_total{cause=\"balanced\"} 7");
	has(t, "dsvc_slots{state=\"idle\"} 4");
}

static void
slots_with_streams_are_divided_as_their_time_was(void **state)
{
	const char *t = metrics_of("{\"slots\":10,\"slots_used\":8,\"jobs\":["
		"{\"iterations\":[{\"lately\":{\"slot_work_ms\":100,\"slot_wait_ms\":200}}]},"
		"{\"iterations\":[{\"lately\":{\"slot_work_ms\":0,\"slot_wait_ms\":100}}]}]}", (struct metrics_conf){ 0 });

	(void)state;
	has(t, "dsvc_slots{state=\"busy\"} 2");
	has(t, "dsvc_slots{state=\"stalled\"} 6");
	has(t, "dsvc_slots{state=\"idle\"} 2");
	/* nothing is told yet; and a report that says nonsense */
	t = metrics_of("{\"slots\":3,\"slots_used\":2,\"jobs\":[]}", (struct metrics_conf){ 0 });
	has(t, "dsvc_slots{state=\"busy\"} 2");
	has(t, "dsvc_slots{state=\"stalled\"} 0");
	has(t, "dsvc_slots{state=\"idle\"} 1");
	t = metrics_of("{\"slots\":1,\"slots_used\":9,\"jobs\":[{\"iterations\":[{\"lately\":7}]}]}",
		(struct metrics_conf){ 0 });
	has(t, "dsvc_slots{state=\"busy\"} 1");
	has(t, "dsvc_slots{state=\"idle\"} 0");
}

static void
splits_are_left_out_where_they_are_not_known(void **state)
{
	const char *t = metrics_of("{\"jobs\":[{\"name\":\"a\",\"iterations\":[{\"state\":\"running\",\"splits_left\":3},"
		"{\"state\":\"finished\",\"splits_left\":0},{\"state\":\"running\",\"splits_left\":4}]},"
		"{\"name\":\"b\",\"iterations\":[{\"state\":\"running\",\"splits_left\":null}]},"
		"{\"name\":\"c\",\"iterations\":[{\"state\":\"failed\"}]}]}", (struct metrics_conf){ 0 });

	(void)state;
	has(t, "dsvc_splits_left{dsvc_job=\"a\"} 7");
	assert_null(strstr(t, "dsvc_splits_left{dsvc_job=\"b\"}"));
	has(t, "dsvc_splits_left{dsvc_job=\"c\"} 0");
}

static void
a_job_counts_once_by_what_is_under_way(void **state)
{
#define PASS(state) "{\"state\":\"" #state "\"}"
	const char *t = metrics_of("{\"jobs\":[{\"iterations\":[" PASS(failed) "," PASS(running) "," PASS(finished) "]},"
		"{\"iterations\":[" PASS(listing) "," PASS(finished) "]},{\"iterations\":[" PASS(listing) "," PASS(running) "]},"
		"{\"iterations\":[" PASS(failed) "," PASS(finished) "]},{\"iterations\":[" PASS(finished) "," PASS(failed) "]},"
		"{\"iterations\":[]}]}", (struct metrics_conf){ 0 });

	(void)state;
	has(t, "dsvc_jobs{state=\"running\"} 2");
	has(t, "dsvc_jobs{state=\"listing\"} 1");
	has(t, "dsvc_jobs{state=\"finished\"} 1");
	has(t, "dsvc_jobs{state=\"failed\"} 1");
}

static void
a_pass_that_is_still_listed_asks_for_slots(void **state)
{
#define ASKS(state) "{\"name\":\"" #state "\",\"iterations\":[{\"state\":\"" #state "\",\"slots_most\":1}]}"
	const char *t = metrics_of("{\"jobs\":[" ASKS(listing) "," ASKS(running) "," ASKS(finished) "," ASKS(failed) "]}",
		(struct metrics_conf){ 0 });

	(void)state;
	has(t, "dsvc_slots_usable{dsvc_job=\"listing\"} 1");
	has(t, "dsvc_slots_usable{dsvc_job=\"running\"} 1");
	has(t, "dsvc_slots_usable{dsvc_job=\"finished\"} 0");
	has(t, "dsvc_slots_usable{dsvc_job=\"failed\"} 0");
}

static void
names_are_those_that_collectors_know(void **state)
{
	const char *t = metrics_of("{\"workers\":[{\"name\":\"w\",\"peer\":\"p\",\"kept_bytes\":12}],"
		"\"jobs\":[{\"iterations\":["
		"{\"reader_work_ms\":1500,\"reader_wait_ms\":250}]}]}", (struct metrics_conf){ .workers = true, .open = true });

	(void)state;
	has(t, "dsvc_kept_bytes{worker=\"w\",peer=\"p\"} 12");
	has(t, "dsvc_reader_seconds_total{dsvc_job=\"-\",state=\"write\"} 1.5");
	has(t, "dsvc_reader_seconds_total{dsvc_job=\"-\",state=\"wait\"} 0.25");
	has(t, "# TYPE dsvc_stream_moves counter");
}

static void
a_state_costs_what_its_commits_took(void **state)
{
	const char *t = metrics_of("{\"state\":{\"bytes\":4096,\"commits\":7,\"commit_seconds\":0.5,\"within\":["
		"{\"seconds\":0.0001,\"commits\":2},{\"seconds\":1.0,\"commits\":6}]}}", (struct metrics_conf){ 0 });

	(void)state;
	has(t, "dsvc_state_bytes 4096");
	has(t, "# TYPE dsvc_state_commit_seconds histogram");
	has(t, "dsvc_state_commit_seconds_bucket{le=\"0.0001\"} 2");
	has(t, "dsvc_state_commit_seconds_bucket{le=\"1.0\"} 6");
	has(t, "dsvc_state_commit_seconds_bucket{le=\"+Inf\"} 7");
	has(t, "dsvc_state_commit_seconds_sum 0.5");
	has(t, "dsvc_state_commit_seconds_count 7");
	assert_null(strstr(metrics_of("{\"state\":null}", (struct metrics_conf){ 0 }), "dsvc_state"));
	assert_null(strstr(metrics_of("{}", (struct metrics_conf){ 0 }), "dsvc_state"));
}

static void
bytes_are_told_by_stage(void **state)
{
	const char *t = metrics_of("{\"jobs\":[{\"name\":\"a\",\"iterations\":[{\"raw_bytes\":1000,\"wire_bytes\":300},"
		"{\"raw_bytes\":24}]}]}", (struct metrics_conf){ 0 });

	(void)state;
	has(t, "dsvc_bytes_total{dsvc_job=\"a\",stage=\"raw\"} 1024");
	has(t, "dsvc_bytes_total{dsvc_job=\"a\",stage=\"wire\"} 300");
}

static void
operators_of_datasets_that_jobs_use(void **state)
{
#define DATASET(id, jobs) "{\"id\":\"" id "\",\"jobs\":" #jobs ",\"operators\":[" \
	"{\"operator\":2,\"busy_seconds\":0.25,\"elements\":10},{\"operator\":1,\"busy_seconds\":1.5,\"elements\":20}]}"
	const char *t = metrics_of("{\"datasets\":[" DATASET("a", 1) "," DATASET("b", 0) "]}", (struct metrics_conf){ 0 });

	(void)state;
	has(t, "# TYPE dsvc_op_busy_seconds_total counter");
	has(t, "dsvc_op_busy_seconds_total{dataset=\"a\",op=\"2\"} 0.25");
	has(t, "dsvc_op_busy_seconds_total{dataset=\"a\",op=\"1\"} 1.5");
	has(t, "dsvc_op_elements_total{dataset=\"a\",op=\"2\"} 10");
	has(t, "dsvc_op_elements_total{dataset=\"a\",op=\"1\"} 20");
	assert_null(strstr(t, "dataset=\"b\""));
}
