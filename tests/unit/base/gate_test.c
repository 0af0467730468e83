/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/gate.h"
#include "base/mem.h"
#include "base/param.h"
#include "base/replace.h"

#define EACH_SETUP setup
#define EACH_TEARDOWN teardown

/* dir/in is the root; dir/out/secret lies beside it. */
static char dir[64];
static char names[16][160];
static unsigned at_name;

static const char *
in_dir(const char *rest)
{
	char *name = names[at_name++ % 16];

	snprintf(name, sizeof names[0], "%s/%s", dir, rest);
	return name;
}

static void
put(const char *rest, const char *text)
{
	FILE *f = fopen(in_dir(rest), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
close_side(enum gate side, const char *root)
{
	struct words w = { 0 };
	struct err e = { 0 };

	if (root)
		words_add(&w, root, strlen(root));
	assert_int_equal(gate_close(side, &w, &e), ST_OK);
	words_clear(&w);
}

static int
setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/dsvc-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	mkdir(in_dir("in"), 0755);
	mkdir(in_dir("in/sub"), 0755);
	mkdir(in_dir("out"), 0755);
	put("in/file", "inside");
	put("in/sub/file", "below");
	put("out/secret", "secret");
	close_side(GATE_READ, in_dir("in"));
	close_side(GATE_WRITE, NULL);
	return 0;
}

static int
teardown(void **state)
{
	char *command = mem_printf("rm -rf %s", dir);
	int rc;

	(void)state;
	close_side(GATE_READ, "/");
	close_side(GATE_WRITE, "/");
	rc = system(command);
	mem_free(command);
	return rc;
}

/* Gives what is in the file, "" if the gate refuses, "?" if something else is wrong. */
static const char *
reads(const char *path)
{
	static char text[64];
	int fd = gate_open(GATE_READ, path, O_RDONLY, 0);

	if (fd < 0)
		return gate_refused(errno) ? "" : "?";
	ssize_t n = read(fd, text, sizeof text - 1);
	text[n < 0 ? 0 : n] = 0;
	close(fd);
	return text;
}

static void
what_lies_below_a_root_is_opened_however_it_is_written(void **state)
{
	(void)state;
	assert_string_equal(reads(in_dir("in/file")), "inside");
	assert_string_equal(reads(in_dir("in/sub/../file")), "inside");
	assert_string_equal(reads(in_dir("./in//sub/./file")), "below");
	symlink("sub/file", in_dir("in/link"));
	assert_string_equal(reads(in_dir("in/link")), "below");
	assert_string_equal(reads(in_dir("in/none")), "?");
}

static void
no_path_leads_out_of_a_root(void **state)
{
	char self[64];

	(void)state;
	snprintf(self, sizeof self, "/proc/self/root%s", in_dir("in/file"));
	assert_string_equal(reads(in_dir("out/secret")), "");
	assert_string_equal(reads(in_dir("in/../out/secret")), "");
	assert_string_equal(reads(in_dir("in/sub/../../out/secret")), "");
	assert_string_equal(reads(in_dir("out/../in/file")), "");
	assert_string_equal(reads(in_dir("inside")), "");
	assert_string_equal(reads("/proc/self/environ"), "");
	assert_string_equal(reads(self), "");
	assert_string_equal(reads("in/file"), "");
	assert_string_equal(reads(""), "");
}

static void
links_do_not_lead_out_of_a_root(void **state)
{
	(void)state;
	symlink("../out/secret", in_dir("in/up"));
	symlink("../out", in_dir("in/folder"));
	symlink(in_dir("out/secret"), in_dir("in/whole"));
	symlink("/proc/self/root/etc/passwd", in_dir("in/magic"));
	assert_string_equal(reads(in_dir("in/up")), "");
	assert_string_equal(reads(in_dir("in/folder/secret")), "");
	assert_string_equal(reads(in_dir("in/whole")), "");
	assert_string_equal(reads(in_dir("in/magic")), "");

	struct stat st;
	assert_int_equal(gate_stat(in_dir("in/up"), &st), -1);
	assert_int_equal(gate_lstat(in_dir("in/up"), &st), 0);
	assert_int_equal(gate_readable(in_dir("in/up")), -1);
	assert_null(gate_opendir(GATE_READ, in_dir("in/folder")));
}

static void
a_root_that_was_renamed_is_still_the_root(void **state)
{
	(void)state;
	assert_int_equal(rename(in_dir("in"), in_dir("was")), 0);
	symlink("out", in_dir("in"));
	assert_string_equal(reads(in_dir("in/secret")), "?");
	assert_string_equal(reads(in_dir("in/file")), "inside");
}

static void
a_root_may_be_one_file(void **state)
{
	(void)state;
	close_side(GATE_READ, in_dir("in/file"));
	assert_string_equal(reads(in_dir("in/file")), "inside");
	assert_string_equal(reads(in_dir("in/sub/file")), "");
	assert_string_equal(reads(in_dir("in/file/x")), "");
	/* A new file in its place is read, a link is not. */
	put("in/new", "newer");
	rename(in_dir("in/new"), in_dir("in/file"));
	assert_string_equal(reads(in_dir("in/file")), "newer");
	unlink(in_dir("in/file"));
	symlink(in_dir("out/secret"), in_dir("in/file"));
	assert_string_not_equal(reads(in_dir("in/file")), "secret");
}

static atomic_bool race_over;

/* Swaps a folder for a link that leads out, and back. */
static void *
race(void *arg)
{
	(void)arg;
	char here[160], link[160], aside[160];
	snprintf(here, sizeof here, "%s/in/sub", dir);
	snprintf(link, sizeof link, "%s/in/trap", dir);
	snprintf(aside, sizeof aside, "%s/in/aside", dir);
	symlink("../out", link);
	while (!atomic_load(&race_over)) {
		rename(here, aside);
		rename(link, here);
		rename(here, link);
		rename(aside, here);
	}
	return NULL;
}

static void
a_race_of_renames_does_not_lead_out(void **state)
{
	pthread_t t;
	char name[160], secret[160];

	(void)state;
	snprintf(name, sizeof name, "%s/in/sub/file", dir);
	snprintf(secret, sizeof secret, "%s/in/sub/secret", dir);
	atomic_store(&race_over, false);
	assert_int_equal(pthread_create(&t, NULL, race, NULL), 0);
	for (int i = 0; i < 3000; i++) {
		assert_string_not_equal(reads(secret), "secret");
		const char *got = reads(name);
		assert_true(!strcmp(got, "below") || !strcmp(got, "?") || !*got);
	}
	atomic_store(&race_over, true);
	pthread_join(t, NULL);
}

static void
a_shut_gate_writes_nothing(void **state)
{
	struct err e = { 0 };
	char made[160];

	(void)state;
	snprintf(made, sizeof made, "%s/in/made-XXXXXX", dir);
	assert_int_equal(gate_open(GATE_WRITE, in_dir("in/new"), O_WRONLY | O_CREAT, 0666), -1);
	assert_true(gate_refused(errno));
	assert_int_equal(gate_mkdir(in_dir("in/new"), 0777), -1);
	assert_int_equal(gate_unlink(in_dir("in/file")), -1);
	assert_int_equal(gate_rename(in_dir("in/file"), in_dir("in/other")), -1);
	assert_int_equal(gate_temporary(made), -1);
	assert_int_equal(gate_nameless(in_dir("in")), -1);
	assert_int_equal(replace_file(in_dir("in/new"), "x", 1, &e), ST_PERM);
	assert_non_null(strstr(e.text, "this worker may write no files"));
	assert_non_null(strstr(e.help, "--allow-write PATH"));
	/* Where the owner wants temporary files is no choice of a pipeline. */
	int fd = gate_nameless(NULL);
	assert_true(fd >= 0);
	close(fd);
}

static void
writing_stays_below_its_root_and_may_be_read_again(void **state)
{
	struct err e = { 0 };
	struct stat st;
	char made[160];

	(void)state;
	close_side(GATE_WRITE, in_dir("out"));
	assert_int_equal(gate_mkdir(in_dir("out"), 0777), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(gate_mkdir(in_dir("out/a"), 0777), 0);
	assert_int_equal(gate_mkdir(in_dir("out/a/../../b"), 0777), -1);
	assert_true(gate_refused(errno));
	assert_int_equal(replace_file(in_dir("out/a/file"), "kept", 4, &e), ST_OK);
	assert_string_equal(reads(in_dir("out/a/file")), "kept");
	assert_int_equal(gate_rename(in_dir("out/a/file"), in_dir("in/stolen")), -1);
	assert_int_equal(gate_rename(in_dir("in/file"), in_dir("out/a/stolen")), -1);
	assert_int_equal(gate_rename(in_dir("out/a/file"), in_dir("out/b")), 0);
	assert_int_equal(gate_unlink(in_dir("out/b")), 0);
	assert_int_equal(gate_unlink(in_dir("out/a/..")), -1);
	snprintf(made, sizeof made, "%s/out/made-XXXXXX", dir);
	int fd = gate_temporary(made);
	assert_true(fd >= 0 && !stat(made, &st));
	close(fd);
	fd = gate_open(GATE_WRITE, in_dir("out"), O_TMPFILE | O_RDWR, 0666);
	assert_true(fd >= 0);
	assert_int_equal(gate_link(fd, in_dir("in/named")), -1);
	assert_int_equal(gate_link(fd, in_dir("out/named")), 0);
	assert_int_equal(gate_link(fd, in_dir("out/named")), -1);
	assert_int_equal(errno, EEXIST);
	close(fd);
	/* A link in the root is no way out of it for what is written either. */
	symlink("../in", in_dir("out/link"));
	assert_int_equal(replace_file(in_dir("out/link/x"), "x", 1, &e), ST_PERM);
	assert_int_equal(gate_open(GATE_WRITE, in_dir("out/link/file"), O_WRONLY | O_TRUNC, 0), -1);
	assert_string_equal(reads(in_dir("in/file")), "inside");
}

static void
what_it_refuses_is_said_with_the_option(void **state)
{
	struct err e = { 0 };
	char want[200];

	(void)state;
	reads(in_dir("out/secret"));
	errno = GATE_NO_READ;
	assert_int_equal(err_errno(&e, "cannot open x"), ST_PERM);
	snprintf(want, sizeof want, "cannot open x: not below --allow-read %s/in", dir);
	assert_string_equal(e.text, want);
	assert_non_null(strstr(e.help, "--allow-read PATH"));
}

static void
a_root_must_exist(void **state)
{
	struct words w = { 0 };
	struct err e = { 0 };

	(void)state;
	words_add(&w, "/nowhere/at/all", 15);
	assert_int_equal(gate_close(GATE_READ, &w, &e), ST_NOINPUT);
	assert_non_null(strstr(e.text, "--allow-read /nowhere/at/all"));
	words_clear(&w);
}

static void
its_owner_is_let_through_and_root_opens_all(void **state)
{
	(void)state;
	gate_lift(true);
	assert_string_equal(reads(in_dir("out/secret")), "secret");
	gate_lift(false);
	assert_string_equal(reads(in_dir("out/secret")), "");
	close_side(GATE_READ, "/");
	assert_true(gate_is_open(GATE_READ));
	assert_string_equal(reads(in_dir("out/secret")), "secret");
}
