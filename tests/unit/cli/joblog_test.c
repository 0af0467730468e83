/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/transfer.h"
#include "cli/joblog.h"

static char path[64];

static void
fresh(const char *text)
{
	strcpy(path, "/tmp/dsvc-joblog-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0 && transfer_write(fd, text, strlen(text)));
	close(fd);
}

static void
holds(const char *text)
{
	struct buf b = { 0 };
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0 && transfer_read_all(fd, 1 << 20, &b));
	close(fd);
	buf_byte(&b, '\0');
	assert_string_equal((char *)b.data, text);
	buf_clear(&b);
}

static struct joblog *
opened(bool keep)
{
	struct joblog *log;
	struct err e = { 0 };

	if (joblog_open(path, "A\tB", keep, &log, &e) != ST_OK)
		fail_msg("%s", e.text);
	return log;
}

static void
closed(struct joblog *log)
{
	struct err e = { 0 };

	assert_int_equal(joblog_close(&log, &e), ST_OK);
	assert_null(log);
}

static bool
row_seen(void *arg, char *columns, uint64_t output)
{
	struct buf *b = arg;

	buf_printf(b, "%s=%d;", columns, (int)output);
	return strcmp(columns, "bad\tx") != 0;
}

static void
rows_wait_for_their_answers(void **state)
{
	(void)state;
	fresh("old");
	struct joblog *log = opened(false);
	joblog_wait(log, "1\ta", 3);
	assert_true(joblog_add(log, "2\tb", 3));
	holds("A\tB\tOutput\n2\tb\t0\n");
	assert_true(joblog_commit(log, 40));
	assert_true(joblog_add(log, "3\tc", 3));
	joblog_put(log, "4\td", 3, 50);
	joblog_wait(log, "5\te", 3);
	assert_int_equal(joblog_rows(log), 3);
	assert_true(joblog_flush(log) && joblog_sync(log));
	assert_int_equal(joblog_rows(log), 4);
	const char *all = "A\tB\tOutput\n2\tb\t0\n1\ta\t40\n3\tc\t40\n4\td\t50\n";
	assert_int_equal(joblog_length(log), strlen(all));
	closed(log);
	holds(all);
	unlink(path);
}

static void
rows_of_answers_that_were_cut_off_are_not_written(void **state)
{
	(void)state;
	fresh("");
	struct joblog *log = opened(false);
	for (int k = 0; k < 3; k++)
		joblog_wait(log, &"1\t2\t3\t"[2 * k], 1);
	assert_true(joblog_commit_first(log, 2, 3, 7));
	joblog_wait(log, "4", 1);
	assert_true(joblog_commit_first(log, 1, 2, 8));
	joblog_wait(log, "5", 1);
	assert_true(joblog_commit(log, 9));
	closed(log);
	holds("A\tB\tOutput\n1\t7\n2\t7\n5\t9\n");
	unlink(path);
}

static void
a_log_goes_on_without_its_torn_row(void **state)
{
	struct buf seen = { 0 };
	struct err e = { 0 };

	(void)state;
	fresh("A\tB\tOutput\n1\ta\t7\n2\tb\t9\n3\t");
	struct joblog *log = opened(true);
	assert_int_equal(joblog_read(log, row_seen, &seen, &e), ST_OK);
	buf_byte(&seen, '\0');
	assert_string_equal((char *)seen.data, "1\ta=7;2\tb=9;");
	assert_true(joblog_add(log, "3\tc", 3));
	closed(log);
	holds("A\tB\tOutput\n1\ta\t7\n2\tb\t9\n3\tc\t9\n");
	unlink(path);
	buf_clear(&seen);
}

static void
a_log_is_cut_where_a_position_says(void **state)
{
	struct err e = { 0 };

	(void)state;
	fresh("A\tB\tOutput\n1\ta\t7\n2\tb\t9\n");
	struct joblog *log = opened(true);
	assert_int_equal(joblog_cut(log, 17, &e), ST_OK);
	assert_true(joblog_add(log, "3\tc", 3));
	closed(log);
	holds("A\tB\tOutput\n1\ta\t7\n3\tc\t0\n");
	log = opened(true);
	assert_int_equal(joblog_cut(log, 1000, &e), ST_DATA);
	closed(log);
	log = opened(true);
	assert_int_equal(joblog_cut(log, 0, &e), ST_OK);
	closed(log);
	holds("A\tB\tOutput\n");
	unlink(path);
}

static void
what_is_no_log_stays_as_it_is(void **state)
{
	static const char *const bad[] = {
		"no log, and longer than the head is\n", "A\tB\tOutput\n1\ta\n", "A\tB\tOutput\n1\ta\t-1\n",
		"A\tB\tOutput\nbad\tx\t1\n",
		"A\tB\tC\tOutput\n", "a text without an end that is longer than the head",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct buf seen = { 0 };
		struct err e = { 0 };

		fresh(bad[i]);
		struct joblog *log = opened(true);
		assert_int_equal(joblog_read(log, row_seen, &seen, &e), ST_DATA);
		closed(log);
		holds(bad[i]);
		unlink(path);
		buf_clear(&seen);
	}
}

static void
an_empty_file_and_a_torn_head_begin_anew(void **state)
{
	static const char *const begun[] = { "", "A\tB" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf seen = { 0 };
		struct err e = { 0 };

		fresh(begun[i]);
		struct joblog *log = opened(true);
		assert_int_equal(joblog_read(log, row_seen, &seen, &e), ST_OK);
		assert_int_equal(seen.len, 0);
		closed(log);
		holds("A\tB\tOutput\n");
		unlink(path);
	}
}

static void
a_full_disk_is_told(void **state)
{
	struct err e = { 0 };
	struct joblog *log;

	(void)state;
	strcpy(path, "/dev/full");
	assert_int_equal(joblog_open(path, "A", false, &log, &e), ST_IO);
	strcpy(path, "/dev/null");
	log = opened(false);
	assert_true(joblog_add(log, "1", 1) && joblog_sync(log));
	closed(log);
	assert_int_equal(joblog_open(path, "A", true, &log, &e), ST_USAGE);
}
