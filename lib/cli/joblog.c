/* SPDX-License-Identifier: MIT */
#include "cli/joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/transfer.h"

#define JOBLOG_LAST "\tOutput"
enum { JOBLOG_LINE = 16 << 20 };

struct joblog {
	const char *path, *columns;
	int fd;
	pthread_mutex_t lock;    /* guards all below */
	struct buf waits;        /* rows that wait, without their last column; each ended by a NUL */
	struct buf ready;        /* lines that are to be written */
	size_t n_waits;
	uint64_t n_ready, output, rows, length;
	struct err err;          /* the first error of writing */
};

static enum status
joblog_bad(const struct joblog *log, uint64_t line, struct err *e)
{
	err_set(e, ST_DATA, "%s:%" PRIu64 ": not a row of a --joblog file", log->path, line);
	err_help(e, "--resume reads what dsvc-run --joblog has written; without it the file is begun anew");
	return ST_DATA;
}

static bool
joblog_is_head(const struct joblog *log, const char *line)
{
	size_t n = strlen(log->columns);

	return !strncmp(line, log->columns, n) && !strcmp(line + n, JOBLOG_LAST);
}

/* Takes the last column off. */
static bool
joblog_output(char *line, uint64_t *output)
{
	char *tab = strrchr(line, '\t');
	int64_t bytes;

	if (!tab || !str_int(tab + 1, strlen(tab + 1), &bytes) || bytes < 0)
		return false;
	*tab = '\0';
	*output = (uint64_t)bytes;
	return true;
}

/* Locks the log for this process alone, not for its children. Closing any descriptor of the file
 * unlocks it. A file that cannot be locked counts as locked. */
