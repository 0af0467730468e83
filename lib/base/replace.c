/* SPDX-License-Identifier: MIT */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static enum status
replace_failed(struct replace *r, struct err *e)
{
	err_errno(e, "cannot write %s", r->path);
	replace_cancel(r);
	return e->kind = ST_IO;
}

enum status
replace_open(struct replace *r, const char *path, struct err *e)
{
	static atomic_uint number;
	enum status st;

	/* Another thread of this process may be replacing the same file. */
	*r = (struct replace){ .path = mem_strdup(path) };
	r->temporary = mem_printf("%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&number, 1));
	r->fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	/* Left by a process that had the same number and was killed. */
	if (r->fd < 0 && errno == EEXIST && !unlink(r->temporary))
		r->fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (r->fd >= 0)
		return ST_OK;
	st = err_errno(e, "cannot make %s", path);
	mem_free(r->temporary);
	mem_free(r->path);
	*r = (struct replace){ 0 };
	return st;
}

/* A name is safe only when its folder is. Some file systems cannot sync a folder. */
static int
replace_sync_folder(const char *path)
{
	char *copy = mem_strdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	mem_free(copy);
	if (fd < 0)
		return errno == EACCES ? 0 : -1;
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		rc = -1;
	close(fd);
	return rc;
}

enum status
replace_commit(struct replace *r, struct err *e)
{
	int fd = r->fd;

	if (fsync(fd) && errno != EINVAL)
		return replace_failed(r, e);
	r->fd = -1;
	if (close(fd) && errno != EINTR)
		return replace_failed(r, e);
	if (rename(r->temporary, r->path) || replace_sync_folder(r->path))
		return replace_failed(r, e);
	mem_free(r->temporary);
	mem_free(r->path);
	*r = (struct replace){ 0 };
	return ST_OK;
}

void
replace_cancel(struct replace *r)
{
	if (!r->temporary)
		return;
	if (r->fd >= 0)
		close(r->fd);
	unlink(r->temporary);
	mem_free(r->temporary);
	mem_free(r->path);
	*r = (struct replace){ 0 };
}

enum status
replace_file(const char *path, const void *p, size_t n, struct err *e)
{
	struct replace r;
	enum status st = replace_open(&r, path, e);

	for (const uint8_t *at = p; st == ST_OK && n; ) {
		ssize_t got = write(r.fd, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return replace_failed(&r, e);
		at += got;
		n -= (size_t)got;
	}
	return st == ST_OK ? replace_commit(&r, e) : st;
}
