/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/opt.h"
#include "cli/quit.h"
#include "cli/ready.h"

static const struct param no_rows[] = { { 0 } };
static const struct program program = {
	.name = "dsvc-x", .brief = "nothing", .synopsis = PROGRAM_TEXTS("[OPTION]..."), .rows = no_rows
};

/* Runs f in a child with `out` as its standard output; gives the wait status. */
static int
child(int out, void (*f)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		f();
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void
show_version(void)
{
	char *argv[] = { (char *)(uintptr_t) "dsvc-x", (char *)(uintptr_t) "--version", NULL };
	struct opt o;
	struct err e = { 0 };
	char none;

	_exit((int)opt_parse(&program, 2, argv, &none, &o, &e));
}

static void
a_full_disk_is_no_success(void **state)
{
	int full = open("/dev/full", O_WRONLY);
	int status = child(full, show_version);

	(void)state;
	close(full);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ST_IO);
}

static void
what_was_asked_for_is_on_stdout(void **state)
{
	int ends[2];
	char text[256];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	int status = child(ends[1], show_version);
	close(ends[1]);
	ssize_t n = read(ends[0], text, sizeof text - 1);
	close(ends[0]);
	assert_int_equal(WEXITSTATUS(status), ST_END);
	text[n > 0 ? n : 0] = '\0';
	assert_string_equal(text, "dsvc-x (dsvc) " PROGRAM_VERSION "\n");
}

static void
show_version_ignoring_pipes(void)
{
	signal(SIGPIPE, SIG_IGN);
	show_version();
}

static void
a_closed_pipe_is_a_silent_death(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	int status = child(ends[1], show_version_ignoring_pipes);
	close(ends[1]);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

static void
die_blocked(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGTERM, SIG_IGN);
	quit_signal(SIGTERM);
}

static void
death_by_signal_is_seen_by_the_parent(void **state)
{
	int status = child(STDOUT_FILENO, die_blocked);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void
ready_is_a_line_and_then_the_end(void **state)
{
	int ends[2];
	char text[64], file[] = "/tmp/dsvc-ready-XXXXXX";
	struct err e = { 0 };

	(void)state;
	close(mkstemp(file));
	assert_int_equal(pipe(ends), 0);
	struct ready r = { .fd = ends[1], .file = file };
	assert_int_equal(ready_say(&r, "tcp://h:5", &e), ST_OK);
	assert_int_equal(read(ends[0], text, sizeof text), 10);
	assert_memory_equal(text, "tcp://h:5\n", 10);
	assert_int_equal(read(ends[0], text, sizeof text), 0);
	close(ends[0]);
	int fd = open(file, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof text), 10);
	close(fd);
	ready_end(&r);
	assert_int_equal(access(file, F_OK), -1);
	char nowhere[] = "/nowhere/at/all";
	r = (struct ready){ .fd = -1, .file = nowhere };
	assert_int_equal(ready_say(&r, "x", &e), ST_NOINPUT);
	r.file = NULL;
	assert_int_equal(ready_say(&r, "x", &e), ST_OK);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	r.fd = ends[1];
	assert_int_equal(ready_say(&r, "x", &e), ST_IO);
}

static void
a_ready_file_is_of_this_run(void **state)
{
	char file[] = "/tmp/dsvc-ready-XXXXXX";
	struct err e = { 0 };
	struct ready r = { .fd = -1, .file = file }, other = r;

	(void)state;
	close(mkstemp(file));
	assert_int_equal(ready_begin(&r, &e), ST_OK);
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(ready_begin(&r, &e), ST_OK);
	assert_int_equal(ready_say(&r, "x", &e), ST_OK);
	/* Another one has it by now. */
	assert_int_equal(ready_say(&other, "y", &e), ST_OK);
	ready_end(&r);
	assert_int_equal(access(file, F_OK), 0);
	ready_end(&other);
	assert_int_equal(access(file, F_OK), -1);
	/* A target that is not a plain file is written into, and stays. */
	char null[] = "/dev/null";
	r.file = null;
	assert_int_equal(ready_begin(&r, &e), ST_OK);
	assert_int_equal(ready_say(&r, "x", &e), ST_OK);
	ready_end(&r);
	assert_int_equal(access("/dev/null", F_OK), 0);
}
