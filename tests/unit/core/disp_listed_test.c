/* SPDX-License-Identifier: MIT
 *
 * Which jobs a report lists.
 */
#include "dispatcher_kit.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

/* Asks a dispatcher with parts of a hundred bytes for its report. */
static void
report(uint32_t recent, const char *job, struct buf *out)
{
	uint32_t part = 0;
	struct msg *m;

	buf_reset(out);
	do {
		say(T1, (struct msg){ .type = MSG_STATUS, .status = { .what = REPORT_BRIEF, .job = text(job),
			.recent = recent, .part = part++ } });
		m = got(T1, MSG_REPORT);
		assert_non_null(m);
		buf_put(out, m->report.value.p, m->report.value.n);
	} while (!m->report.last);
}

static bool
tells(const struct buf *report, const char *words)
{
	return memmem(report->data, report->len, words, strlen(words)) != NULL;
}

/* A job that is over, left at this moment. */
static void
finished(const char *name)
{
	struct msg *m;
	uint64_t it, seat;

	open_job(R1, name, "range", 1);
	units(W1, got(W1, MSG_LIST)->req, 0);
	m = got(R1, MSG_JOB);
	assert_non_null(m);
	it = m->job.iteration;
	seat = m->job.seat;
	say(R1, (struct msg){ .type = MSG_CLOSE, .req = 2, .close = { .iteration = it, .seat = seat } });
	assert_non_null(got(R1, MSG_CLOSED));
}

static void
jobs_that_nobody_reads_are_listed_if_they_are_among_the_last(void **state)
{
	struct buf b = { 0 };

	(void)state;
	hello(W1, ROLE_WORKER);
	hello(R1, ROLE_READER);
	hello(T1, ROLE_TOOL);
	finished("first");
	hello(R2, ROLE_READER);
	open_job(R2, "being-read", "other", 1);
	units(W1, got(W1, MSG_LIST)->req, 1000);
	finished("second");
	finished("third");
	report(0, "", &b);
	assert_true(tells(&b, "first") && tells(&b, "being-read") && tells(&b, "jobs_more\x00"));
	report(2, "", &b);
	assert_true(tells(&b, "second") && tells(&b, "third") && tells(&b, "being-read") && tells(&b, "jobs_more\x01"));
	assert_false(tells(&b, "first"));
	report(1, "", &b);
	assert_true(tells(&b, "third") && tells(&b, "being-read") && tells(&b, "jobs_more\x02"));
	report(1, "first", &b);
	assert_true(tells(&b, "first"));
	assert_false(tells(&b, "third"));
	/* it was asked for again, and so left last */
	open_job(R1, "first", "range", 1);
	report(1, "", &b);
	assert_true(tells(&b, "first") && tells(&b, "being-read") && tells(&b, "jobs_more\x02"));
	assert_false(tells(&b, "third"));
	buf_clear(&b);
}