static bool
joblog_lock(const struct joblog *log)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(log->fd, F_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

enum status
joblog_read(struct joblog *log, bool (*row)(void *arg, char *columns, uint64_t output), void *arg, struct err *e)
{
	FILE *f = fdopen(dup(log->fd), "r");
	char *line = NULL;
	size_t cap = 0;
	uint64_t n = 0, whole = 0;
	enum status st = f ? ST_OK : err_errno(e, "cannot read %s", log->path);

	if (f)
		rewind(f);
	while (st == ST_OK) {
		ssize_t len = getline(&line, &cap, f);

		if (len < 0 && ferror(f))
			st = err_errno(e, "cannot read %s", log->path);
		if (len <= 0 || line[len - 1] != '\n')
			break;
		line[len - 1] = '\0';
		n++;
		if (len > JOBLOG_LINE || strlen(line) != (size_t)len - 1 ||
		    (n == 1 ? !joblog_is_head(log, line) : !joblog_output(line, &log->output) || !row(arg, line, log->output)))
			st = joblog_bad(log, n, e);
		whole += (uint64_t)len;
	}
	if (st == ST_OK && n == 0 && log->length > strlen(log->columns) + strlen(JOBLOG_LAST))
		st = joblog_bad(log, 1, e);
	free(line);
	if (f)
		fclose(f);
	joblog_lock(log);
	return st == ST_OK ? joblog_cut(log, whole, e) : st;
}

static void
joblog_failed(struct joblog *log)
{
	err_errno(&log->err, "cannot write to %s", log->path);
	log->err.kind = ST_IO;
}

static bool
joblog_write(struct joblog *log)
{
	if (!log->err.kind && log->ready.len && !transfer_write(log->fd, log->ready.data, log->ready.len))
		joblog_failed(log);
	if (!log->err.kind) {
		log->rows += log->n_ready;
		log->length += log->ready.len;
	}
	buf_reset(&log->ready);
	log->n_ready = 0;
	return !log->err.kind;
}

static enum status
joblog_head(struct joblog *log, struct err *e)
{
	buf_printf(&log->ready, "%s" JOBLOG_LAST "\n", log->columns);
	if (joblog_write(log))
		return ST_OK;
	*e = log->err;
	return e->kind;
}

enum status
joblog_cut(struct joblog *log, uint64_t length, struct err *e)
{
	if (log->length < length) {
		err_set(e, ST_DATA, "%s is shorter than it was, and no log to go on with", log->path);
		err_help(e, "name another file for --joblog: it gets the rows of what is left");
		return ST_DATA;
	}
	if (log->length > length && ftruncate(log->fd, (off_t)length))
		return err_errno(e, "cannot cut %s", log->path);
	log->length = length;
	return length ? ST_OK : joblog_head(log, e);
}

static enum status
joblog_begin(struct joblog *log, bool keep, struct err *e)
{
	struct stat s;

	if (fstat(log->fd, &s))
		return err_errno(e, "cannot look at %s", log->path);
	if (!joblog_lock(log)) {
		err_set(e, ST_TEMP, "another run writes %s", log->path);
		err_help(e, "wait until it has ended, or give each run a log of its own");
		return ST_TEMP;
	}
	if (keep && !S_ISREG(s.st_mode))
		return err_set(e, ST_USAGE, "a run cannot go on with the log %s: it is not a regular file", log->path);
	if (keep) {
		log->length = (uint64_t)s.st_size;
		return ST_OK;
	}
	if (S_ISREG(s.st_mode) && ftruncate(log->fd, 0))
		return err_errno(e, "cannot empty %s", log->path);
	return joblog_head(log, e);
}

enum status
joblog_open(const char *path, const char *columns, bool keep, struct joblog **out, struct err *e)
{
	struct joblog *log = mem_zalloc(sizeof *log);

	log->path = path;
	log->columns = columns;
	pthread_mutex_init(&log->lock, NULL);
	log->fd = open(path, (keep ? O_RDWR : O_WRONLY) | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	enum status st = log->fd < 0 ? err_errno(e, "cannot open %s", path) : joblog_begin(log, keep, e);
	if (st == ST_OK) {
		*out = log;
		return ST_OK;
	}
	struct err own;
	log->err.kind = ST_OK;
	joblog_close(&log, &own);
	return st;
}

/* With the lock held, like joblog_write. */
static void
joblog_line(struct joblog *log, const void *columns, size_t n, uint64_t output)
{
	buf_put(&log->ready, columns, n);
	buf_printf(&log->ready, "\t%" PRIu64 "\n", output);
	log->n_ready++;
}

bool
joblog_add(struct joblog *log, const void *columns, size_t n)
{
	pthread_mutex_lock(&log->lock);
	joblog_line(log, columns, n, log->output);
	bool ok = joblog_write(log);
	pthread_mutex_unlock(&log->lock);
	return ok;
}

void
joblog_wait(struct joblog *log, const void *columns, size_t n)
{
	pthread_mutex_lock(&log->lock);
	buf_put(&log->waits, columns, n);
	buf_byte(&log->waits, '\0');
	log->n_waits++;
	pthread_mutex_unlock(&log->lock);
}

/* Writes the first n rows that wait, and forgets the others; with the lock held. */
static bool
joblog_waited(struct joblog *log, size_t n, uint64_t output)
{
	log->output = output;
	for (size_t at = 0; n > 0; n--) {
		const char *row = (const char *)log->waits.data + at;
		size_t len = strlen(row);

		joblog_line(log, row, len, output);
		at += len + 1;
	}
	buf_reset(&log->waits);
	log->n_waits = 0;
	return joblog_write(log);
}

bool
joblog_commit(struct joblog *log, uint64_t output)
{
	pthread_mutex_lock(&log->lock);
	bool ok = joblog_waited(log, log->n_waits, output);
	pthread_mutex_unlock(&log->lock);
	return ok;
}

bool
joblog_commit_first(struct joblog *log, size_t n, size_t of, uint64_t output)
{
	pthread_mutex_lock(&log->lock);
	bool ok = joblog_waited(log, log->n_waits == of ? n : 0, output);
	pthread_mutex_unlock(&log->lock);
	return ok;
}

void
joblog_put(struct joblog *log, const void *columns, size_t n, uint64_t output)
{
	pthread_mutex_lock(&log->lock);
	joblog_line(log, columns, n, output);
	pthread_mutex_unlock(&log->lock);
}

bool
joblog_flush(struct joblog *log)
{
	pthread_mutex_lock(&log->lock);
	bool ok = joblog_write(log);
	pthread_mutex_unlock(&log->lock);
	return ok;
}

bool
joblog_sync(struct joblog *log)
{
	pthread_mutex_lock(&log->lock);
	if (!log->err.kind && fdatasync(log->fd) && errno != EINVAL && errno != EROFS) /* a pipe or a terminal */
		joblog_failed(log);
	bool ok = !log->err.kind;
	pthread_mutex_unlock(&log->lock);
	return ok;
}

enum status
joblog_why(struct joblog *log, struct err *e)
{
	pthread_mutex_lock(&log->lock);
	enum status st = log->err.kind;
	if (st != ST_OK)
		*e = log->err;
	pthread_mutex_unlock(&log->lock);
	return st;
}

uint64_t
joblog_rows(struct joblog *log)
{
	pthread_mutex_lock(&log->lock);
	uint64_t rows = log->rows;
	pthread_mutex_unlock(&log->lock);
	return rows;
}

uint64_t
joblog_length(struct joblog *log)
{
	pthread_mutex_lock(&log->lock);
	uint64_t length = log->length;
	pthread_mutex_unlock(&log->lock);
	return length;
}

enum status
joblog_close(struct joblog **lp, struct err *e)
{
	struct joblog *log = *lp;
	*lp = NULL;
	if (!log)
		return ST_OK;
	enum status st = joblog_why(log, e);
	if (log->fd >= 0)
		close(log->fd);
	buf_clear(&log->waits);
	buf_clear(&log->ready);
	pthread_mutex_destroy(&log->lock);
	mem_free(log);
	return st;
}
