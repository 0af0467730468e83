/* SPDX-License-Identifier: MIT */
#include "base/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/param.h"
#include "base/path.h"
#include "base/trace.h"

enum { GATE_TRIES = 100 };

/* A file or folder below which the gate lets through. */
struct gate_root {
	char *said;  /* the name that the owner gave, absolute and without double slashes */
	char *real;  /* without links, too */
	int dir;     /* the folder; of a file the folder that it lies in */
	char *file;  /* its name there; NULL: the root is a folder */
};

struct gate_side {
	atomic_bool closed;
	struct gate_root *v;
	size_t n;
};

/* Written before there are threads, then only read; a side may be shut later. */
static struct gate_side gate_sides[2];

static const struct { const char *option, *verb; } gate_words[2] = {
	[GATE_READ] = { "--allow-read", "read" }, [GATE_WRITE] = { "--allow-write", "write" },
};

static _Thread_local bool gate_lifted;

void
gate_shut(enum gate side)
{
	atomic_store(&gate_sides[side].closed, true);
}

void
gate_lift(bool lifted)
{
	gate_lifted = lifted;
}

bool
gate_is_open(enum gate side)
{
	return !atomic_load_explicit(&gate_sides[side].closed, memory_order_relaxed) || gate_lifted;
}

bool
gate_refused(int error)
{
	return error == GATE_NO_READ || error == GATE_NO_WRITE;
}

void
gate_say(int error, char *text, size_t n_text, char *help, size_t n_help)
{
	enum gate side = error == GATE_NO_WRITE ? GATE_WRITE : GATE_READ;
	const struct gate_side *s = &gate_sides[side];
	int n;

	if (!s->n) {
		snprintf(text, n_text, "this worker may %s no files", gate_words[side].verb);
	} else {
		n = snprintf(text, n_text, "not below %s %s", gate_words[side].option, s->v[0].said);
		for (size_t i = 1; i < s->n && i < 4 && n >= 0 && (size_t)n < n_text; i++)
			n += snprintf(text + n, n_text - (size_t)n, i < 3 ? ", %s" : ", ...", s->v[i].said);
	}
	snprintf(help, n_help, "workers %s what lies below the folders of their %s PATH", gate_words[side].verb,
		 gate_words[side].option);
}

/* ---- roots ---- */

/* Makes a path absolute, and leaves out double slashes, "." and a slash at the end; ".." stays,
 * because what it means depends on links. */
static char *
gate_plain(const char *path)
{
	struct buf whole = { 0 }, out = { 0 };

	path_absolute(path, "", &whole);
	buf_byte(&whole, 0);
	for (const char *at = (const char *)whole.data; *at;) {
		size_t n = strcspn(at, "/");

		if (n && !(n == 1 && *at == '.')) {
			buf_byte(&out, '/');
			buf_put(&out, at, n);
		}
		at += n + (at[n] == '/');
	}
	if (!out.len)
		buf_byte(&out, '/');
	buf_clear(&whole);
	return buf_take(&out);
}

static int
gate_openat2(int dir, const char *path, int flags, mode_t mode, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC, .resolve = resolve,
		.mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0 };
	int fd = -1;

	/* EAGAIN: something was renamed meanwhile, so that the kernel cannot tell where ".." led. */
	for (int tries = 0; tries < GATE_TRIES; tries++)
		if ((fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how)) >= 0 || errno != EAGAIN)
			break;
	return fd;
}

static enum status
gate_root_open(struct gate_root *r, const char *path, const char *option, struct err *e)
{
	struct stat st;
	char *real = realpath(path, NULL);

	*r = (struct gate_root){ .said = gate_plain(path), .dir = -1 };
	if (!real || stat(real, &st)) {
		free(real);
		return err_errno(e, "%s %s", option, path);
	}
	r->real = mem_strdup(real);
	free(real);
	char *folder = mem_strdup(r->real), *slash = strrchr(folder, '/');
	if (!S_ISDIR(st.st_mode)) {
		r->file = mem_strdup(slash + 1);
		slash[slash == folder] = '\0';
	}
	r->dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	mem_free(folder);
	return r->dir < 0 ? err_errno(e, "%s %s", option, path) : ST_OK;
}

