/* SPDX-License-Identifier: MIT */
#include "trust/trust_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/path.h"
#include "base/replace.h"

enum { TRUST_LOCK_MS = 5000 };

enum status
trust_path(const char *name, struct buf *out, struct err *e)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	buf_reset(out);
	if (config && config[0] == '/') {
		buf_printf(out, "%s/dsvc/%s", config, name);
		return ST_OK;
	}
	if (!home || home[0] != '/') {
		const struct passwd *p = getpwuid(geteuid());
		home = p ? p->pw_dir : NULL;
	}
	if (!home || home[0] != '/') {
		err_set(e, ST_CONFIG, "nothing says where the home folder is, which has the keys");
		err_help(e, "set HOME or XDG_CONFIG_HOME");
		return ST_CONFIG;
	}
	buf_printf(out, "%s/.config/dsvc/%s", home, name);
	return ST_OK;
}

/* Whether others can write in the folder, and so put another file there. */
static enum status
trust_judge_folder(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	struct buf dir = { 0 };
	struct stat s;
	enum status st = ST_OK;

	buf_put(&dir, path, slash ? (size_t)(slash - path) : 0);
	buf_str(&dir, slash ? (slash == path ? "/" : "") : ".");
	const char *name = (char *)dir.data;
	if (stat(name, &s) != 0) {
		st = err_errno(e, "cannot look at %s", name);
	} else if ((s.st_uid != geteuid() && s.st_uid != 0) || (s.st_mode & 022)) {
		st = err_set(e, ST_CONFIG, "others can write in %s (%04o), where keys are", name, s.st_mode & 07777);
		err_help(e, "chmod 700 %s", name);
	}
	buf_clear(&dir);
	return st;
}

static enum status
trust_judge(const char *path, int fd, struct err *e)
{
	struct stat s;

	if (fstat(fd, &s) != 0)
		return err_errno(e, "cannot look at %s", path);
	if (!S_ISREG(s.st_mode))
		return err_set(e, ST_CONFIG, "%s is not a file", path);
	if (s.st_uid != geteuid() && s.st_uid != 0) {
		err_set(e, ST_CONFIG, "%s is another user's", path);
		err_help(e, "remove it, or be that user");
		return ST_CONFIG;
	}
	/* A file of root's may be read by one group: so secrets are mounted in containers that are not root. */
	if (s.st_mode & (s.st_uid == 0 && geteuid() != 0 ? 037 : 077)) {
		err_set(e, ST_CONFIG, "%s can be read by others (%04o)", path, s.st_mode & 07777);
		err_help(e, "chmod 600 %s", path);
		return ST_CONFIG;
	}
	return trust_judge_folder(path, e);
}

enum status
trust_open(const char *path, int *fd, struct err *e)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (*fd < 0 && errno == ENOENT)
		return err_set(e, ST_NOINPUT, "there is no %s", path);
	if (*fd < 0)
		return err_errno(e, "cannot open %s", path);
	enum status st = trust_judge(path, *fd, e);
	if (st != ST_OK) {
		close(*fd);
		*fd = -1;
	}
	return st;
}

enum status
trust_read(const char *path, struct buf *out, struct err *e)
{
	int fd;
	enum status st = trust_open(path, &fd, e);

	buf_reset(out);
	if (st != ST_OK)
		return st;
	for (;;) {
		uint8_t *p = buf_room(out, 4096);
		ssize_t n = read(fd, p, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			st = err_errno(e, "cannot read %s", path);
		if (n <= 0)
			break;
		out->len += (size_t)n;
		if (out->len > TRUST_FILE_MAX) {
			st = err_set(e, ST_CONFIG, "%s has more than %d MiB", path, TRUST_FILE_MAX >> 20);
			break;
		}
	}
	close(fd);
	buf_str(out, ""); /* a NUL behind */
	return st;
}

static enum status
trust_lock(const char *path, int *fd, struct err *e)
{
	struct buf name = { 0 };
	int64_t until = clock_mono_ns() + TRUST_LOCK_MS * 1000000LL;

	buf_printf(&name, "%s.lock", path);
	*fd = open((char *)name.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	enum status st = *fd < 0 ? err_errno(e, "cannot open %s", (char *)name.data) : ST_OK;
	while (st == ST_OK && flock(*fd, LOCK_EX | LOCK_NB) != 0) {
		if (clock_mono_ns() > until) {
			st = err_set(e, ST_TEMP, "another program is writing %s", path);
			close(*fd);
		} else {
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		}
	}
	buf_clear(&name);
	return st;
}

enum status
trust_edit(const char *path,
	   enum status (*edit)(void *arg, const char *now, size_t n, struct buf *out, struct err *e),
	   void *arg, struct err *e)
{
	struct buf now = { 0 }, out = { 0 };
	int lock = -1;
	enum status st = path_make_folders(path, e);

	if (st == ST_OK)
		st = trust_lock(path, &lock, e);
	if (st != ST_OK)
		return st;
	st = trust_read(path, &now, e);
	if (st == ST_NOINPUT)
		st = ST_OK;
	if (st == ST_OK)
		st = edit(arg, now.data ? (char *)now.data : "", now.len, &out, e);
	if (st == ST_OK)
		st = replace_file_mode(path, 0600, out.data, out.len, e);
	close(lock);
	buf_clear(&now);
	buf_clear(&out);
	return st == ST_SKIP ? ST_OK : st;
}

void
trust_time(int64_t s, char out[TRUST_TIME])
{
	time_t t = (time_t)s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(out, TRUST_TIME, "%Y-%m-%dT%H:%MZ", &tm))
		snprintf(out, TRUST_TIME, "never");
}

bool
trust_time_parse(const char *text, size_t n, int64_t *out)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d" };
	char copy[TRUST_TIME];

	if (n >= sizeof copy || memchr(text, '\0', n))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tm tm = { 0 };
		const char *end = strptime(copy, forms[i], &tm);
		if (end && !*end && tm.tm_year < 8000) {
			*out = (int64_t)timegm(&tm);
			return true;
		}
	}
	return false;
}

bool
trust_name_ok(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return n > 0 && n <= TRUST_NAME_MAX;
}

enum status
trust_name_check(const char *name, struct err *e)
{
	if (!name || trust_name_ok(name, strlen(name)))
		return ST_OK;
	return err_set(e, ST_USAGE, "a name has 1 to %d printable letters", TRUST_NAME_MAX);
}

bool
trust_word(const char **at, const char *end, const char **word, size_t *n)
{
	while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
		++*at;
	*word = *at;
	while (*at < end && **at != ' ' && **at != '\t' && **at != '\r')
		++*at;
	*n = (size_t)(*at - *word);
	return *n > 0;
}
