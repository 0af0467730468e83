/* SPDX-License-Identifier: MIT */
#include "trust/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/replace.h"
#include "net/cert.h"
#include "trust/trust_file.h"

static enum status
key_file_path(const char *path, struct buf *out, struct err *e)
{
	if (!path)
		return trust_path("key", out, e);
	buf_reset(out);
	buf_str(out, path);
	return ST_OK;
}

/* A file without a name until all is in it. Returns the descriptor, or -1. */
static int
key_file_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct buf dir = { 0 };

	buf_put(&dir, path, slash ? (size_t)(slash - path) : 0);
	buf_str(&dir, slash ? (slash == path ? "/" : "") : ".");
	int fd = open((char *)dir.data, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	buf_clear(&dir);
	return fd;
}

enum status
key_file_make(const char *path, const char *name, struct key_pair *out, struct err *e)
{
	struct buf at = { 0 };
	char host[64] = "", made[TRUST_TIME];
	enum status st = key_file_path(path, &at, e);

	if (st == ST_OK && !path)
		st = path_make_folders((char *)at.data, e);
	if (st != ST_OK) {
		buf_clear(&at);
		return st;
	}
	gethostname(host, sizeof host - 1);
	trust_time((int64_t)time(NULL), made);
	int fd = key_file_nameless((char *)at.data);
	if (fd < 0)
		st = err_errno(e, "cannot make %s", (char *)at.data);
	key_pair_new(out);
	if (st == ST_OK && !key_pair_fits(out))
		st = err_set(e, ST_CONFIG, "this libzmq was built without CURVE");
	if (st == ST_OK)
		st = cert_write(fd, out, name ? name : host, made, e);
	if (st == ST_OK && access((char *)at.data, F_OK) == 0) {
		st = err_set(e, ST_CONFIG, "there is a %s, which stays as it is", (char *)at.data);
		err_help(e, "name another file with -o, or move that one away: who knows its key then does not know yours any more");
	}
	if (st == ST_OK)
		st = replace_name(fd, NULL, (char *)at.data, e);
	if (fd >= 0)
		close(fd);
	if (st != ST_OK)
		key_pair_wipe(out);
	buf_clear(&at);
	return st;
}

enum status
key_file_read(const char *path, bool make, struct key_pair *out, char *name, struct err *e)
{
	struct buf at = { 0 };
	char scratch[CERT_NAME_MAX];
	int fd = -1;
	enum status st = key_file_path(path, &at, e);

	if (st == ST_OK)
		st = trust_open((char *)at.data, &fd, e);
	if (st == ST_NOINPUT && make) {
		/* Two programs that are started at once make one: the second reads it. */
		st = key_file_make(path, NULL, out, e);
		if (access((char *)at.data, F_OK) == 0)
			st = trust_open((char *)at.data, &fd, e);
	}
	if (st == ST_OK) {
		st = cert_read(fd, out, name ? name : scratch, e);
		if (st != ST_OK)
			err_wrap(e, "%s", (char *)at.data);
	}
	if (fd >= 0)
		close(fd);
	buf_clear(&at);
	return st;
}
