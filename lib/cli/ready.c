/* SPDX-License-Identifier: MIT */
#include "cli/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"

static enum status
ready_write(int fd, const struct buf *line, struct err *e)
{
	ssize_t n;

	do
		n = write(fd, line->data, line->len);
	while (n < 0 && errno == EINTR);
	/* A pipe takes a line whole. */
	if (n == (ssize_t)line->len)
		return ST_OK;
	if (n >= 0)
		errno = ENOSPC;
	return err_errno(e, "cannot say that it is ready");
}

static enum status
ready_file(const char *file, const struct buf *line, struct err *e)
{
	struct buf temp = { 0 };
	enum status st = ST_OK;

	/* Renamed into place: whoever sees the file sees all of it. */
	buf_printf(&temp, "%s.%ld", file, (long)getpid());
	int fd = open((char *)temp.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		st = err_errno(e, "cannot make %s", file);
	} else {
		st = ready_write(fd, line, e);
		close(fd);
		if (st == ST_OK && rename((char *)temp.data, file))
			st = err_errno(e, "cannot make %s", file);
		if (st != ST_OK)
			unlink((char *)temp.data);
	}
	buf_clear(&temp);
	return st;
}

enum status
ready_say(int64_t fd, const char *file, const char *endpoint, struct err *e)
{
	struct buf line = { 0 };
	enum status st = ST_OK;

	buf_printf(&line, "%s\n", endpoint);
	if (fd >= 0) {
		/* Whoever asked may be gone: that is an error, not a death. */
		void (*before)(int) = signal(SIGPIPE, SIG_IGN);
		st = ready_write((int)fd, &line, e);
		signal(SIGPIPE, before);
		if (fd > STDERR_FILENO)
			close((int)fd);
	}
	if (st == ST_OK && file)
		st = ready_file(file, &line, e);
	buf_clear(&line);
	return st;
}

enum status
ready_told(void *ready, const char *endpoint, struct err *e)
{
	const struct ready *r = ready;

	log_say(LOG_INFO, "ready on %s", endpoint);
	return ready_say(r->fd, r->file, endpoint, e);
}
