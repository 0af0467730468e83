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
