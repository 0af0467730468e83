/* SPDX-License-Identifier: MIT */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/transfer.h"

enum { REPLACE_TRIES = 100 };

/* Closes the temporary file, and removes it unless it has its name. */
static void
replace_end(struct replace *r, bool named)
{
	if (r->fd >= 0)
		close(r->fd);
	if (!named)
		gate_unlink(r->temporary);
	mem_free(r->temporary);
	mem_free(r->path);
	*r = (struct replace){ 0 };
}

enum status
replace_open(struct replace *r, const char *path, struct err *e)
{
	static atomic_uint number;
	enum status st;

	*r = (struct replace){ .path = mem_strdup(path), .fd = -1 };
	/* Tries the next number: a file of this name may belong to a process on another machine. */
	for (int tries = 0; r->fd < 0 && (!tries || errno == EEXIST) && tries < REPLACE_TRIES; tries++) {
		mem_free(r->temporary);
		r->temporary = mem_printf("%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&number, 1));
		r->fd = gate_open(GATE_WRITE, r->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
	}
	if (r->fd >= 0)
		return ST_OK;
	st = err_errno(e, "cannot make %s", path);
	mem_free(r->temporary);
	mem_free(r->path);
	*r = (struct replace){ 0 };
	return st;
}

/* Syncs the folder of a file, without which the name may be lost. Some file systems cannot. */
static int
replace_sync_folder(const char *path)
{
	char *copy = mem_strdup(path);
	int fd = gate_open(GATE_WRITE, dirname(copy), O_RDONLY | O_DIRECTORY, 0), rc = 0;

	mem_free(copy);
	if (fd < 0)
		return errno == EACCES ? 0 : -1;
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		rc = -1;
	close(fd);
	return rc;
}

enum status
replace_name(int fd, const char *temporary, const char *path, struct err *e)
{
	if ((!fsync(fd) || errno == EINVAL) &&
	    !(temporary ? gate_rename(temporary, path) : gate_link(fd, path) && errno != EEXIST) && !replace_sync_folder(path))
		return ST_OK;
	err_errno(e, "cannot write %s", path);
	return e->kind = ST_IO;
}

enum status
replace_write(struct replace *r, const void *p, size_t n, struct err *e)
{
	if (transfer_write(r->fd, p, n))
		return ST_OK;
	err_errno(e, "cannot write %s", r->path);
	replace_end(r, false);
	return e->kind = ST_IO;
}

enum status
replace_commit(struct replace *r, struct err *e)
{
	enum status st = replace_name(r->fd, r->temporary, r->path, e);

	replace_end(r, st == ST_OK);
	return st;
}

void
replace_cancel(struct replace *r)
{
	if (r->temporary)
		replace_end(r, false);
}

enum status
replace_file(const char *path, const void *p, size_t n, struct err *e)
{
	struct replace r;
	enum status st = replace_open(&r, path, e);

	if (st == ST_OK)
		st = replace_write(&r, p, n, e);
	return st == ST_OK ? replace_commit(&r, e) : st;
}

enum status
replace_save(const char *path, const char *what, const void *p, size_t n, struct err *e)
{
	if (replace_file(path, p, n, e) == ST_OK)
		return ST_OK;
	err_wrap(e, "cannot save %s", what);
	return e->kind = ST_IO;
}

enum status
replace_file_mode(const char *path, mode_t mode, const void *p, size_t n, struct err *e)
{
	struct replace r;
	enum status st = replace_open(&r, path, e);

	if (st == ST_OK && fchmod(r.fd, mode) != 0) {
		st = err_errno(e, "cannot write %s", path);
		replace_cancel(&r);
	}
	if (st == ST_OK)
		st = replace_write(&r, p, n, e);
	return st == ST_OK ? replace_commit(&r, e) : st;
}
