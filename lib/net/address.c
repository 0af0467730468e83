/* SPDX-License-Identifier: MIT */
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"

static enum status
address_bad(const char *text, const char *why, struct err *e)
{
	err_set(e, ST_USAGE, "'%.200s' is not an address: %s", text, why);
	err_help(e, "write ipc:///run/me/dsvc, tcp://127.0.0.1:5050 or tcp://127.0.0.1:* (any free port)");
	return ST_USAGE;
}

static enum status
address_parse_tcp(const char *text, const char *rest, struct address *ep, struct err *e)
{
	const char *colon = strrchr(rest, ':');
	if (!colon || colon == rest)
		return address_bad(text, "it has no port", e);
	const char *host = rest;
	size_t host_len = (size_t)(colon - rest);
	if (host[0] == '[') {
		if (host[host_len - 1] != ']')
			return address_bad(text, "`[` without `]`", e);
		host++, host_len -= 2;
	} else if (memchr(host, ':', host_len)) {
		return address_bad(text, "an IPv6 address must be in [ ]", e);
	}
	if (host_len == 0 || host_len >= sizeof ep->host)
		return address_bad(text, "its host is empty or too long", e);
	memcpy(ep->host, host, host_len);
	const char *port = colon + 1;
	int64_t n = 0;
	if (strcmp(port, "*") != 0 && (!str_int(port, strlen(port), &n) || n < 0 || n > 65535 ||
				       strlen(port) >= sizeof ep->port))
		return address_bad(text, "its port is not a number from 1 to 65535", e);
	strcpy(ep->port, strcmp(port, "0") == 0 ? "*" : port);
	return ST_OK;
}

enum status
address_parse(const char *text, struct address *out, struct err *e)
{
	struct address ep;
	memset(&ep, 0, sizeof ep);
	size_t n = strlen(text);
	if (n >= sizeof ep.text)
		return address_bad(text, "it is too long", e);
	memcpy(ep.text, text, n + 1);
	if (str_starts(text, "ipc://")) {
		ep.ipc = true;
		const char *path = text + 6;
		if (!*path)
			return address_bad(text, "it has no path", e);
		if (*path == '@')
			return address_bad(text, "abstract sockets have no owner; use a path", e);
		if (strlen(path) > ADDRESS_PATH_MAX)
			return address_bad(text, "the path of a socket has at most 100 bytes", e);
		strcpy(ep.path, path);
	} else if (str_starts(text, "tcp://")) {
		enum status st = address_parse_tcp(text, text + 6, &ep, e);
		if (st != ST_OK)
			return st;
	} else {
		return address_bad(text, "it begins with neither ipc:// nor tcp://", e);
	}
	*out = ep;
	return ST_OK;
}

/* A name may begin as an address of this machine does, and be anybody's. */
bool
address_local(const struct address *ep)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (ep->ipc || strcmp(ep->host, "localhost") == 0)
		return true;
	if (inet_pton(AF_INET, ep->host, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, ep->host, &v6) != 1)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

void
address_numeric(const struct address *ep, char *out, size_t size)
{
	char host[NI_MAXHOST];
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct in6_addr scratch;
	bool name = !ep->ipc && strcmp(ep->host, "*") != 0 && !if_nametoindex(ep->host) &&
		    inet_pton(AF_INET, ep->host, &scratch) != 1 &&
		    inet_pton(AF_INET6, ep->host, &scratch) != 1;

	snprintf(out, size, "%s", ep->text);
	for (int i = 0; name && !found && i < 2; i++) {
		hints.ai_family = i ? AF_INET6 : AF_INET;
		if (getaddrinfo(ep->host, NULL, &hints, &found) != 0)
			found = NULL;
	}
	if (!found)
		return;
	if (getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, NULL, 0,
			NI_NUMERICHOST) == 0)
		snprintf(out, size, strchr(host, ':') ? "tcp://[%s]:%s" : "tcp://%s:%s", host, ep->port);
	freeaddrinfo(found);
}

/* Whether only this user may enter: a link that someone else put there is none. */
static bool
folder_private(const char *dir)
{
	struct stat s;
	return lstat(dir, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() && !(s.st_mode & 077);
}

/* Its name. Where nobody set XDG_RUNTIME_DIR, as in cron and su, the folder that the
 * user's other sessions have in it is looked for, so that all find one service. */
static void
folder_name(struct buf *out)
{
	const char *run = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	char usual[40];

	buf_reset(out);
	snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
	if (!(run && run[0] == '/'))
		run = folder_private(usual) ? usual : NULL;
	if (run)
		buf_printf(out, "%s/dsvc", run);
	else
		buf_printf(out, "%s/dsvc-%u", tmp && tmp[0] == '/' ? tmp : "/tmp", (unsigned)geteuid());
}

enum status
address_folder(struct buf *out, bool make, struct err *e)
{
	struct stat s;

	folder_name(out);
	const char *dir = (const char *)out->data;
	if (make && mkdir(dir, 0700) != 0 && errno != EEXIST)
		return err_errno(e, "cannot make the folder %s for sockets", dir);
	if (lstat(dir, &s) != 0)
		return !make && errno == ENOENT ? ST_OK : err_errno(e, "cannot look at %s", dir);
	if (!folder_private(dir)) {
		err_set(e, ST_PERM, "the folder %s for sockets is not private", dir);
		err_help(e,
			"it must be a folder of yours with mode 0700; remove it, or set XDG_RUNTIME_DIR or TMPDIR, or name an address "
			"with -b and -d");
		return ST_PERM;
	}
	return ST_OK;
}

enum status
address_private(const char *name, bool make, struct buf *out, struct err *e)
{
	struct buf dir = { 0 };
	enum status st = address_folder(&dir, make, e);
	if (st == ST_OK) {
		buf_reset(out);
		buf_printf(out, "ipc://%s/%s", (char *)dir.data, name);
		if (dir.len + 1 + strlen(name) > ADDRESS_PATH_MAX) {
			st = err_set(e, ST_USAGE, "the path of the private socket is longer than %d bytes",
				     ADDRESS_PATH_MAX);
			err_help(e, "set XDG_RUNTIME_DIR to a shorter path, or name an address with -b and -d");
		}
	}
	buf_clear(&dir);
	return st;
}

enum status
address_fresh(const char *word, struct buf *out, struct err *e)
{
	char name[64];
	snprintf(name, sizeof name, "%s-%ld-%06x", word, (long)getpid(),
		 (unsigned)(rng_seed_fresh() & 0xffffff));
	return address_private(name, true, out, e);
}
