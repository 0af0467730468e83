/* SPDX-License-Identifier: MIT
 *
 * The messages are described in doc/protocol.md of dsvc, "dsvc-feed and its cores".
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "dsvc_feed.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { JOIN = 1, READY = 2, RESULT = 5, STOP = 6, FAIL = 7, BYE = 8, WELCOME = 16, RING, BATCH, HERE, END, ERROR };
enum { COLUMNS = 256, TEXT = 512, QUEUE = 2048, FDS = 8, MESSAGE = 1 << 20 };

struct column {
	char path[TEXT];
	uint64_t kind, dtype, size, width, at, heap; /* size: bytes of a number; width: numbers of a row */
};
struct dsvc_ring {
	unsigned char *data;
	uint64_t slots, bytes, rows, n, end; /* end: of the steps that it was told to have */
	struct column column[COLUMNS];
	struct dsvc_ring *next;
};
struct dsvc_feed {
	int fd, ended, joined, fds[FDS], n_fds;
	struct dsvc_error error;
	uint64_t rank, world, prefetch, done, taken; /* taken: steps that were handed out */
	unsigned char *in;
	size_t n_in, first, n;        /* first, n: of the queue */
	struct dsvc_ring *rings;      /* the newest first */
	struct dsvc_batch queue[QUEUE];
};

/* Keeps the first error. */
static int
fail(struct dsvc_feed *f, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (!f->error.code) {
		vsnprintf(f->error.text, sizeof f->error.text, fmt, ap);
		f->error.code = code ? code : 1;
	}
	va_end(ap);
	return -1;
}

/* Messages out */

static unsigned char *
put(unsigned char *p, unsigned code, uint64_t v, unsigned bytes)
{
	*p++ = (unsigned char)code;
	while (bytes--)
		*p++ = (unsigned char)(v >> 8 * bytes);
	return p;
}

static int hear(struct dsvc_feed *f);

/* Sends [p, end), which begins with room for its length. Where the feed has gone, what it said before tells why. */
static int
send_all(struct dsvc_feed *f, unsigned char *p, const unsigned char *end)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)((size_t)(end - p - 4) >> 8 * i);
	while (p < end) {
		ssize_t n = send(f->fd, p, (size_t)(end - p), MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR) {
			while (!hear(f))
				;
			return -1;
		}
		p += n < 0 ? 0 : n;
	}
	return 0;
}

/* A message with a number (uint64_t) for each n of `fields`, and the begin of a text for each t, or b for bytes. */
static int
say(struct dsvc_feed *f, unsigned type, const char *fields, ...)
{
	unsigned char message[4096], *p = put(message + 4, 0x91 + (unsigned)strlen(fields), type, 1);
	va_list ap;

	va_start(ap, fields);
	for (; *fields; fields++)
		if (*fields == 'n') {
			p = put(p, 0xcf, va_arg(ap, uint64_t), 8);
		} else {
			const char *s = va_arg(ap, const char *);
			size_t n = strnlen(s, 1024);

			p = (unsigned char *)memcpy(put(p, *fields == 't' ? 0xda : 0xc5, n, 2), s, n) + n;
		}
	va_end(ap);
	return send_all(f, message, p);
}

/* Messages in: a reader that fails once, and then gives zeros. */

struct in { const unsigned char *p, *end; int bad; };

/* A number, or how many items of a list or bytes of a text follow. */
static uint64_t
get(struct in *i)
{
	/* Bytes of the number behind each of 0xc2 to 0xdd. */
	static const unsigned char bytes[] = { 0, 0, 1, 2, 4, 9, 9, 9, 9, 9, 1, 2, 4, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 4, 2, 4 };
	unsigned c = i->p < i->end ? *i->p++ : 0xc1;
	uint64_t v = c & 1;

	if (c < 0xc0)
		return c < 0x80 ? c : c < 0xa0 ? c & 15 : c & 31;
	unsigned n = c < 0xc2 || c > 0xdd ? 9 : bytes[c - 0xc2];
	if (n > 8 || (size_t)(i->end - i->p) < n) {
		i->bad = 1;
		i->p = i->end;
		return 0;
	}
	for (v = n ? 0 : v; n; n--)
		v = v << 8 | *i->p++;
	return v;
}

