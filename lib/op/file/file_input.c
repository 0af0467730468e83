/* SPDX-License-Identifier: MIT */
#include "op/file/file_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gate.h"
#include "base/mem.h"
#include "base/pool.h"
#include "fetch/fetch.h"
#include "op/kit/far_wait.h"
#include "value/crc32c.h"

enum {
	INPUT_BEAT_MS = 100, /* how often a wait checks for a stop */
	INPUT_LARGE = 1024 * 1024, /* size from which the kernel is asked to read ahead, and bytes may be lent */
	INPUT_PIECE = 16 * 1024 * 1024 /* mapped at a time: so much is added to the memory that a process seems to have */
};

void
file_input_init(struct file_input *in)
{
	memset(in, 0, sizeof *in);
	in->fd = -1;
}

static enum status
input_open_object(struct file_input *in, const char *url, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	struct fetch_wait w = far_wait(ctx);
	enum status st = fetch_open(url, tag, &w, &in->object, e);

	in->regular = st == ST_OK;
	in->size = in->taken = 0;
	in->from = in->to = 0;
	in->expects = in->broken = in->unmapped = false;
	in->ctx = ctx;
	return st;
}

enum status
file_input_open(struct file_input *in, const char *path, const char *tag, const struct op_ctx *ctx, struct err *e)
{
	if (url_is(path))
		return input_open_object(in, path, tag, ctx, e);
	bool borrowed = !strcmp(path, "-");
	struct stat st;
	/* Opened without blocking, since a FIFO may have no writer yet, and a stop must be
	 * heard. */
	int fd = borrowed ? STDIN_FILENO : gate_open(GATE_READ, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

	if (fd < 0)
		return err_errno(e, "cannot open it");
	enum status result = ST_OK;
	if (fstat(fd, &st) != 0)
		result = err_errno(e, "cannot open it");
	else if (S_ISDIR(st.st_mode))
		result = err_set(e, ST_NOINPUT, "cannot read it: it is a folder");
	if (result != ST_OK) {
		if (!borrowed)
			close(fd);
		return result;
	}
	in->fd = fd;
	in->regular = S_ISREG(st.st_mode) && !borrowed;
	in->size = in->regular ? (uint64_t)st.st_size : 0;
	in->taken = 0;
	in->from = in->to = 0;
	in->expects = in->broken = in->unmapped = false;
	in->ctx = ctx;
	if (in->regular && st.st_size >= INPUT_LARGE)
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return ST_OK;
}

/* Waits until there is something to read. */
static enum status
input_wait(struct file_input *in)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };
	enum status st = ST_OK;

	if (poll(&p, 1, 0) > 0)
		return ST_OK;
	pool_wait_begin();
	while (st == ST_OK && poll(&p, 1, in->ctx ? INPUT_BEAT_MS : -1) <= 0)
		if (op_stopped(in->ctx))
			st = ST_AGAIN;
	pool_wait_end();
	return st;
}

bool
file_input_ready(const struct file_input *in, int wait_ms)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };

	return in->regular || poll(&p, 1, wait_ms) > 0;
}

void
file_input_expect(struct file_input *in, uint64_t bytes, bool summed, uint32_t sum)
{
	in->expects = true;
	in->summed = summed;
	in->want_bytes = bytes;
	in->want = sum;
	in->sum = 0;
}

/* Looks at the n bytes at p that were read; over: there are no more. */
static bool
input_as_expected(struct file_input *in, const uint8_t *p, size_t n, bool over)
{
	if (n && in->summed)
		in->sum = crc32c_more(in->sum, p, n);
	if (in->taken < in->want_bytes && !over)
		return true;
	in->broken = in->taken != in->want_bytes || (in->summed && in->sum != in->want);
	return !in->broken;
}

static void
input_took(struct file_input *in, size_t n)
{
	in->taken += (uint64_t)n;
	if (in->ctx && in->ctx->intake)
		atomic_fetch_add_explicit(&in->ctx->intake->bytes, (uint64_t)n, memory_order_relaxed);
}

static enum status
input_read_object(struct file_input *in, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	enum status st = fetch_read(in->object, p, room, n, e);

	in->size = fetch_known(in->object)->size;
	if (st == ST_OK)
		input_took(in, *n);
	return st;
}