static void
gate_side_clear(struct gate_side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].dir >= 0)
			close(s->v[i].dir);
		mem_free(s->v[i].said);
		mem_free(s->v[i].real);
		mem_free(s->v[i].file);
	}
	mem_free(s->v);
	s->v = NULL;
	s->n = 0;
	atomic_store(&s->closed, false);
}

enum status
gate_close(enum gate side, const struct words *roots, struct err *e)
{
	struct gate_side *s = &gate_sides[side];
	const char *option = gate_words[side].option;
	enum status st = ST_OK;

	gate_side_clear(s);
	if (roots->n)
		s->v = mem_zalloc(roots->n * sizeof *s->v);
	for (size_t i = 0; i < roots->n && st == ST_OK; i++) {
		st = gate_root_open(&s->v[s->n++], roots->v[i], option, e);
		if (st == ST_OK && !strcmp(s->v[i].real, "/")) {
			gate_side_clear(s);
			return ST_OK;
		}
	}
	int fd = st == ST_OK && s->n ? gate_openat2(s->v[0].dir, ".", O_PATH, 0, RESOLVE_BENEATH) : -1;
	if (fd >= 0) {
		close(fd);
	} else if (st == ST_OK && s->n && (errno == ENOSYS || errno == EPERM || errno == EINVAL)) {
		st = err_set(e, ST_CONFIG, "%s needs a kernel with openat2 (Linux 5.6), which this one does not have or "
			"does not allow", option);
		err_help(e, "without %s nothing is allowed, which needs no such kernel; %s / allows all", option, option);
	}
	atomic_store(&s->closed, true);
	return st;
}

/* ---- names ---- */

