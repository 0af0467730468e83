/* SPDX-License-Identifier: MIT */
#include "cli/quit.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum status
quit_failed(struct err *e)
{
	if (errno == EPIPE)
		quit_signal(SIGPIPE);
	/* Not err_errno: a write that is not allowed is a failed write. */
	err_errno(e, "cannot write to standard output");
	if (e)
		e->kind = ST_IO;
	return ST_IO;
}

enum status
quit_write(const struct buf *b, struct err *e)
{
	if (b->len && fwrite(b->data, 1, b->len, stdout) != b->len)
		return quit_failed(e);
	return ST_OK;
}

enum status
quit_flush(struct err *e)
{
	/* An error flag without errno: an earlier write failed unseen. */
	if (ferror(stdout) && errno == 0)
		errno = EIO;
	if (fflush(stdout) || ferror(stdout))
		return quit_failed(e);
	return ST_OK;
}

enum status
quit_say(const struct buf *b, struct err *e)
{
	enum status st = quit_write(b, e);

	return st == ST_OK ? quit_flush(e) : st;
}

/* No log_say: this may run in a signal handler. */
static void
quit_late(void)
{
	const char *program = program_invocation_short_name;
	static const char text[] = ": --timeout expired\n";

	if (write(STDERR_FILENO, program, strlen(program)) < 0 ||
	    write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(QUIT_LATE); /* nobody to tell */
	_exit(QUIT_LATE);
}

static const char *_Atomic quit_path;

void
quit_removes(const char *path)
{
	atomic_store(&quit_path, path);
}

void
quit_signal(int sig)
{
	sigset_t set;
	const char *path = atomic_load(&quit_path);

	if (path)
		unlink(path);

	if (sig == SIGALRM)
		quit_late();

	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	/* Every thread of the program may have it blocked. */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	/* Only for signals whose default is to live on. */
	_exit(128 + sig);
}
