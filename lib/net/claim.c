/* SPDX-License-Identifier: MIT
 *
 * Claiming ipc paths: libzmq unlinks what is in the way of a bind without asking.
 *
 *	claim -> PATH.lock is locked -> bind -> ... -> unbind -> lock file removed
 *
 * Whether a socket file is of a living program is told by its lock alone. That
 * nobody answers there would not tell: between bind and listen connections are
 * refused, and a program that is just starting must not lose its name.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/address.h"
#include "net/net_inner.h"

#define CLAIM_LOCK ".lock"
enum { CLAIM_TRIES = 10, CLAIM_PAUSE_MS = 5, SWEEP_MOST = 4000 };

static enum status
claim_live(const struct address *ep, struct err *e)
{
	err_set(e, ST_UNAVAIL, "cannot bind %s: another program listens there", ep->text);
	err_help(e, "use that one, stop it first, or bind another address with -b");
	return ST_UNAVAIL;
}

/* Whether the file that was opened still has this name. */
static bool
claim_named(int fd, const char *name)
{
	struct stat a, b;
	return fstat(fd, &a) == 0 && stat(name, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Takes the lock file beside the socket. It is unlinked by its holder at the
 * end, so the one that is locked must still be the one that has the name. A
 * sweep may have it for a moment. */
static enum status
claim_lock(const struct address *ep, int *out, struct err *e)
{
	char name[ADDRESS_MAX + 8];
	snprintf(name, sizeof name, "%s" CLAIM_LOCK, ep->path);
	for (int tries = 0; tries < CLAIM_TRIES; tries++) {
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0) {
			err_errno(e, "cannot bind %s", ep->text);
			return e ? (e->kind = e->kind == ST_NOINPUT ? ST_CONFIG : e->kind) : ST_CONFIG;
		}
		bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
		if (locked && claim_named(fd, name)) {
			*out = fd;
			return ST_OK;
		}
		close(fd);
		if (!locked)
			nanosleep(&(struct timespec){ .tv_nsec = CLAIM_PAUSE_MS * 1000000L }, NULL);
	}
	return claim_live(ep, e);
}

static void
claim_drop(const struct address *ep, int *fd)
{
	char name[ADDRESS_MAX + 8];

	snprintf(name, sizeof name, "%s" CLAIM_LOCK, ep->path);
	unlink(name);
	close(*fd);
	*fd = -1;
}

enum status
address_claim(const struct address *ep, int *fd, struct err *e)
{
	*fd = -1;
	if (!ep->ipc)
		return ST_OK;
	enum status st = claim_lock(ep, fd, e);
	if (st != ST_OK)
		return st;
	struct stat s;
	if (lstat(ep->path, &s) != 0)
		return ST_OK;
	if (!S_ISSOCK(s.st_mode)) {
		err_set(e, ST_CONFIG, "cannot bind %s: a file of that name exists that is not a socket", ep->text);
		err_help(e, "remove it or bind another address with -b");
		st = ST_CONFIG;
	} else if (probe_unix(ep->path, clock_mono_ns() + 500000000) != ECONNREFUSED) {
		st = claim_live(ep, e);
	} else {
		unlink(ep->path);
	}
	if (st != ST_OK)
		claim_drop(ep, fd);
	return st;
}

void
address_release(const struct address *ep, int *fd)
{
	struct stat s;

	if (*fd < 0)
		return;
	/* Nobody else has bound it while the lock is ours. */
	if (lstat(ep->path, &s) == 0 && S_ISSOCK(s.st_mode))
		unlink(ep->path);
	claim_drop(ep, fd);
}

/* Removes a socket and its lock file, unless somebody has the lock. */
static void
sweep_one(const char *path)
{
	char name[ADDRESS_MAX + 8];
	snprintf(name, sizeof name, "%s" CLAIM_LOCK, path);
	int fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		/* Ours have a lock before they are bound and until they are gone. */
		if (errno == ENOENT && probe_unix(path, clock_mono_ns() + 50000000) == ECONNREFUSED)
			unlink(path);
		return;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && claim_named(fd, name)) {
		unlink(path);
		unlink(name);
	}
	close(fd);
}

void
address_sweep(const char *word)
{
	struct buf dir = { 0 };
	DIR *d = NULL;
	if (address_folder(&dir, false, NULL) == ST_OK)
		d = opendir((char *)dir.data);
	size_t n = strlen(word), end = strlen(CLAIM_LOCK);
	struct dirent *f;
	for (int i = 0; d && i < SWEEP_MOST && (f = readdir(d)); i++) {
		char path[ADDRESS_MAX];
		struct stat s;
		if (strncmp(f->d_name, word, n) != 0 || (f->d_name[n] && !strchr("-.", f->d_name[n])))
			continue;
		int len = snprintf(path, sizeof path, "%s/%s", (char *)dir.data, f->d_name);
		if (len >= (int)sizeof path || lstat(path, &s) != 0)
			continue;
		bool lock = (size_t)len > end && strcmp(path + len - end, CLAIM_LOCK) == 0;
		if (lock && S_ISREG(s.st_mode))
			path[(size_t)len - end] = '\0';
		if ((lock && S_ISREG(s.st_mode)) || S_ISSOCK(s.st_mode))
			sweep_one(path);
	}
	if (d)
		closedir(d);
	buf_clear(&dir);
}
