/* SPDX-License-Identifier: MIT */
#include "cli/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/replace.h"

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
	return err_errno(e, "cannot report that it is ready");
}

char *
ready_key_path(const char *file)
{
	return mem_printf("%s.dsvc-key", file);
}

static bool
ready_is_plain(const char *file)
{
	struct stat s;

	return lstat(file, &s) ? errno == ENOENT : S_ISREG(s.st_mode);
}

/* A FIFO waits here for its reader, as it would for any writer. */
static enum status
ready_device(const char *file, const struct buf *line, struct err *e)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_errno(e, "cannot open %s", file);
	enum status st = ready_write(fd, line, e);
	close(fd);
	return st;
}

/* Whoever sees the file sees all of it. mask: the modes that it may have, besides what the umask says. */
static enum status
ready_put(const char *path, const struct buf *line, mode_t mask, struct stat *s, struct err *e)
{
	struct replace file;

	gate_lift(true); /* the owner named it */
	enum status st = replace_open(&file, path, e);
	if (st == ST_OK) {
		fstat(file.fd, s);
		if (s->st_mode & 0777 & ~mask)
			fchmod(file.fd, s->st_mode & mask);
		st = replace_write(&file, line->data, line->len, e);
	}
	if (st == ST_OK)
		st = replace_commit(&file, e);
	gate_lift(false);
	return st;
}

static enum status
ready_file(struct ready *r, const struct buf *line, const char *key, struct err *e)
{
	struct stat s = { 0 }, of_key;
	struct buf text = { 0 };
	char *path;
	enum status st = ST_OK;

	if (!ready_is_plain(r->file))
		return ready_device(r->file, line, e);
	if (key) { /* first: with the file itself all is there */
		buf_printf(&text, "%s\n", key);
		path = ready_key_path(r->file);
		st = ready_put(path, &text, 0755, &of_key, e);
		mem_free(path);
		buf_clear(&text);
	}
	if (st == ST_OK)
		st = ready_put(r->file, line, 0777, &s, e);
	if (st == ST_OK)
		r->device = s.st_dev, r->inode = s.st_ino;
	return st;
}

static void
ready_drop_key(const char *file)
{
	char *path = ready_key_path(file);

	if (ready_is_plain(path))
		unlink(path);
	mem_free(path);
}

enum status
ready_begin(const struct ready *r, struct err *e)
{
	if (r->file && ready_is_plain(r->file) && unlink(r->file) && errno != ENOENT)
		return err_errno(e, "cannot remove %s, of an earlier run", r->file);
	if (r->file)
		ready_drop_key(r->file);
	return ST_OK;
}

static enum status
ready_say_with(struct ready *r, const char *endpoint, const char *key, struct err *e)
{
	struct buf line = { 0 };
	enum status st = ST_OK;

	buf_printf(&line, "%s\n", endpoint);
	/* Whoever asked may be gone: that is an error, not a death. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	/* First, so that whoever is told by the descriptor finds the file there. */
	if (r->file)
		st = ready_file(r, &line, key, e);
	if (st == ST_OK && r->fd >= 0) {
		st = ready_write((int)r->fd, &line, e);
		if (r->fd > STDERR_FILENO)
			close((int)r->fd);
	}
	signal(SIGPIPE, before);
	buf_clear(&line);
	return st;
}

enum status
ready_say(struct ready *r, const char *endpoint, struct err *e)
{
	return ready_say_with(r, endpoint, NULL, e);
}

void
ready_end(const struct ready *r)
{
	struct stat s;

	if (!r->inode || lstat(r->file, &s) || s.st_dev != r->device || s.st_ino != r->inode)
		return;
	unlink(r->file);
	ready_drop_key(r->file);
}

enum status
ready_told_with(void *ready, const char *endpoint, const char *key, const char *words, struct err *e)
{
	log_say(LOG_INFO, "ready on %s%s", endpoint, words);
	return ready_say_with(ready, endpoint, key, e);
}

enum status
ready_told(void *ready, const char *endpoint, struct err *e)
{
	return ready_told_with(ready, endpoint, NULL, "", e);
}
