/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "op/kit/seal.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

static char dir[32];
static struct err e;

static int
setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/seal.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int
teardown(void **state)
{
	char *command = mem_printf("rm -rf %s", dir);
	int rc = system(command);

	(void)state;
	mem_free(command);
	return rc;
}

static void
put_file(const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fclose(f);
	mem_free(path);
}

static void
drop_file(const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);

	assert_int_equal(unlink(path), 0);
	mem_free(path);
}

static bool
whole(void)
{
	return seal_check(dir, &e) == ST_OK;
}

static void
end(uint32_t stream, uint32_t streams)
{
	assert_int_equal(seal_end(dir, stream, streams, 7, &e), ST_OK);
}

static void
the_last_stream_to_end_seals(void **state)
{
	(void)state;
	put_file("data-a");
	put_file("data-b");
	assert_false(whole());
	assert_string_equal(strstr(e.text, "is not complete"),
		"is not complete: the save has not ended, and 2 files are there");
	end(2, 3);
	end(0, 3);
	assert_false(whole());
	end(1, 3);
	assert_true(whole());
	drop_file("data-a");
	assert_false(whole());
	assert_string_equal(strstr(e.text, "is not complete"), "is not complete: 1 of its 2 files are there");
}

/* How many there are is known late, and perhaps not to whoever ends last. */
static void
one_that_knows_how_many_there_are_is_enough(void **state)
{
	(void)state;
	end(0, 0);
	assert_false(whole());
	end(1, 3);
	assert_false(whole());
	end(2, 0);
	assert_true(whole());
}

/* Marks of another number of streams, as of a pass that was replaced, are not counted. */
static void
streams_that_are_none_of_these_do_not_count(void **state)
{
	(void)state;
	end(5, 0);
	end(0, 2);
	assert_false(whole());
	end(1, 2);
	assert_true(whole());
}

static void
who_writes_again_breaks_the_seal(void **state)
{
	(void)state;
	end(0, 2);
	end(1, 2);
	assert_true(whole());
	seal_break(dir, 1);
	assert_false(whole());
	end(0, 2);
	assert_false(whole());
	end(1, 2);
	assert_true(whole());
}

static void
a_folder_that_is_not_there_is_said_so(void **state)
{
	(void)state;
	assert_int_equal(seal_check("/nowhere/at/all", &e), ST_NOINPUT);
	assert_int_equal(seal_end("/nowhere/at/all", 0, 1, 7, &e), ST_NOINPUT);
}