/* A number into a uint64_t for each n of `fields`, the begin of a text into char[TEXT] for each t; - passes over one. */
static void
scan(struct in *i, const char *fields, ...)
{
	va_list ap;

	va_start(ap, fields);
	for (; *fields; fields++) {
		uint64_t v = get(i);

		if (*fields == 'n')
			*va_arg(ap, uint64_t *) = v;
		if (*fields != 't')
			continue;
		char *to = va_arg(ap, char *);
		if (v > (size_t)(i->end - i->p)) {
			i->bad = 1;
			v = 0;
		}
		snprintf(to, TEXT, "%.*s", (int)v, (const char *)i->p);
		i->p += v;
	}
	va_end(ap);
}

static void
take_column(struct in *i, struct column *c)
{
	static const struct { const char *name; unsigned size; } types[] = { { "u8", 1 }, { "u16", 2 }, { "u32", 4 },
		{ "u64", 8 }, { "i8", 1 }, { "i16", 2 }, { "i32", 4 }, { "i64", 8 }, { "f32", 4 }, { "f64", 8 }, { "bool", 1 },
		{ "f16", 2 }, { "bf16", 2 } };
	char word[TEXT];
	size_t at = 0;

	get(i);
	for (uint64_t n = get(i); n && !i->bad; n--) {
		scan(i, "t", word);
		at += (size_t)snprintf(c->path + at, sizeof c->path - at, "%s%s", at ? "." : "", word);
		at = at < sizeof c->path ? at : sizeof c->path - 1;
	}
	scan(i, "nt", &c->kind, word);
	while (c->dtype < DSVC_BF16 && strcmp(types[c->dtype].name, word))
		c->dtype++;
	c->size = types[c->dtype].size;
	c->width = 1;
	for (uint64_t n = get(i); n && !i->bad; n--) {
		get(i);
		c->width *= get(i);
	}
	scan(i, "nn--", &c->at, &c->heap);
}

static int
take_ring(struct dsvc_feed *f, struct in *i)
{
	struct dsvc_ring *r = (struct dsvc_ring *)calloc(1, sizeof *r);
	char mask[TEXT];
	uint64_t writable;
	void *at = MAP_FAILED;

	if (!r || !f->n_fds) {
		free(r);
		return fail(f, 74, "no memory came with the feed's message");
	}
	scan(i, "nnn-ntn", &r->slots, &r->bytes, &r->rows, &writable, mask, &r->n);
	i->bad |= r->n > COLUMNS;
	for (size_t k = 0; k < r->n && !i->bad; k++)
		take_column(i, &r->column[k]);
	if (!i->bad)
		at = mmap(NULL, r->slots * r->bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, f->fds[0], 0);
	close(f->fds[0]);
	memmove(f->fds, f->fds + 1, (size_t)--f->n_fds * sizeof *f->fds);
	if (at == MAP_FAILED) {
		free(r);
		return fail(f, 74, "cannot map the memory of steps");
	}
	r->data = (unsigned char *)at;
	r->next = f->rings;
	f->rings = r;
	return 0;
}

/* Unmaps those whose steps are done, from this one on. */
static void
drop_rings(struct dsvc_ring **at, uint64_t done)
{
	for (struct dsvc_ring *r; (r = *at);) {
		if (r->end > done) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		munmap(r->data, r->slots * r->bytes);
		free(r);
	}
}

static int
take_batch(struct dsvc_feed *f, struct in *i)
{
	struct dsvc_batch *b = &f->queue[(f->first + f->n) % QUEUE];
	const struct dsvc_ring *r = f->rings;
	uint64_t epoch, slot, flags;

	if (f->n == QUEUE || !r)
		return fail(f, 76, "the feed told of more steps than it may");
	scan(i, "nnnnnnn", &b->step, &epoch, &slot, &b->first, &b->rows, &b->valid, &flags);
	if (i->bad || slot >= r->slots || b->first > r->rows || b->rows > r->rows - b->first)
		return fail(f, 76, "the feed told of a step outside of its memory");
	b->epoch = (uint32_t)epoch;
	b->last_of_loop = (int)(flags & 1);
	b->slot = r->data + slot * r->bytes;
	b->ring = r;
	f->rings->end = b->step + 1;
	f->n++;
	return 0;
}

