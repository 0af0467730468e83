/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/replace.h"
#include "base/thread.h"
#include "base/transfer.h"
#include "base/wake.h"
#include "cli/locale.h"
#include "cli/quit.h"
#include "cli/stop.h"

/* The most that a system gives unless it is told otherwise: whole elements fit, and programs take
 * turns less often. A user who has many such pipes gets smaller ones. */
enum { OUTPUT_PIPE = 1 << 20, OUTPUT_PIPE_LESS = 256 * 1024 };

struct output {
	struct output_conf conf;
	int fd;
	off_t start;             /* where in fd our bytes begin; -1: it cannot be sought in */
	char *path, *temporary;  /* temporary NULL: written directly */
	struct format *format;
	pthread_mutex_t lock;    /* guards everything below */
	struct buf buf;
	uint64_t elements, written;
	struct err failed;       /* error of a write by the watcher */
	uint64_t adds;           /* counts up with each addition */
	bool idle, quit;         /* the watcher sleeps; is to end */
	bool watching;
	bool tty;                /* elements go to a terminal, as may the line of progress */
	pthread_t watcher;
	int wake;                /* wakes the watcher (base/wake.h) */
};

static const char *
output_name(const struct output *o)
{
	return o->path ? o->path : "standard output";
}

static void
output_gone(struct output *o)
{
	if (!o->conf.gone)
		quit_signal(SIGPIPE);
	o->conf.gone(o->conf.arg);
}

/* One write, and the time for which it is blocked. */
static ssize_t
output_some(struct output *o, const uint8_t *p, size_t n)
{
	if (o->conf.blocked)
		blocked_begin(o->conf.blocked);
	ssize_t put = write(o->fd, p, n);
	int code = errno;
	if (put < 0 && code == EAGAIN) /* somebody else made our output non-blocking */
		poll(&(struct pollfd){ o->fd, POLLOUT, 0 }, 1, -1);
	if (o->conf.blocked)
		blocked_end(o->conf.blocked);
	errno = code;
	return put;
}

/* Writes n bytes; the lock is held. */
static enum status
output_put(struct output *o, const uint8_t *p, size_t n, struct err *e)
{
	if (o->failed.kind) {
		*e = o->failed;
		return e->kind;
	}
	if (o->tty && n)
		log_status_hide();
	while (n) {
		ssize_t put = output_some(o, p, n);
		if (put >= 0) {
			p += put;
			n -= (size_t)put;
		} else if (errno != EINTR && errno != EAGAIN) {
			int code = errno;
			err_errno(e, "cannot write to %s", output_name(o));
			e->kind = ST_IO;
			o->failed = *e;
			if (code == EPIPE)
				output_gone(o);
			return ST_IO;
		}
	}
	return ST_OK;
}

/* Writes the buffer; the lock is held. */
static enum status
output_write(struct output *o, struct err *e)
{
	enum status st = output_put(o, o->buf.data, o->buf.len, e);

	if (st != ST_OK)
		return st;
	buf_reset(&o->buf);
	o->written = o->elements;
	return ST_OK;
}

/* Writes over the first bytes, where the format wants that (the length of an array). */
static enum status
output_patch(struct output *o, struct err *e)
{
	struct buf b = { 0 };

	if (o->start < 0 || !format_patch(o->format, &b))
		return ST_OK;
	bool whole = transfer_write_at(o->fd, b.data, b.len, (uint64_t)o->start);
	buf_clear(&b);
	if (whole)
		return ST_OK;
	err_errno(e, "cannot write to %s", output_name(o));
	e->kind = ST_IO;
	return ST_IO;
}

/* Writes the elements that came, when the end does not. */
static enum status
output_so_far(struct output *o, struct err *e)
{
	format_rest(o->format, &o->buf);
	return output_write(o, e);
}

