/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/replace.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static char dir[64], name[80];

static int
setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/dsvc-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(name, sizeof name, "%s/file", dir);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(name);
	return rmdir(dir); /* fails when something is left over */
}

static const char *
content(void)
{
	static char text[64];
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	text[n < 0 ? 0 : n] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

static void
the_name_changes_hands_at_the_commit(void **state)
{
	struct replace r, other;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(replace_file(name, "old", 3, &e), ST_OK);
	assert_int_equal(replace_open(&r, name, &e), ST_OK);
	assert_int_equal(replace_open(&other, name, &e), ST_OK); /* neither is in the other's way */
	assert_int_equal(write(r.fd, "new", 3), 3);
	assert_string_equal(content(), "old");
	assert_int_equal(replace_commit(&r, &e), ST_OK);
	assert_string_equal(content(), "new");
	replace_cancel(&other);
	replace_cancel(&other);
	assert_string_equal(content(), "new");
}

static void
a_mode_is_what_was_said(void **state)
{
	struct err e = { 0 };
	struct stat info;
	mode_t before = umask(077);

	(void)state;
	assert_int_equal(replace_file_mode(name, 0644, "x", 1, &e), ST_OK);
	umask(before);
	assert_int_equal(stat(name, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_string_equal(content(), "x");
}

static void
a_folder_that_is_not_there_is_named(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(replace_file("/nowhere/at/all", "x", 1, &e), ST_NOINPUT);
	assert_non_null(strstr(e.text, "cannot make /nowhere/at/all"));
}

static void
a_name_that_cannot_be_taken_leaves_nothing(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(mkdir(name, 0700), 0); /* a folder stands where the file should be */
	assert_int_equal(replace_file(name, "x", 1, &e), ST_IO);
	assert_int_equal(rmdir(name), 0);
}

static void
a_file_that_is_there_keeps_its_name_from_one_without(void **state)
{
	struct err e = { 0 };
	int first = open(dir, O_TMPFILE | O_RDWR, 0600), second = open(dir, O_TMPFILE | O_RDWR, 0600);

	(void)state;
	if (first < 0 || second < 0)
		skip(); /* this file system has no such files */
	assert_int_equal(write(first, "first", 5), 5);
	assert_int_equal(write(second, "second", 6), 6);
	assert_int_equal(replace_name(first, NULL, name, &e), ST_OK);
	assert_int_equal(replace_name(second, NULL, name, &e), ST_OK);
	assert_string_equal(content(), "first");
	close(first);
	close(second);
}

static void
a_temporary_file_of_its_owner_stays_when_it_cannot_be_named(void **state)
{
	char part[96];
	struct err e = { 0 };

	(void)state;
	snprintf(part, sizeof part, "%s.part", name);
	int fd = open(part, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(replace_name(fd, part, "/nowhere/at/all", &e), ST_IO);
	assert_non_null(strstr(e.text, "cannot write /nowhere/at/all"));
	assert_int_equal(replace_name(fd, part, name, &e), ST_OK);
	assert_string_equal(content(), "x");
	assert_int_equal(write(fd, "y", 1), 1); /* the descriptor stays open */
	close(fd);
}

static void
the_temporary_file_of_another_process_is_let_alone(void **state)
{
	char other[40][128];
	struct replace r;
	struct err e = { 0 };

	(void)state;
	/* One that another machine has made in the same folder, with the same process id. */
	for (int k = 0; k < 40; k++) {
		snprintf(other[k], sizeof other[k], "%.64s.%ld-%d.tmp", name, (long)getpid(), k);
		close(open(other[k], O_WRONLY | O_CREAT, 0600));
	}
	assert_int_equal(replace_file(name, "new", 3, &e), ST_OK);
	assert_int_equal(replace_open(&r, name, &e), ST_OK);
	replace_cancel(&r);
	for (int k = 0; k < 40; k++)
		assert_int_equal(unlink(other[k]), 0);
	assert_string_equal(content(), "new");
}
