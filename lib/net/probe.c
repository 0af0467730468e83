/* SPDX-License-Identifier: MIT
 *
 * Looking whether somebody listens: what libzmq does not tell, for it connects
 * for ever.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/address.h"
#include "net/net_inner.h"

/* A greeting of ZMTP 3 (https://rfc.zeromq.org/spec/23/): FF, eight bytes, one that is odd; the version, two bytes;
 * the mechanism, filled up with zeros. */
enum {
	PROBE_SIGNATURE = 10, PROBE_VERSION = 10, PROBE_MECHANISM = 12, PROBE_MECHANISM_LEN = 20,
	PROBE_GREETING = PROBE_MECHANISM + PROBE_MECHANISM_LEN, PROBE_PATIENCE_MS = 250
};

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
probe_path(const char *path, int64_t until_ns, int *out)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof a.sun_path)
		return ENAMETOOLONG;
	strcpy(a.sun_path, path);
	return probe_connect((struct sockaddr *)&a, sizeof a, until_ns, out);
}

int
probe_unix(const char *path, int64_t until_ns)
{
	return probe_path(path, until_ns, NULL);
}

/* Receives until there are `want` bytes. False: it hung up; *n is less: it is silent. */
static bool
probe_receive(int fd, int64_t until_ns, uint8_t *got, size_t *n, size_t want)
{
	while (*n < want) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = (until_ns - clock_mono_ns() + 999999) / 1000000;
		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return true;
		ssize_t took = recv(fd, got + *n, want - *n, 0);
		if (took < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (took <= 0)
			return false;
		*n += (size_t)took;
		if (got[0] != 0xff)
			break;
	}
	return true;
}

/* libzmq says how it speaks once it has seen our version. It never sees more of us than that: as
 * soon as it knows that we speak otherwise it hangs up, often before its own greeting is sent, and who
 * connects by libzmq then cannot tell why. */
static enum address_speech
probe_speech(int fd, int64_t until_ns, uint8_t got[PROBE_GREETING], size_t n)
{
	static const uint8_t ours[] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3 };
	static const char clear[PROBE_MECHANISM_LEN] = "NULL", keyed[PROBE_MECHANISM_LEN] = "CURVE";

	if (send(fd, ours, sizeof ours, MSG_NOSIGNAL) != sizeof ours)
		return ADDRESS_UNTOLD;
	probe_receive(fd, until_ns, got, &n, PROBE_GREETING);
	if (n < PROBE_GREETING || got[PROBE_VERSION] < 3)
		return ADDRESS_UNTOLD;
	if (memcmp(got + PROBE_MECHANISM, clear, sizeof clear) == 0)
		return ADDRESS_CLEAR;
	return memcmp(got + PROBE_MECHANISM, keyed, sizeof keyed) == 0 ? ADDRESS_KEYED : ADDRESS_UNTOLD;
}

/* Looks at the first bytes, which libzmq sends without being asked. Silence is no answer: a
 * dispatcher that is stopped or busy is silent too. ST_PROTO: they are others; ST_UNAVAIL: it hung up. */
static enum status
probe_greeting(int fd, int64_t until_ns, enum address_speech *speech, struct err *e)
{
	uint8_t got[PROBE_GREETING] = { 0 };
	size_t n = 0;
	int64_t patience = clock_mono_ns() + PROBE_PATIENCE_MS * 1000000LL;
	if (until_ns > patience)
		until_ns = patience;
	bool there = probe_receive(fd, until_ns, got, &n, PROBE_SIGNATURE);
	if (!there && n == 0)
		return err_set(e, ST_UNAVAIL, "it hangs up");
	if (n == PROBE_SIGNATURE && got[0] == 0xff && got[9] & 1) {
		*speech = probe_speech(fd, until_ns, got, n);
		return ST_OK;
	}
	if (there && (n == 0 || got[0] == 0xff) && n < PROBE_SIGNATURE)
		return ST_OK;
	return err_set(e, ST_PROTO, "another kind of program answers there");
}

enum { PROBE_HOST = sizeof ((struct address *)0)->host };

static void
probe_host(const struct sockaddr_storage *a, char out[PROBE_HOST])
{
	snprintf(out, PROBE_HOST, "127.0.0.1");
	if (a->ss_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, out, PROBE_HOST);
	else if (a->ss_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)a)->sin6_addr, out, PROBE_HOST);
}

/* Where both ends are. To one of its own addresses a machine connects from the same one, or over loopback. */
static void
probe_ends(int fd, struct address_answer *out)
{
	struct sockaddr_storage here = { 0 }, there = { 0 };
	socklen_t n = sizeof here, m = sizeof there;
	struct address peer = { 0 };
	char local[PROBE_HOST];

	getsockname(fd, (struct sockaddr *)&here, &n);
	getpeername(fd, (struct sockaddr *)&there, &m);
	probe_host(&here, local);
	probe_host(&there, peer.host);
	snprintf(out->local, sizeof out->local, strchr(local, ':') ? "[%s]" : "%s", local);
	out->away = strcmp(local, peer.host) != 0 && !address_local(&peer);
}

static enum status
probe_tcp(const struct address *ep, int64_t until_ns, struct address_answer *out, struct err *e)
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
	probe_ends(fd, out);
	enum status st = probe_greeting(fd, until_ns, &out->speech, e);
	close(fd);
	return st;
}

enum status
address_probe(const struct address *ep, int timeout_ms, struct address_answer *out, struct err *e)
{
	int64_t until = clock_mono_ns() + (int64_t)timeout_ms * 1000000;
	struct address_answer unused;
	out = out ? out : &unused;
	*out = (struct address_answer){ .speech = ADDRESS_UNTOLD };
	if (!ep->ipc)
		return probe_tcp(ep, until, out, e);
	int fd = -1, error = probe_path(ep->path, until, &fd);
	enum status st;
	switch (error) {
	case 0:
		st = probe_greeting(fd, until, &out->speech, e);
		close(fd);
		return st;
	case ENOENT:
		return err_set(e, ST_UNAVAIL, "nothing is listening there");
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