static size_t
output_columns(int fd)
{
	struct winsize w;

	return ioctl(fd, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

/* The elements that have come, as far as the format allows a file of its own. */
static bool
output_keep_part(struct output *o)
{
	struct err e = { 0 };

	if (!o->conf.part || !o->elements)
		return false;
	if (!format_end(o->format, &o->buf, &e) && !output_write(o, &e))
		output_patch(o, &e);
	log_say(LOG_WARN, "%s keeps the %llu element%s that came%s%s", o->temporary,
		(unsigned long long)o->written, o->written == 1 ? "" : "s",
		o->conf.rest ? "; " : "", o->conf.rest ? o->conf.rest : "");
	return true;
}

/* A signal came: the program gets a moment to end by itself, which cancels
 * this thread's wait. */
static void
output_stopped(struct output *o)
{
	struct pollfd wake = { o->wake, POLLIN, 0 };
	struct err e;

	int64_t end = clock_mono_ns() + OUTPUT_GRACE_MS * 1000000LL;
	for (;;) {
		int64_t left = (end - clock_mono_ns()) / 1000000;
		pthread_mutex_lock(&o->lock);
		bool quit = o->quit;
		pthread_mutex_unlock(&o->lock);
		if (quit)
			return;
		if (left <= 0)
			break;
		if (poll(&wake, 1, (int)left) > 0)
			wake_clear(o->wake);
	}
	pthread_mutex_lock(&o->lock);
	if (o->temporary && !output_keep_part(o))
		unlink(o->temporary);
	else
		output_so_far(o, &e);
	if (o->conf.stopped)
		o->conf.stopped(o->conf.arg);
	quit_signal(stop_signal());
}

/* One look at the buffer. Gives how long to sleep: -1 until woken. */
static int
output_look(struct output *o, uint64_t *seen, int64_t *since)
{
	struct err e;

	/* When it is busy it is not dry. */
	if (pthread_mutex_trylock(&o->lock))
		return OUTPUT_TICK_MS;
	int wait = OUTPUT_TICK_MS;
	if (o->buf.len == 0) {
		o->idle = true;
		*since = 0;
		wait = -1;
	} else if (*since == 0) {
		*since = clock_mono_ns();
	} else if (o->adds == *seen || clock_mono_ns() - *since > OUTPUT_LATE_MS * 1000000LL) {
		output_write(o, &e);
		*since = 0;
		/* Bytes that could not be written stay; the next addition reports the error. */
		o->idle = o->failed.kind != ST_OK || o->buf.len == 0;
		wait = o->idle ? -1 : OUTPUT_TICK_MS;
	}
	*seen = o->adds;
	if (o->quit)
		wait = 0;
	pthread_mutex_unlock(&o->lock);
	return wait;
}

static void *
output_watch(void *arg)
{
	struct output *o = arg;
	uint64_t seen = 0;
	int64_t since = 0;

	for (;;) {
		/* No events asked of the output: only POLLERR is told, when the
		 * reader of a pipe has gone. */
		struct pollfd p[3] = { { o->wake, POLLIN, 0 }, { stop_fd(), POLLIN, 0 },
				       { o->fd, 0, 0 } };
		int wait = output_look(o, &seen, &since);
		pthread_mutex_lock(&o->lock);
		bool quit = o->quit;
		pthread_mutex_unlock(&o->lock);
		if (quit)
			return NULL;
		if (poll(p, 3, wait) <= 0)
			continue;
		if (p[0].revents)
			wake_clear(o->wake);
		if (p[1].revents & POLLIN) {
			output_stopped(o);
			return NULL;
		}
		if (p[2].revents & POLLERR) {
			output_gone(o);
			return NULL;
		}
	}
}

/* The file itself, cut back to what is known to be good. */
static enum status
output_open_in_place(struct output *o, struct err *e)
{
	struct stat st;
	uint64_t keep = o->conf.keep;

	o->fd = open(o->path, O_WRONLY | (keep ? 0 : O_CREAT) | O_CLOEXEC, 0666);
	if (o->fd < 0 && errno == ENOENT && keep) {
		err_set(e, ST_DATA, "%s is missing; it had %llu bytes", o->path, (unsigned long long)keep);
		err_help(e, "name the file that was being written, or remove the position to start over");
		return ST_DATA;
	}
	if (o->fd < 0 || fstat(o->fd, &st)) {
		err_errno(e, "cannot write to %s", o->path);
		e->kind = ST_IO;
		return ST_IO;
	}
	if (!S_ISREG(st.st_mode))
		return ST_OK;
	if ((uint64_t)st.st_size < keep) {
		err_set(e, ST_DATA, "%s has %lld bytes, fewer than the %llu it had", o->path,
			(long long)st.st_size, (unsigned long long)keep);
		err_help(e, "it is not the file that was being written; remove the position to start over");
		return ST_DATA;
	}
	if (ftruncate(o->fd, (off_t)keep) || lseek(o->fd, (off_t)keep, SEEK_SET) < 0) {
		err_errno(e, "cannot cut %s back", o->path);
		e->kind = ST_IO;
		return ST_IO;
	}
	return ST_OK;
}

static enum status
output_open_file(struct output *o, struct err *e)
{
	struct stat st;
	bool there = !stat(o->path, &st);

	if (o->conf.in_place)
		return output_open_in_place(o, e);
	if (there && !S_ISREG(st.st_mode)) {
		o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
	} else {
		o->temporary = mem_printf("%s.%ld.%s", o->path, (long)getpid(), o->conf.part ? "part" : "tmp");
		o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			     there ? st.st_mode & 0777 : 0666);
	}
	if (o->fd >= 0) {
		quit_removes(o->conf.part ? NULL : o->temporary);
		return ST_OK;
	}
	mem_free(o->temporary);
	o->temporary = NULL;
	err_errno(e, "cannot write to %s", o->path);
	if (e->kind == ST_NOINPUT)
		e->kind = ST_IO;
	return e->kind;
}

/* Where our bytes begin in a file that can be sought in, else -1. With O_APPEND they
 * would go to the end whatever place is asked for. */
static off_t
output_start_at(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || fcntl(fd, F_GETFL) & O_APPEND)
		return -1;
	return lseek(fd, 0, SEEK_CUR);
}