static int
take(struct dsvc_feed *f, struct in i)
{
	char text[TEXT], help[TEXT];
	uint64_t code;

	get(&i);
	switch (get(&i)) {
	case WELCOME:
		scan(&i, "---nn---n---n", &f->rank, &f->world, &f->prefetch, &f->done);
		f->taken = f->done;
		f->joined = 1;
		break;
	case RING: return take_ring(f, &i);
	case BATCH: return take_batch(f, &i);
	case END: f->ended = 1; break;
	case ERROR:
		scan(&i, "ntt", &code, text, help);
		return fail(f, code < 256 ? (int)code : 76, "%s%s%s", text, help[0] ? "\n  help: " : "", help);
	default: break;
	}
	return i.bad ? fail(f, 76, "the feed sent a message that makes no sense") : 0;
}

/* Waits for bytes, and takes the whole messages in. */
static int
hear(struct dsvc_feed *f)
{
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } control;
	struct iovec v = { f->in + f->n_in, MESSAGE + 4 - f->n_in };
	struct msghdr h;
	size_t at = 0;

	memset(&h, 0, sizeof h);
	h.msg_iov = &v;
	h.msg_iovlen = 1;
	h.msg_control = control.room;
	h.msg_controllen = CMSG_LEN(f->n_fds < FDS ? sizeof(int) : 0);
	ssize_t n = recvmsg(f->fd, &h, MSG_CMSG_CLOEXEC);
	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return fail(f, 75, "the feed has gone");
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&f->fds[f->n_fds++], CMSG_DATA(c), sizeof(int));
	f->n_in += (size_t)n;
	while (f->n_in - at >= 4) {
		const unsigned char *p = f->in + at;
		size_t size = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;

		if (size > MESSAGE)
			return fail(f, 76, "the feed sent a message that is too large");
		if (f->n_in - at < 4 + size)
			break;
		if (take(f, (struct in){ p + 4, p + 4 + size, 0 }))
			return -1;
		at += 4 + size;
	}
	memmove(f->in, f->in + at, f->n_in - at);
	f->n_in -= at;
	return 0;
}

/* The core of this host that the process is, as whoever started it says: a number, or else any. */
static uint64_t
my_core(void)
{
	static const char *const names[] = { "DSVC_CORE", "LOCAL_RANK", "SLURM_LOCALID" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *said = getenv(names[i]);

		if (said && *said >= '0' && *said <= '9')
			return strtoull(said, NULL, 10);
	}
	return UINT32_MAX;
}

static int
join(struct dsvc_feed *f, const char *address)
{
	struct sockaddr_un a = { AF_UNIX, "" };

	if (!address && !(address = getenv("DSVC_FEED")))
		return fail(f, 64, "DSVC_FEED names no feed");
	if (!strncmp(address, "fd:", 3)) {
		f->fd = atoi(address + 3);
	} else {
		if ((size_t)snprintf(a.sun_path, sizeof a.sun_path, "%s", address) >= sizeof a.sun_path)
			return fail(f, 64, "the path of the feed's socket is too long: %s", address);
		f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (f->fd < 0 || connect(f->fd, (struct sockaddr *)&a, sizeof a))
			return fail(f, 69, "no dsvc-feed at %s: %s", address, strerror(errno));
	}
	if (say(f, JOIN, "nnnttbn", (uint64_t)1, my_core(), (uint64_t)getpid(), "c", "", "", (uint64_t)0))
		return -1;
	while (!f->joined)
		if (hear(f))
			return -1;
	return say(f, READY, "nnn", f->done, f->done, UINT64_MAX);
}

struct dsvc_feed *
dsvc_feed_open(const char *address, struct dsvc_error *err)
{
	struct dsvc_feed *f = (struct dsvc_feed *)calloc(1, sizeof *f);

	if (f) {
		f->fd = -1;
		f->in = (unsigned char *)malloc(MESSAGE + 4);
		if (f->in && !join(f, address))
			return f;
	}
	if (err && f && f->in)
		*err = f->error;
	else if (err)
		*err = (struct dsvc_error){ 74, "out of memory" };
	dsvc_feed_close(&f);
	return NULL;
}

/* Steps beyond those are not told of before one is done: whoever waits for them would do so for ever. The end may
 * be on its way. */
static int
kept_too_many(struct dsvc_feed *f)
{
	struct pollfd p = { f->fd, POLLIN, 0 };
	unsigned n = (unsigned)(f->taken - f->done);

	if (n < f->prefetch || poll(&p, 1, 1000))
		return 0;
	return fail(f, 64, "dsvc_feed_next: %u batch%s in hand, and no more come before one is given back with dsvc_feed_done",
		    n, n == 1 ? " is" : "es are");
}

