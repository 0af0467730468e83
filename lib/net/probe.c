/* SPDX-License-Identifier: MIT
 *
 * Looking whether somebody listens, and claiming ipc paths: what libzmq does
 * not tell (it connects for ever, and unlinks what is in the way of a bind).
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "net/address.h"

/* Connects within the time left; 0 or errno. */
static int
probe_connect(const struct sockaddr *a, socklen_t len, int64_t until_ns, int *out)
{
	int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	int error = connect(fd, a, len) == 0 ? 0 : errno;
	while (error == EINPROGRESS || error == EAGAIN || error == EINTR) {
		int64_t left = (until_ns - clock_mono_ns()) / 1000000;
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		if (left <= 0 || poll(&p, 1, error == EAGAIN ? 20 : (int)left) == 0) {
			if (left <= 0 || error != EAGAIN) {
				error = ETIMEDOUT;
				break;
			}
		}
		if (error == EAGAIN) { /* a unix socket whose queue is full: alive but busy */
			error = connect(fd, a, len) == 0 ? 0 : errno;
			continue;
		}
		socklen_t n = sizeof error;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
			error = errno;
		if (error == EINTR)
			error = EINPROGRESS;
	}
	if (error || !out)
		close(fd);
	else
		*out = fd;
	return error;
}

static int
probe_unix(const char *path, int64_t until_ns)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof a.sun_path)
		return ENAMETOOLONG;
	strcpy(a.sun_path, path);
	return probe_connect((struct sockaddr *)&a, sizeof a, until_ns, NULL);
}

static void
probe_local(int fd, char *local, size_t local_size)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof a;
	char text[INET6_ADDRSTRLEN] = "127.0.0.1";
	if (getsockname(fd, (struct sockaddr *)&a, &n) == 0) {
		if (a.ss_family == AF_INET)
			inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, text, sizeof text);
		else if (a.ss_family == AF_INET6)
			inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, text, sizeof text);
	}
	snprintf(local, local_size, strchr(text, ':') ? "[%s]" : "%s", text);
}

static enum status
probe_tcp(const struct address *ep, int64_t until_ns, char *local, size_t local_size,
	  struct err *e)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	const char *host = strcmp(ep->host, "*") == 0 ? "127.0.0.1" : ep->host;
	int rc = getaddrinfo(host, ep->port, &hints, &list);
	if (rc != 0)
		return err_set(e, ST_UNAVAIL, "%s", gai_strerror(rc));
	int error = ECONNREFUSED, fd = -1;
	for (struct addrinfo *a = list; a; a = a->ai_next) {
		error = probe_connect(a->ai_addr, a->ai_addrlen, until_ns, &fd);
		if (error == 0)
			break;
	}
	freeaddrinfo(list);
	if (error)
		return err_set(e, ST_UNAVAIL, "%s", error == ECONNREFUSED ? "connection refused" :
			       error == ETIMEDOUT ? "no answer in time" : strerror(error));
	if (local)
		probe_local(fd, local, local_size);
	close(fd);
	return ST_OK;
}

enum status
address_probe(const struct address *ep, int timeout_ms, char *local, size_t local_size,
	       struct err *e)
{
	int64_t until = clock_mono_ns() + (int64_t)timeout_ms * 1000000;
	if (local && local_size)
		*local = '\0';
	if (!ep->ipc)
		return probe_tcp(ep, until, local, local_size, e);
	int error = probe_unix(ep->path, until);
	switch (error) {
	case 0:
		return ST_OK;
	case ENOENT:
		return err_set(e, ST_UNAVAIL, "there is no such socket");
	case ECONNREFUSED:
		return err_set(e, ST_UNAVAIL, "connection refused");
	case ETIMEDOUT:
		return err_set(e, ST_UNAVAIL, "no answer in time");
	case EACCES:
	case EPERM:
		return err_set(e, ST_PERM, "%s", strerror(error));
	default:
		return err_set(e, ST_UNAVAIL, "%s", strerror(error));
	}
}

static enum status
claim_live(const struct address *ep, struct err *e)
{
	err_set(e, ST_UNAVAIL, "cannot bind %s: another program listens there", ep->text);
	err_help(e, "use that one, stop it first, or bind another address with -b");
	return ST_UNAVAIL;
}

/* Takes the lock file beside the socket. It is unlinked by its holder at the
 * end, so the one that is locked must still be the one that has the name. */
static enum status
claim_lock(const struct address *ep, int *out, struct err *e)
{
	char name[ADDRESS_MAX + 8];
	snprintf(name, sizeof name, "%s.lock", ep->path);
	for (int tries = 0; tries < 100; tries++) {
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0) {
			err_errno(e, "cannot bind %s", ep->text);
			return e ? (e->kind = e->kind == ST_NOINPUT ? ST_CONFIG : e->kind) : ST_CONFIG;
		}
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			close(fd);
			return claim_live(ep, e);
		}
		struct stat a, b;
		if (fstat(fd, &a) == 0 && stat(name, &b) == 0 && a.st_ino == b.st_ino) {
			*out = fd;
			return ST_OK;
		}
		close(fd);
	}
	return claim_live(ep, e);
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
		err_set(e, ST_CONFIG, "cannot bind %s: there is a file of that name that is no socket", ep->text);
		err_help(e, "remove it or bind another address with -b");
		st = ST_CONFIG;
	} else if (probe_unix(ep->path, clock_mono_ns() + 500000000) != ECONNREFUSED) {
		st = claim_live(ep, e);
	} else {
		unlink(ep->path);
	}
	if (st != ST_OK)
		address_release(ep, fd);
	return st;
}

void
address_release(const struct address *ep, int *fd)
{
	if (*fd < 0)
		return;
	char name[ADDRESS_MAX + 8];
	snprintf(name, sizeof name, "%s.lock", ep->path);
	unlink(name);
	close(*fd);
	*fd = -1;
}

void
address_sweep(const char *word)
{
	enum { SWEEP_MOST = 1000 };
	struct buf dir = { 0 };
	DIR *d = NULL;
	if (address_folder(&dir, NULL) == ST_OK)
		d = opendir((char *)dir.data);
	size_t n = strlen(word);
	struct dirent *f;
	for (int i = 0; d && i < SWEEP_MOST && (f = readdir(d)); i++) {
		char path[ADDRESS_MAX];
		if (strncmp(f->d_name, word, n) != 0 || f->d_name[n] != '-' ||
		    snprintf(path, sizeof path, "%s/%s", (char *)dir.data, f->d_name) >=
			    (int)sizeof path)
			continue;
		struct stat s;
		if (lstat(path, &s) == 0 && S_ISSOCK(s.st_mode) &&
		    probe_unix(path, clock_mono_ns() + 50000000) == ECONNREFUSED)
			unlink(path);
	}
	if (d)
		closedir(d);
	buf_clear(&dir);
}