static enum status
output_start(struct output *o, struct err *e)
{
	o->wake = wake_open();
	enum status st = o->wake < 0 ? err_errno(e, "cannot watch the output") :
		thread_start(&o->watcher, output_watch, o, "the output", e);
	o->watching = st == ST_OK;
	return st;
}

static bool
output_is_file(const char *path)
{
	return path && strcmp(path, "-") != 0;
}

bool
output_mixes(const char *path, int format)
{
	return !output_is_file(path) && !format_is_blind((enum format_kind)format) && isatty(STDOUT_FILENO);
}

enum status
output_open(const struct output_conf *conf, struct output **out, struct err *e)
{
	struct output *o = mem_zalloc(sizeof *o);
	bool file = output_is_file(conf->path);
	enum status st = ST_OK;

	*out = o;
	o->conf = *conf;
	o->fd = STDOUT_FILENO;
	o->wake = -1;
	pthread_mutex_init(&o->lock, NULL);
	if (!file && format_is_binary(conf->format) && isatty(STDOUT_FILENO)) {
		st = err_set(e, ST_USAGE, "binary data is not for a terminal");
		err_help(e, "pipe it into a program, or write it to a file with -o FILE; "
			 "-t ndjson is for people");
	} else if (file) {
		o->path = mem_strdup(conf->path);
		st = output_open_file(o, e);
	}
	if (!st) {
		/* EPIPE, in place of death in the middle of something. */
		signal(SIGPIPE, SIG_IGN);
		if (fcntl(o->fd, F_SETPIPE_SZ, OUTPUT_PIPE) < 0)
			fcntl(o->fd, F_SETPIPE_SZ, OUTPUT_PIPE_LESS);
		o->tty = isatty(o->fd);
		o->format = format_new(conf->format, conf->type);
		o->conf.form.blocks = locale_is_utf8();
		st = format_set(o->format, &o->conf.form, conf->type, e);
		if (o->tty)
			format_screen(o->format, output_columns(o->fd));
		o->start = output_start_at(o->fd);
		if (o->start >= 0)
			format_seekable(o->format);
		if (!st && conf->watch)
			st = output_start(o, e);
	}
	if (st)
		output_close(out, false, NULL);
	return st;
}

/* After an addition; the lock is held, and is given up. */
static enum status
output_added(struct output *o, uint64_t count, enum status st, struct err *e)
{
	bool wake = false;

	o->elements += st ? 0 : count;
	o->adds++;
	if (!st && (o->buf.len >= OUTPUT_BYTES || o->failed.kind))
		st = output_write(o, e);
	if (o->idle && o->buf.len) {
		wake = true;
		o->idle = false;
	}
	pthread_mutex_unlock(&o->lock);
	if (wake && o->watching)
		wake_set(o->wake);
	return st;
}

enum status
output_run(struct output *o, const struct run *r, struct err *e)
{
	pthread_mutex_lock(&o->lock);
	return output_added(o, r->n, format_run(o->format, r, &o->buf, e), e);
}