/* The rest of a path behind a root, "." for the root itself; NULL: the path does not begin with it. */
static const char *
gate_rest(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (strncmp(path, root, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path[n] ? path + n + 1 : ".";
}

static int
gate_no(enum gate side)
{
	errno = side == GATE_READ ? GATE_NO_READ : GATE_NO_WRITE;
	return -1;
}

static int
gate_root_enter(const struct gate_root *r, const char *plain, int flags, mode_t mode)
{
	const char *rest = gate_rest(plain, r->said);

	if (!rest)
		rest = gate_rest(plain, r->real);
	if (!rest || (r->file && strcmp(rest, "."))) {
		errno = EXDEV;
		return -1;
	}
	if (r->file)
		return gate_openat2(r->dir, r->file, flags, mode,
				    RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS);
	return gate_openat2(r->dir, rest, flags, mode, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
}

/* EXDEV: the path left the root; another root may have it. */
static int
gate_side_enter(const struct gate_side *s, const char *plain, int flags, mode_t mode)
{
	int fd = -1;

	errno = EXDEV;
	for (size_t i = 0; i < s->n && fd < 0 && errno == EXDEV; i++)
		fd = gate_root_enter(&s->v[i], plain, flags, mode);
	return fd;
}

/* Opens a path below one of the roots. */
static int
gate_enter(enum gate side, const char *path, int flags, mode_t mode)
{
	char *plain = gate_plain(path);
	int fd = gate_side_enter(&gate_sides[side], plain, flags, mode);

	if (fd < 0 && errno == EXDEV && side == GATE_READ && gate_sides[GATE_WRITE].closed)
		fd = gate_side_enter(&gate_sides[GATE_WRITE], plain, flags, mode);
	int error = errno;
	mem_free(plain);
	errno = error;
	return fd < 0 && error == EXDEV ? gate_no(side) : fd;
}

/* Opens the folder in which the last name of a path lies, which is given. */
static int
gate_folder(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");

	*name = slash ? slash + 1 : path;
	int fd = -1;
	if (!**name || !strcmp(*name, ".") || !strcmp(*name, ".."))
		errno = EINVAL;
	else
		fd = gate_enter(GATE_WRITE, folder, O_PATH | O_DIRECTORY, 0);
	int error = errno;
	mem_free(folder);
	errno = error;
	return fd;
}

static int
gate_done(int fd, int result)
{
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return result;
}

/* ---- what others call ---- */

int
gate_open(enum gate side, const char *path, int flags, mode_t mode)
{
	int64_t began = trace_begin();
	int fd = gate_is_open(side) ? open(path, flags | O_CLOEXEC, mode) : gate_enter(side, path, flags, mode);

	if (began) {
		int error = fd < 0 ? errno : 0;
		trace_span(began, TRACE_OPEN, path, (uint64_t)error, 0, 0);
		errno = error;
	}
	return fd;
}

DIR *
gate_opendir(enum gate side, const char *path)
{
	if (gate_is_open(side))
		return opendir(path);
	int fd = gate_enter(side, path, O_RDONLY | O_DIRECTORY, 0);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !d)
		gate_done(fd, -1);
	return d;
}

int
gate_stat(const char *path, struct stat *out)
{
	if (gate_is_open(GATE_READ))
		return stat(path, out);
	int fd = gate_enter(GATE_READ, path, O_PATH, 0);
	return fd < 0 ? -1 : gate_done(fd, fstat(fd, out));
}

int
gate_lstat(const char *path, struct stat *out)
{
	if (gate_is_open(GATE_READ))
		return lstat(path, out);
	int fd = gate_enter(GATE_READ, path, O_PATH | O_NOFOLLOW, 0);
	return fd < 0 ? -1 : gate_done(fd, fstat(fd, out));
}

int
gate_readable(const char *path)
{
	if (gate_is_open(GATE_READ))
		return access(path, R_OK);
	/* Without waiting for who writes a FIFO. */
	int fd = gate_enter(GATE_READ, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	return fd < 0 ? -1 : gate_done(fd, 0);
}

int
gate_mkdir(const char *path, mode_t mode)
{
	const char *name;

	if (gate_is_open(GATE_WRITE))
		return mkdir(path, mode);
	/* A root is there already, and the folder above it is nobody's business. */
	int there = gate_enter(GATE_WRITE, path, O_PATH | O_DIRECTORY, 0);
	if (there >= 0) {
		errno = EEXIST;
		return gate_done(there, -1);
	}
	if (errno != ENOENT)
		return -1;
	char *plain = gate_plain(path);
	int dir = gate_folder(plain, &name);
	int rc = dir < 0 ? -1 : gate_done(dir, mkdirat(dir, name, mode));
	int error = errno;
	mem_free(plain);
	errno = error;
	return rc;
}

int
gate_unlink(const char *path)
{
	const char *name;

	if (gate_is_open(GATE_WRITE))
		return unlink(path);
	int dir = gate_folder(path, &name);
	return dir < 0 ? -1 : gate_done(dir, unlinkat(dir, name, 0));
}

int
gate_rename(const char *from, const char *to)
{
	const char *old, *name;

	if (gate_is_open(GATE_WRITE))
		return rename(from, to);
	int a = gate_folder(from, &old), b = a < 0 ? -1 : gate_folder(to, &name);
	int rc = b < 0 ? -1 : renameat(a, old, b, name);
	return gate_done(a, gate_done(b, rc));
}

int
gate_link(int fd, const char *path)
{
	const char *name = path;
	char self[40];
	int dir = gate_is_open(GATE_WRITE) ? AT_FDCWD : gate_folder(path, &name);

	if (dir == -1)
		return -1;
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return gate_done(dir, linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW));
}

int
gate_temporary(char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	char *tail = name + strlen(name) - 6;
	uint8_t noise[6];
	int fd = -1;

	for (int tries = 0; fd < 0 && (!tries || errno == EEXIST) && tries < GATE_TRIES; tries++) {
		if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise)
			return -1;
		for (size_t i = 0; i < sizeof noise; i++)
			tail[i] = letters[noise[i] & 31];
		fd = gate_open(GATE_WRITE, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	return fd;
}

int
gate_nameless(const char *dir)
{
	const char *own = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (dir) {
		fd = gate_open(GATE_WRITE, dir, O_TMPFILE | O_RDWR, 0600);
	} else {
		own = own && *own ? own : "/tmp";
		fd = open(own, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	}
	/* Not every file system has files without names. */
	if (fd >= 0 || errno == ENOENT || errno == ENOTDIR || gate_refused(errno))
		return fd;
	if (snprintf(name, sizeof name, "%s/dsvc-XXXXXX", dir ? dir : own) >= (int)sizeof name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = dir ? gate_temporary(name) : mkostemp(name, O_CLOEXEC);
	if (fd >= 0 && (dir ? gate_unlink(name) : unlink(name)))
		return gate_done(fd, -1);
	return fd;
}