int
dsvc_feed_next(struct dsvc_feed *f, struct dsvc_batch *b)
{
	memset(b, 0, sizeof *b);
	while (!f->error.code && !f->n && !f->ended)
		if (!kept_too_many(f))
			hear(f);
	if (f->error.code || !f->n)
		return f->error.code ? -1 : 0;
	*b = f->queue[f->first];
	f->first = (f->first + 1) % QUEUE;
	f->n--;
	f->taken = b->step + 1;
	return 1;
}

static const struct column *
find(const struct dsvc_batch *b, const char *name)
{
	for (size_t i = 0; b->ring && i < b->ring->n; i++)
		if (!strcmp(b->ring->column[i].path, name))
			return &b->ring->column[i];
	return NULL;
}

const void *
dsvc_feed_column(const struct dsvc_batch *b, const char *name, enum dsvc_dtype dtype, size_t *rows)
{
	const struct column *c = find(b, name);

	if (rows)
		*rows = b->rows;
	return c && !c->kind && c->dtype == dtype ? b->slot + c->at + b->first * c->width * c->size : NULL;
}

size_t
dsvc_feed_width(const struct dsvc_batch *b, const char *name)
{
	const struct column *c = find(b, name);

	return c && !c->kind ? c->width : 0;
}

const void *
dsvc_feed_bytes(const struct dsvc_batch *b, const char *name, size_t row, size_t *len)
{
	const struct column *c = find(b, name);
	uint64_t at[2];

	if (!c || !c->kind || row >= b->rows)
		return NULL;
	size_t item = c->kind == 3 || c->kind == 4 ? 8 : 1;
	memcpy(at, b->slot + c->at + (b->first + row) * 8, sizeof at);
	*len = (at[1] - at[0]) * item;
	return b->slot + c->heap + at[0] * item;
}

int
dsvc_feed_put(struct dsvc_feed *f, const struct dsvc_batch *b, const double *v, size_t n)
{
	unsigned char *message = (unsigned char *)malloc(64 + 9 * n), *p;

	if (!message)
		return fail(f, 74, "out of memory");
	p = put(put(message + 4, 0x94, RESULT, 1), 0xcf, b->step, 8);
	p = put(put(put(p, 0xcf, n, 8), 0xc6, 5 + 9 * n, 4), 0xdd, n, 4); /* the rows; bytes, which are a list */
	for (size_t k = 0; k < n; k++) {
		uint64_t bits;

		memcpy(&bits, &v[k], sizeof bits);
		p = put(p, 0xcb, bits, 8);
	}
	int bad = send_all(f, message, p);
	free(message);
	return bad;
}

int
dsvc_feed_done(struct dsvc_feed *f, struct dsvc_batch *b)
{
	if (b->step + 1 > f->done)
		f->done = b->step + 1;
	memset(b, 0, sizeof *b);
	if (f->rings)
		drop_rings(&f->rings->next, f->done);
	return f->error.code ? -1 : say(f, READY, "nnn", f->done, f->done, UINT64_MAX);
}

int
dsvc_feed_stop(struct dsvc_feed *f, const char *why)
{
	return say(f, STOP, "t", why ? why : "");
}

void
dsvc_feed_fail(struct dsvc_feed *f, const char *why)
{
	say(f, FAIL, "nttt", (uint64_t)(f->error.code ? f->error.code : 1), why, "", "");
	fail(f, 1, "%s", why);
}

const char *
dsvc_feed_error(const struct dsvc_feed *f, int *code)
{
	if (code)
		*code = f->error.code;
	return f->error.text;
}

int
dsvc_feed_rank(const struct dsvc_feed *f)
{
	return (int)f->rank;
}

int
dsvc_feed_world(const struct dsvc_feed *f)
{
	return (int)f->world;
}

int
dsvc_feed_close(struct dsvc_feed **fp)
{
	struct dsvc_feed *f = *fp;

	*fp = NULL;
	if (!f)
		return 1;
	if (f->joined && !f->error.code)
		say(f, BYE, "n", f->done);
	int code = f->error.code;
	drop_rings(&f->rings, UINT64_MAX);
	while (f->n_fds)
		close(f->fds[--f->n_fds]);
	if (f->fd >= 0)
		close(f->fd);
	free(f->in);
	free(f);
	return code;
}