/* Many bytes that go out as they are need no buffer; the lock is held. */
static enum status
output_pass(struct output *o, const uint8_t *p, size_t len, uint64_t count, struct err *e)
{
	enum status st = format_pass(o->format, p, len, count, e);

	if (!st)
		st = output_write(o, e);
	if (!st)
		st = output_put(o, p, len, e);
	if (!st)
		o->written = o->elements + count; /* output_added counts them */
	return st;
}

enum status
output_bytes(struct output *o, const uint8_t *p, size_t len, uint64_t count, struct err *e)
{
	pthread_mutex_lock(&o->lock);
	if (len >= OUTPUT_BYTES && format_is_verbatim(o->conf.format))
		return output_added(o, count, output_pass(o, p, len, count, e), e);
	return output_added(o, count, format_bytes(o->format, p, len, count, &o->buf, e), e);
}

enum status
output_flush(struct output *o, struct err *e)
{
	pthread_mutex_lock(&o->lock);
	enum status st = output_write(o, e);
	pthread_mutex_unlock(&o->lock);
	return st;
}

enum status
output_sync(struct output *o, uint64_t *length, struct err *e)
{
	off_t at = 0;

	pthread_mutex_lock(&o->lock);
	enum status st = output_write(o, e);
	if (!st && o->path) {
		at = lseek(o->fd, 0, SEEK_CUR);
		/* EINVAL: it is no file, and there is nothing to be made safe. */
		if (fdatasync(o->fd) && errno != EINVAL && errno != EROFS) {
			err_errno(e, "cannot write to %s", output_name(o));
			st = e->kind = ST_IO;
		}
	}
	*length = at > 0 ? (uint64_t)at : 0;
	pthread_mutex_unlock(&o->lock);
	return st;
}

uint64_t
output_length(struct output *o)
{
	pthread_mutex_lock(&o->lock);
	off_t at = o->path ? lseek(o->fd, 0, SEEK_CUR) : -1;
	uint64_t n = at < 0 ? 0 : (uint64_t)at + o->buf.len;
	pthread_mutex_unlock(&o->lock);
	return n;
}

uint64_t
output_elements(const struct output *o)
{
	return o->elements;
}

uint64_t
output_written(struct output *o)
{
	pthread_mutex_lock(&o->lock);
	uint64_t n = o->written;
	pthread_mutex_unlock(&o->lock);
	return n;
}

void
output_no_rest(struct output *o)
{
	pthread_mutex_lock(&o->lock);
	o->conf.rest = NULL;
	pthread_mutex_unlock(&o->lock);
}

static void
output_end_watch(struct output *o)
{
	if (!o->watching)
		return;
	pthread_mutex_lock(&o->lock);
	o->quit = true;
	pthread_mutex_unlock(&o->lock);
	wake_set(o->wake);
	pthread_join(o->watcher, NULL);
	o->watching = false;
}

/* The last write: what is left, checked down to close(2), which some file
 * systems use to say that the disk is full. */
static enum status
output_finish(struct output *o, struct err *e)
{
	enum status st;

	st = format_end(o->format, &o->buf, e);
	if (st)
		err_wrap(e, "cannot end the output");
	else
		st = output_write(o, e);
	if (!st)
		st = output_patch(o, e);
	if (st)
		return st;
	if (o->temporary)
		st = replace_name(o->fd, o->temporary, o->path, e);
	int fd = o->fd;
	o->fd = -1;
	if (close(fd) && errno != EINTR && !st) {
		err_errno(e, "cannot write to %s", output_name(o));
		st = e->kind = ST_IO;
	}
	if (st)
		return st;
	quit_removes(NULL);
	mem_free(o->temporary);
	o->temporary = NULL;
	return ST_OK;
}

enum status
output_close(struct output **out, bool complete, struct err *e)
{
	struct output *o = *out;
	enum status st = ST_OK;

	*out = NULL;
	if (!o)
		return ST_OK;
	output_end_watch(o);
	if (complete)
		st = output_finish(o, e);
	else if (o->format && !o->temporary && !output_so_far(o, &(struct err){ 0 }))
		output_patch(o, &(struct err){ 0 }); /* writes the part before the error */
	if (o->temporary && !output_keep_part(o))
		unlink(o->temporary);
	quit_removes(NULL);
	if (o->fd >= 0 && o->path)
		close(o->fd);
	if (o->wake >= 0)
		close(o->wake);
	format_free(&o->format);
	buf_clear(&o->buf);
	mem_free(o->path);
	mem_free(o->temporary);
	pthread_mutex_destroy(&o->lock);
	mem_free(o);
	return st;
}
