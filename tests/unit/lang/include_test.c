/* SPDX-License-Identifier: MIT */
#include "lang_help.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP_SETUP include_setup
#define GROUP_TEARDOWN include_teardown

static char include_dir[] = "/tmp/dsvc_include_XXXXXX";

static void
include_write(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", include_dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static char *
include_path(const char *name)
{
	return mem_printf("%s/%s", include_dir, name);
}

static int
include_setup(void **state)
{
	char path[256];

	(void)state;
	if (!mkdtemp(include_dir))
		return -1;
	snprintf(path, sizeof path, "%s/sub", include_dir);
	return mkdir(path, 0700);
}

static int
include_teardown(void **state)
{
	static const char *const names[] = { "main", "sub/lib", "sub/deep", "bad", "loop", "loop2",
					     "pipe", "none", "sub", "" };
	char path[256];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", include_dir, names[i]);
		remove(path);
	}
	return 0;
}

static void
include_fails(const char *name, const char *text, const char *in, unsigned line, struct err *e)
{
	char *path = include_path(name), *file = include_path(in);
	struct spec_src src = { .file = path, .flags = SPEC_NO_CHECK };

	help_fails_src(&src, e);
	assert_non_null(strstr(e->text, text));
	assert_string_equal(e->file, file);
	assert_int_equal(e->line, line);
	mem_free(path);
	mem_free(file);
}

static void
names_come_from_included_files(void **state)
{
	char *path = include_path("main"), want[600];

	(void)state;
	include_write("sub/deep", "param n: int = 7\n");
	include_write("sub/lib", "include deep\nlet few = | take @n\nlet web = lines web.txt /abs\n");
	include_write("main", "include sub/lib\ninclude \"sub/lib\"\nconcat (web | few) (lines own.txt)\n");
	struct spec_src src = { .file = path, .flags = SPEC_NO_CHECK };
	char *got = help_canon_src(&src, 0);
	snprintf(want, sizeof want, "concat (lines %s/sub/web.txt /abs | take 7) (lines %s/own.txt)",
		 include_dir, include_dir);
	assert_string_equal(got, want);
	mem_free(got);
	mem_free(path);
}

static void
set_values_are_relative_to_where_the_user_is(void **state)
{
	char *path = include_path("main");
	char *set[] = { (char[]){ "f=mine.txt" } };
	struct words sets = { set, 1 };
	struct spec_src src = { .file = path, .sets = &sets, .flags = SPEC_NO_CHECK };

	(void)state;
	include_write("main", "param f = own.txt\nlines @f\n");
	char *got = help_canon_src(&src, 0);
	assert_string_equal(got, "lines mine.txt");
	mem_free(got);
	src.sets = NULL;
	got = help_canon_src(&src, 0);
	assert_non_null(strstr(got, "/own.txt"));
	assert_int_equal(strncmp(got, "lines /tmp/", 11), 0);
	mem_free(got);
	mem_free(path);
}

static void
folders_of_I_are_searched(void **state)
{
	char *dir[] = { include_dir };
	struct words dirs = { dir, 1 };
	struct spec_src src = { .text = "include sub/deep; range @n", .len = 26, .dirs = &dirs,
				.flags = SPEC_NO_CHECK };

	(void)state;
	char *got = help_canon_src(&src, 0);
	assert_string_equal(got, "range 7");
	mem_free(got);
}

static void
mistakes_name_the_file_they_are_in(void **state)
{
	struct err e;

	(void)state;
	include_write("bad", "# one\nlet a = | tak 3\n");
	include_write("main", "include bad\nrange 3 | a\n");
	include_fails("main", "unknown operator `tak`", "bad", 2, &e);
	assert_string_equal(e.source, "let a = | tak 3");
	include_write("bad", "let a = | filter x + 1\n");
	include_fails("main", "", "bad", 1, &e);
	include_write("main", "include nowhere\nrange 3\n");
	include_fails("main", "cannot find the file nowhere", "main", 1, &e);
	assert_int_equal(e.kind, ST_NOINPUT);
	include_write("pipe", "range 3\n");
	include_write("main", "include pipe\nrange 3\n");
	include_fails("main", "no pipeline", "pipe", 1, &e);
}

static void
loops_are_refused(void **state)
{
	struct err e;

	(void)state;
	include_write("loop", "include loop2\nrange 3\n");
	include_write("loop2", "include loop\n");
	include_fails("loop", "includes itself", "loop2", 1, &e);
}

static void
a_file_that_is_not_there(void **state)
{
	char *path = include_path("none");
	struct spec_src src = { .file = path };
	struct err e;

	(void)state;
	help_fails_src(&src, &e);
	assert_int_equal(e.kind, ST_NOINPUT);
	assert_non_null(strstr(e.text, path));
	mem_free(path);
}
