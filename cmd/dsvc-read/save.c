/* SPDX-License-Identifier: MIT */
#include "save.h"

#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/transfer.h"
#include "value/crc32c.h"
#include "value/mp.h"

#define SAVED_NAME "dsvc-position"
enum { SAVED_VERSION = 2, SAVED_PARTS = 6, SAVED_LOGGED = 3, SAVED_LOGGED_PARTS = 8, SAVED_MOST = 64 << 20 };

static enum status
saved_bad(const char *file, struct err *e)
{
	err_set(e, ST_DATA, "%s is not a position written by dsvc-read", file);
	err_help(e, "name another file for --checkpoint, or remove this one to start over");
	return ST_DATA;
}

static enum status
saved_parse(const char *file, const struct buf *b, struct saved *s, struct err *e)
{
	const uint8_t *p = b->data, *end = p + b->len, *sum = NULL;
	struct mp m[SAVED_LOGGED_PARTS + 1] = { 0 };
	if (!b->len || !mp_check(p, b->len))
		return saved_bad(file, e);
	p = mp_head(p, end, &m[0]);
	if (m[0].kind != MP_LIST || m[0].n < 2)
		return saved_bad(file, e);
	for (uint32_t i = 1; i <= SAVED_LOGGED_PARTS && i <= m[0].n && p; i++) {
		sum = p;
		p = mp_head(p, end, &m[i]);
	}
	if (m[1].kind != MP_TEXT || m[1].n != strlen(SAVED_NAME) || memcmp(m[1].p, SAVED_NAME, m[1].n) ||
	    m[2].kind != MP_INT)
		return saved_bad(file, e);
	bool logged = m[2].i == SAVED_LOGGED;
	if (m[2].i != SAVED_VERSION && !logged)
		return err_set(e, ST_PROTO, "%s is a position of version %lld, this program reads %d and %d",
			       file, (long long)m[2].i, SAVED_VERSION, SAVED_LOGGED);
	const struct mp *last = &m[logged ? SAVED_LOGGED_PARTS : SAVED_PARTS];
	if (m[0].n != (uint32_t)(last - m) || m[3].kind != MP_INT || m[4].kind != MP_INT || m[5].kind != MP_BYTES ||
	    (logged && (m[6].kind != MP_INT || m[7].kind != MP_INT)) || last->kind != MP_INT ||
	    last->u != crc32c(b->data, (size_t)(sum - b->data)))
		return saved_bad(file, e);
	s->there = true;
	s->bytes = m[3].u;
	s->elements = m[4].u;
	if (logged)
		s->log = (struct logged_at){ m[6].u, m[7].u };
	buf_put(&s->position, m[5].p, m[5].n);
	return ST_OK;
}

enum status
saved_load(const char *file, struct saved *s, struct err *e)
{
	struct buf b = { 0 };
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return ST_OK;
	if (fd < 0)
		return err_errno(e, "cannot read %s", file);
	enum status st = transfer_read_all(fd, SAVED_MOST, &b) ? saved_parse(file, &b, s, e) :
		err_errno(e, "cannot read %s", file);
	close(fd);
	buf_clear(&b);
	return st;
}

static void
saved_encode(const struct saved *s, struct buf *out)
{
	size_t name = strlen(SAVED_NAME);
	uint8_t *p = buf_room(out, 96 + s->position.len), *start = p;
	bool logged = s->log.bytes > 0;
	p = mp_put_list_head(p, logged ? SAVED_LOGGED_PARTS : SAVED_PARTS);
	p = mp_put_text(p, SAVED_NAME, (uint32_t)name);
	p = mp_put_int(p, logged ? SAVED_LOGGED : SAVED_VERSION);
	p = mp_put_uint(p, s->bytes);
	p = mp_put_uint(p, s->elements);
	p = mp_put_bytes_head(p, (uint32_t)s->position.len);
	memcpy(p, s->position.data, s->position.len);
	p += s->position.len;
	if (logged) {
		p = mp_put_uint(p, s->log.bytes);
		p = mp_put_uint(p, s->log.rows);
	}
	p = mp_put_uint(p, crc32c(start, (size_t)(p - start)));
	out->len += (size_t)(p - start);
}

enum status
saved_store(const char *file, const struct saved *s, struct err *e)
{
	struct buf b = { 0 };

	saved_encode(s, &b);
	enum status st = replace_save(file, "the position", b.data, b.len, e);
	buf_clear(&b);
	return st;
}

enum status
acks_open(struct acks *a, int64_t fd, struct err *e)
{
	*a = (struct acks){ .fd = (int)fd };
	if (fd < 0)
		return ST_OK;
	int flags = fcntl((int)fd, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) {
		err_set(e, ST_USAGE, "--ack-fd %lld: there is nothing to read from", (long long)fd);
		err_help(e, "open it: dsvc-read --ack-fd 3 3<fifo");
		return ST_USAGE;
	}
	fcntl((int)fd, F_SETFL, flags | O_NONBLOCK);
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return ST_OK;
}

static void
acks_byte(struct acks *a, char c)
{
	if (c >= '0' && c <= '9' && !a->over && a->digits < UINT64_MAX / 10 - 9) {
		a->digits = a->digits * 10 + (uint64_t)(c - '0');
		a->any = true;
	} else if (c == '\n') {
		if (a->any && a->digits > a->finished)
			a->finished = a->digits;
		a->digits = 0;
		a->any = a->over = false;
	} else if (c == '\r' || c == ' ') {
		a->over = a->any; /* one number in a line */
	} else {
		a->bad = true;
	}
}

enum status
acks_read(struct acks *a, struct err *e)
{
	char bytes[4096];
	ssize_t n;
	if (a->fd < 0)
		return ST_OK;
	while ((n = read(a->fd, bytes, sizeof bytes)) > 0)
		for (ssize_t i = 0; i < n; i++)
			acks_byte(a, bytes[i]);
	if (a->bad) {
		err_set(e, ST_DATA, "--ack-fd: a line is not a number");
		err_help(e, "each line gives the total number of elements finished so far");
		return ST_DATA;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		acks_byte(a, '\n'); /* a number that was cut off is no larger than it was to be */
		a->ended = true;
		a->fd = -1;
	}
	return ST_OK;
}
