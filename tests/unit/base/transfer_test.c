/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/transfer.h"

enum { BYTES = 300000 }; /* more than a pipe takes at once */

static int ends[2];

static void *
reads_slowly(void *arg)
{
	transfer_read_all(ends[0], BYTES, arg);
	return NULL;
}

static void
a_pipe_gets_all_that_is_written(void **state)
{
	uint8_t *bytes = mem_alloc(BYTES);
	struct buf got = { 0 };
	pthread_t thread;

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, reads_slowly, &got), 0);
	assert_true(transfer_write(ends[1], bytes, BYTES));
	close(ends[1]);
	pthread_join(thread, NULL);
	assert_int_equal(got.len, BYTES);
	assert_memory_equal(got.data, bytes, BYTES);
	close(ends[0]);
	buf_clear(&got);
	mem_free(bytes);
}

static void
what_is_read_ends_with_the_file(void **state)
{
	char name[] = "/tmp/dsvc-test-XXXXXX", back[8] = "";
	struct buf all = { 0 };
	int fd = mkstemp(name);

	(void)state;
	unlink(name);
	assert_true(transfer_write_at(fd, "world", 5, 6));
	assert_true(transfer_write_at(fd, "hello ", 6, 0));
	assert_int_equal(transfer_read_at(fd, back, 5, 6), 5);
	assert_string_equal(back, "world");
	assert_int_equal(transfer_read_at(fd, back, 5, 9), 2);
	assert_int_equal(transfer_read_at(fd, back, 5, 99), 0);
	assert_true(transfer_read_all(fd, 100, &all));
	assert_int_equal(all.len, 11);
	assert_memory_equal(all.data, "hello world", 11);
	buf_reset(&all);
	lseek(fd, 0, SEEK_SET);
	assert_true(transfer_read_all(fd, 3, &all)); /* more than 3: it is not read to its end */
	assert_true(all.len > 3);
	buf_clear(&all);
	close(fd);
}

static void
a_failure_is_told_with_errno(void **state)
{
	struct buf none = { 0 };
	int full = open("/dev/full", O_WRONLY), folder = open("/tmp", O_RDONLY);
	char c;

	(void)state;
	errno = 0;
	assert_false(transfer_write(full, "x", 1));
	assert_int_equal(errno, ENOSPC);
	assert_true(transfer_write(full, "x", 0)); /* nothing to write */
	assert_false(transfer_write_at(-1, "x", 1, 0));
	assert_int_equal(errno, EBADF);
	assert_int_equal(transfer_read_at(folder, &c, 1, 0), -1);
	assert_int_equal(errno, EISDIR);
	assert_false(transfer_read_all(folder, 10, &none));
	buf_clear(&none);
	close(full);
	close(folder);
}
