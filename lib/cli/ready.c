/* SPDX-License-Identifier: MIT */
#include "cli/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

static bool
ready_is_plain(const char *file)
{
	struct stat s;

	return lstat(file, &s) ? errno == ENOENT : S_ISREG(s.st_mode);
}

static enum status
ready_close(int fd, const struct buf *line, enum status st, struct err *e)
{
	if (st == ST_OK)
		st = ready_write(fd, line, e);
	close(fd);
	return st;
}

/* A FIFO waits here for its reader, as it would for any writer. */
static enum status
ready_device(const char *file, const struct buf *line, struct err *e)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? err_errno(e, "cannot open %s", file) : ready_close(fd, line, ST_OK, e);
}

static enum status
ready_file(struct ready *r, const struct buf *line, struct err *e)
{
	struct buf temp = { 0 };
	struct stat s = { 0 };
	enum status st = ST_OK;

	if (!ready_is_plain(r->file))
		return ready_device(r->file, line, e);
	/* Renamed into place: whoever sees the file sees all of it. */
	buf_printf(&temp, "%s.%ld", r->file, (long)getpid());
	int fd = open((char *)temp.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || fstat(fd, &s)) {
		st = err_errno(e, "cannot make %s", r->file);
	} else {
		st = ready_close(fd, line, st, e);
		if (st == ST_OK && rename((char *)temp.data, r->file))
			st = err_errno(e, "cannot make %s", r->file);
		if (st != ST_OK)
			unlink((char *)temp.data);
	}
	if (st == ST_OK)
		r->device = s.st_dev, r->inode = s.st_ino;
	buf_clear(&temp);
	return st;
}

enum status
ready_begin(const struct ready *r, struct err *e)
{
	if (r->file && ready_is_plain(r->file) && unlink(r->file) && errno != ENOENT)
		return err_errno(e, "cannot remove %s, of an earlier run", r->file);
	return ST_OK;
}

enum status
ready_say(struct ready *r, const char *endpoint, struct err *e)
{
	struct buf line = { 0 };
	enum status st = ST_OK;

	buf_printf(&line, "%s\n", endpoint);
	/* Whoever asked may be gone: that is an error, not a death. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	if (r->fd >= 0) {
		st = ready_write((int)r->fd, &line, e);
		if (r->fd > STDERR_FILENO)
			close((int)r->fd);
	}
	if (st == ST_OK && r->file)
		st = ready_file(r, &line, e);
	signal(SIGPIPE, before);
	buf_clear(&line);
	return st;
}

void
ready_end(const struct ready *r)
{
	struct stat s;

	if (r->inode && !lstat(r->file, &s) && s.st_dev == r->device && s.st_ino == r->inode)
		unlink(r->file);
}

enum status
ready_told(void *ready, const char *endpoint, struct err *e)
{
	log_say(LOG_INFO, "ready on %s", endpoint);
	return ready_say(ready, endpoint, e);
}
