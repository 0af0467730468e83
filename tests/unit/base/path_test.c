/* SPDX-License-Identifier: MIT */
#include "base/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void
folders_above_a_file_are_made_for_the_user_alone(void **state)
{
	struct buf at = { 0 };
	struct stat s;
	struct err e = { 0 };
	char dir[] = "/tmp/dsvc-test-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	buf_printf(&at, "%s/a/b/file", dir);
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(path_make_folders((char *)at.data, &e), ST_OK);
	assert_int_equal(access((char *)at.data, F_OK), -1);
	*strrchr((char *)at.data, '/') = '\0';
	assert_int_equal(stat((char *)at.data, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0700);
	rmdir((char *)at.data);
	*strrchr((char *)at.data, '/') = '\0';
	rmdir((char *)at.data);
	assert_int_equal(rmdir(dir), 0);
	buf_clear(&at);
}

static void
a_folder_that_cannot_be_made_is_named(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_not_equal(path_make_folders("/dev/null/x/file", &e), ST_OK);
	assert_non_null(strstr(e.text, "cannot make the folder /dev/null/x"));
}

static void
the_state_folder_is_where_the_environment_says(void **state)
{
	struct buf at = { 0 };

	(void)state;
	setenv("HOME", "/home/ada", 1);
	setenv("XDG_STATE_HOME", "/var/ada", 1);
	assert_string_equal(path_state_folder(&at), "XDG_STATE_HOME");
	assert_string_equal((char *)at.data, "/var/ada/dsvc");
	buf_reset(&at);
	setenv("XDG_STATE_HOME", "relative", 1); /* which says nothing */
	assert_string_equal(path_state_folder(&at), "the default");
	assert_string_equal((char *)at.data, "/home/ada/.local/state/dsvc");
	unsetenv("HOME");
	assert_null(path_state_folder(&at));
	buf_clear(&at);
}

static void
the_own_folder_is_where_this_program_lies(void **state)
{
	struct buf at = { 0 };

	(void)state;
	assert_true(path_own_folder(&at));
	buf_str(&at, "/path_test");
	assert_int_equal(access((char *)at.data, X_OK), 0);
	buf_clear(&at);
}