static enum status
input_read(struct file_input *in, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	*n = 0;
	if (in->object)
		return input_read_object(in, p, room, n, e);
	for (;;) {
		/* Standard input may be shared with other processes, so it stays in blocking
		 * mode: it is polled first, unless nothing could stop the wait. */
		if (!in->regular && in->ctx && input_wait(in) != ST_OK)
			return ST_AGAIN;
		ssize_t got = read(in->fd, p, room);
		if (got > 0) {
			*n = (size_t)got;
			input_took(in, *n);
			return ST_OK;
		}
		if (got == 0)
			return ST_END;
		if (errno == EAGAIN && input_wait(in) != ST_OK)
			return ST_AGAIN;
		if (errno == EINTR && op_stopped(in->ctx))
			return ST_AGAIN;
		if (errno != EINTR && errno != EAGAIN)
			return err_errno(e, "cannot read at byte %llu",
					 (unsigned long long)in->taken);
	}
}

enum status
file_input_read(struct file_input *in, uint8_t *p, size_t room, size_t *n, struct err *e)
{
	enum status st = input_read(in, p, room, n, e);

	if (!in->expects || (st != ST_OK && st != ST_END) || input_as_expected(in, p, *n, st == ST_END))
		return st;
	*n = 0;
	return err_set(e, ST_DATA, "it is damaged");
}

enum status
file_input_fill(struct file_input *in, struct err *e)
{
	if (!in->buf)
		in->buf = mem_alloc(FILE_INPUT_BLOCK);
	in->from = in->to = 0;
	return file_input_read(in, in->buf, FILE_INPUT_BLOCK, &in->to, e);
}

enum status
file_input_seek(struct file_input *in, uint64_t offset, struct err *e)
{
	if (in->object)
		fetch_seek(in->object, offset);
	else if (lseek(in->fd, (off_t)offset, SEEK_SET) < 0)
		return err_errno(e, "cannot seek to byte %llu", (unsigned long long)offset);
	in->taken = offset;
	return ST_OK;
}

const uint8_t *
file_input_lend(struct file_input *in, uint64_t offset, size_t most, size_t *n)
{
	struct mapped *m = &in->piece;

	if (!in->regular || in->object || in->expects || in->unmapped || in->size < INPUT_LARGE || offset >= in->size)
		return NULL;
	if (!m->data || offset < m->offset || offset - m->offset >= m->len
	    || (m->len - (size_t)(offset - m->offset) < most && m->offset + m->len < in->size)) {
		uint64_t start = offset & ~(uint64_t)(MAPPED_STEP - 1), left = in->size - start;

		mapped_close(m);
		in->unmapped = !mapped_open(m, in->fd, start, left < INPUT_PIECE ? (size_t)left : INPUT_PIECE);
		if (in->unmapped)
			return NULL;
	}
	mapped_use();
	*n = m->len - (size_t)(offset - m->offset);
	if (*n > most)
		*n = most;
	return m->data + (offset - m->offset);
}

bool
file_input_lost(struct file_input *in)
{
	struct stat st;

	/* Behind the end, the last page has zeros, too. */
	in->unmapped = mapped_broken(&in->piece) || fstat(in->fd, &st) != 0 || (uint64_t)st.st_size < in->size;
	return in->unmapped;
}

enum status
file_input_pass(struct file_input *in, uint64_t offset, struct err *e)
{
	uint64_t before = in->taken;
	enum status st = file_input_seek(in, offset, e);

	in->taken = before;
	if (st == ST_OK && offset > before)
		input_took(in, (size_t)(offset - before));
	in->taken = offset;
	return st;
}

enum status
file_input_peek(struct file_input *in, uint8_t *p, size_t n, size_t *got, struct err *e)
{
	enum status st = ST_OK;
	size_t more = 0;

	*got = 0;
	if (!in->object) {
		ssize_t had = pread(in->fd, p, n, 0);

		*got = had > 0 ? (size_t)had : 0;
		return had < 0 ? err_errno(e, "cannot read at byte 0") : ST_OK;
	}
	for (; st == ST_OK && *got < n; *got += more)
		st = fetch_read(in->object, p + *got, n - *got, &more, e);
	fetch_seek(in->object, 0);
	return st == ST_END ? ST_OK : st;
}

const char *
file_input_tag(const struct file_input *in)
{
	return in->object ? fetch_known(in->object)->tag : NULL;
}

void
file_input_until(struct file_input *in, uint64_t end)
{
	if (in->object)
		fetch_until(in->object, end);
}

void
file_input_close(struct file_input *in)
{
	fetch_close(&in->object);
	mapped_close(&in->piece);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	in->fd = -1;
}

void
file_input_clear(struct file_input *in)
{
	file_input_close(in);
	mem_free(in->buf);
	file_input_init(in);
}
