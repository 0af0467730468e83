/* SPDX-License-Identifier: MIT */
#include "cli/quit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
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

void
quit_signal(int sig)
{
	sigset_t set;

	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	/* Every thread of the program may have it blocked. */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	/* Only for signals whose default is to live on. */
	_exit(128 + sig);
}
