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
enum { COLUMNS = 256, PATH = 256, QUEUE = 2048, FDS = 8, MESSAGE = 1 << 20 };

struct column {
	char path[PATH];
	unsigned kind, dtype;
	size_t width, size, at, heap; /* width: numbers of a row; size: bytes of one */
};
struct dsvc_ring {
	unsigned char *data;
	size_t bytes, slots, rows;
	struct column column[COLUMNS];
	size_t n;
	struct dsvc_ring *next;
};
struct told { uint64_t step, first, rows, valid; unsigned epoch, slot, flags; struct dsvc_ring *ring; };
struct dsvc_feed {
	int fd, code, ended, joined;
	char error[1024];
	unsigned rank, world;
	uint64_t given, done, last, taken, prefetch; /* taken: steps that were handed out */
	unsigned char *in;
	size_t n_in;
	int fds[FDS], n_fds;
	struct dsvc_ring *rings;      /* the newest first */
	struct told queue[QUEUE];
	size_t first, n;
};

static int
fail(struct dsvc_feed *f, int code, const char *fmt, ...)
{
	va_list ap;

	if (f->code)
		return -1;
	va_start(ap, fmt);
	vsnprintf(f->error, sizeof f->error, fmt, ap);
	va_end(ap);
	f->code = code ? code : 1;
	return -1;
}

/* Messages out */

struct out { unsigned char b[4096]; size_t n; };

static void
put_byte(struct out *o, unsigned v)
{
	if (o->n < sizeof o->b)
		o->b[o->n++] = (unsigned char)v;
}

static void
put_number(struct out *o, uint64_t v)
{
	put_byte(o, 0xcf);
	for (int i = 56; i >= 0; i -= 8)
		put_byte(o, (unsigned)(v >> i) & 255);
}

static void
put_text(struct out *o, unsigned code, const char *s, size_t n)
{
	if (n > 1024)
		n = 1024;
	put_byte(o, code);
	put_byte(o, (unsigned)n >> 8);
	put_byte(o, (unsigned)n & 255);
	for (size_t i = 0; i < n; i++)
		put_byte(o, (unsigned char)s[i]);
}

static void
begin(struct out *o, unsigned type, unsigned fields)
{
	o->n = 4;
	put_byte(o, 0x90 | (fields + 1));
	put_byte(o, type);
}

static int
send_all(struct dsvc_feed *f, const unsigned char *p, size_t n)
{
	while (n) {
		ssize_t k = send(f->fd, p, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return fail(f, 75, "the feed has gone");
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

static void
put_length(unsigned char *b, size_t n)
{
	for (int i = 0; i < 4; i++)
		b[i] = (unsigned char)(n >> 8 * i);
}

static int
finish(struct dsvc_feed *f, struct out *o)
{
	put_length(o->b, o->n - 4);
	return send_all(f, o->b, o->n);
}

static int
ready(struct dsvc_feed *f)
{
	struct out o;

	begin(&o, READY, 3);
	put_number(&o, f->given);
	put_number(&o, f->done);
	put_number(&o, UINT64_MAX);
	return finish(f, &o);
}

/* Messages in: a reader that fails once, and then gives zeros. */

struct in { const unsigned char *p, *end; int bad; };

static uint64_t
get_bytes(struct in *i, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(i->end - i->p) < n)
		i->bad = 1;
	for (size_t k = 0; k < n && !i->bad; k++)
		v = v << 8 | *i->p++;
	return v;
}

static uint64_t
get_number(struct in *i)
{
	unsigned c = (unsigned)get_bytes(i, 1);

	if (c < 128)
		return c;
	if (c == 0xc2 || c == 0xc3)
		return c == 0xc3;
	if (c >= 0xcc && c <= 0xcf)
		return get_bytes(i, (size_t)1 << (c - 0xcc));
	i->bad = 1;
	return 0;
}

/* The length of a list, or of a text, whose bytes follow. */
static size_t
get_size(struct in *i)
{
	unsigned c = (unsigned)get_bytes(i, 1);
	size_t n = 0;

	if ((c & 0xf0) == 0x90)
		return c & 15;
	if ((c & 0xe0) == 0xa0)
		n = c & 31;
	else if (c == 0xd9 || c == 0xc4)
		n = get_bytes(i, 1);
	else if (c == 0xda || c == 0xdc || c == 0xc5)
		n = get_bytes(i, 2);
	else if (c == 0xdb || c == 0xdd || c == 0xc6)
		n = get_bytes(i, 4);
	else
		i->bad = 1;
	if (n > (size_t)(i->end - i->p))
		i->bad = 1;
	return i->bad ? 0 : n;
}

static void
get_text(struct in *i, char *to, size_t size)
{
	size_t n = get_size(i), k = n < size ? n : size - 1;

	memcpy(to, i->p, i->bad ? 0 : k);
	to[i->bad ? 0 : k] = 0;
	i->p += i->bad ? 0 : n;
}

static void
get_column(struct in *i, struct column *c)
{
	static const struct { const char *name; size_t size; } types[] = { { "u8", 1 }, { "u16", 2 }, { "u32", 4 },
		{ "u64", 8 }, { "i8", 1 }, { "i16", 2 }, { "i32", 4 }, { "i64", 8 }, { "f32", 4 }, { "f64", 8 }, { "bool", 1 },
		{ "f16", 2 }, { "bf16", 2 } };
	char word[PATH];
	size_t at = 0;

	if (get_size(i) != 8)
		i->bad = 1;
	for (size_t n = get_size(i); n && !i->bad; n--) {
		get_text(i, word, sizeof word);
		int k = snprintf(c->path + at, sizeof c->path - at, "%s%s", at ? "." : "", word);
		at = at + (size_t)k < sizeof c->path ? at + (size_t)k : sizeof c->path - 1;
	}
	c->kind = (unsigned)get_number(i);
	get_text(i, word, sizeof word);
	for (c->dtype = 0; c->dtype < 12 && strcmp(types[c->dtype].name, word); c->dtype++)
		;
	c->size = types[c->dtype].size;
	c->width = 1;
	for (size_t n = get_size(i); n && !i->bad; n--) {
		if (get_size(i) != 1)
			i->bad = 1;
		c->width *= get_number(i);
	}
	c->at = get_number(i);
	c->heap = get_number(i);
	get_number(i);
	get_number(i);
}

static int
take_ring(struct dsvc_feed *f, struct in *i)
{
	struct dsvc_ring *r = (struct dsvc_ring *)calloc(1, sizeof *r);
	char mask[PATH];
	void *at = MAP_FAILED;

	if (!r || !f->n_fds) {
		free(r);
		return fail(f, 74, "no memory came with the feed's message");
	}
	r->slots = get_number(i);
	r->bytes = get_number(i);
	r->rows = get_number(i);
	get_number(i);
	int writable = (int)get_number(i);
	get_text(i, mask, sizeof mask);
	r->n = get_size(i);
	if (r->n > COLUMNS)
		i->bad = 1;
	for (size_t k = 0; k < r->n && !i->bad; k++)
		get_column(i, &r->column[k]);
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

static int
take_batch(struct dsvc_feed *f, struct in *i)
{
	struct told *t = &f->queue[(f->first + f->n) % QUEUE];

	if (f->n == QUEUE || !f->rings)
		return fail(f, 76, "the feed told of more steps than it may");
	t->step = get_number(i);
	t->epoch = (unsigned)get_number(i);
	t->slot = (unsigned)get_number(i);
	t->first = get_number(i);
	t->rows = get_number(i);
	t->valid = get_number(i);
	t->flags = (unsigned)get_number(i);
	t->ring = f->rings;
	if (i->bad || t->slot >= t->ring->slots || t->first > t->ring->rows || t->rows > t->ring->rows - t->first)
		return fail(f, 76, "the feed told of a step outside of its memory");
	f->n++;
	return 0;
}

static int
take(struct dsvc_feed *f, const unsigned char *p, size_t n)
{
	struct in i = { p, p + n, 0 };
	char text[512], help[256];
	int code;

	get_size(&i);
	switch (get_number(&i)) {
	case WELCOME:
		get_number(&i), get_number(&i), get_number(&i);
		f->rank = (unsigned)get_number(&i);
		f->world = (unsigned)get_number(&i);
		get_number(&i), get_number(&i), get_number(&i);
		f->prefetch = get_number(&i);
		get_number(&i), get_number(&i), get_number(&i);
		f->given = f->done = f->taken = get_number(&i);
		f->joined = 1;
		break;
	case RING:
		if (take_ring(f, &i))
			return -1;
		break;
	case BATCH: return take_batch(f, &i);
	case END:
		get_number(&i);
		f->last = get_number(&i);
		f->ended = 1;
		break;
	case ERROR:
		code = (int)get_number(&i);
		get_text(&i, text, sizeof text);
		get_text(&i, help, sizeof help);
		return fail(f, code, "%s%s%s", text, help[0] ? "\n  help: " : "", help);
	default: break;
	}
	return i.bad ? fail(f, 76, "the feed sent a message that makes no sense") : 0;
}

static void
take_descriptors(struct dsvc_feed *f, struct msghdr *h)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t k = 0; k < n; k++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + k * sizeof fd, sizeof fd);
			if (f->n_fds < FDS)
				f->fds[f->n_fds++] = fd;
			else
				close(fd);
		}
	}
}

/* Waits for bytes, and takes the whole messages in. */
static int
hear(struct dsvc_feed *f)
{
	union { struct cmsghdr head; char room[CMSG_SPACE(FDS * sizeof(int))]; } control;
	struct iovec v = { f->in + f->n_in, MESSAGE + 4 - f->n_in };
	struct msghdr h;

	memset(&h, 0, sizeof h);
	h.msg_iov = &v;
	h.msg_iovlen = 1;
	h.msg_control = control.room;
	h.msg_controllen = sizeof control;
	ssize_t n = recvmsg(f->fd, &h, MSG_CMSG_CLOEXEC);
	size_t at = 0;

	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return fail(f, 75, "the feed has gone");
	take_descriptors(f, &h);
	f->n_in += (size_t)n;
	while (f->n_in - at >= 4) {
		const unsigned char *p = f->in + at;
		size_t size = p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;

		if (size > MESSAGE)
			return fail(f, 76, "the feed sent a message that is too large");
		if (f->n_in - at < 4 + size)
			break;
		if (take(f, p + 4, size))
			return -1;
		at += 4 + size;
	}
	memmove(f->in, f->in + at, f->n_in - at);
	f->n_in -= at;
	return 0;
}

static int
join(struct dsvc_feed *f, const char *address)
{
	struct sockaddr_un a;
	const char *core = getenv("DSVC_CORE");
	struct out o;

	memset(&a, 0, sizeof a);
	a.sun_family = AF_UNIX;
	if (!address)
		address = getenv("DSVC_FEED");
	if (!address)
		return fail(f, 64, "DSVC_FEED names no feed");
	if (!strncmp(address, "fd:", 3)) {
		f->fd = atoi(address + 3);
	} else {
		snprintf(a.sun_path, sizeof a.sun_path, "%s", address);
		f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (f->fd < 0 || connect(f->fd, (struct sockaddr *)&a, sizeof a))
			return fail(f, 69, "no dsvc-feed at %s: %s", address, strerror(errno));
	}
	begin(&o, JOIN, 7);
	put_number(&o, 1);
	put_number(&o, core && *core ? strtoull(core, NULL, 10) : UINT32_MAX);
	put_number(&o, (uint64_t)getpid());
	put_text(&o, 0xda, "c", 1);
	put_text(&o, 0xda, "", 0);
	put_text(&o, 0xc5, "", 0);
	put_number(&o, 0);
	if (finish(f, &o))
		return -1;
	while (!f->joined)
		if (hear(f))
			return -1;
	return ready(f);
}

struct dsvc_feed *
dsvc_feed_open(const char *address, char **err)
{
	struct dsvc_feed *f = (struct dsvc_feed *)calloc(1, sizeof *f);

	if (err)
		*err = NULL;
	if (!f)
		return NULL;
	f->fd = -1;
	f->in = (unsigned char *)malloc(MESSAGE + 4);
	if (f->in && !join(f, address))
		return f;
	if (err)
		*err = strdup(f->in ? f->error : "out of memory");
	dsvc_feed_close(&f);
	return NULL;
}

/* Steps beyond those are not told of before one is done: whoever waits for them would do so for ever. The end may
 * be on its way. */
static int
kept_too_many(struct dsvc_feed *f)
{
	struct pollfd p = { f->fd, POLLIN, 0 };

	if (f->taken - f->done < f->prefetch || poll(&p, 1, 1000))
		return 0;
	return fail(f, 64, "dsvc_feed_next: %u batch%s in hand, and no more come before one is given back with dsvc_feed_done",
		    (unsigned)(f->taken - f->done), f->taken - f->done == 1 ? " is" : "es are");
}

int
dsvc_feed_next(struct dsvc_feed *f, struct dsvc_batch *b)
{
	memset(b, 0, sizeof *b);
	while (!f->code && !f->n && !f->ended)
		if (!kept_too_many(f))
			hear(f);
	if (f->code)
		return -1;
	if (!f->n)
		return 0;
	struct told *t = &f->queue[f->first];
	f->first = (f->first + 1) % QUEUE;
	f->n--;
	b->step = t->step;
	b->epoch = t->epoch;
	b->rows = t->rows;
	b->valid = t->valid;
	b->last_of_loop = (int)(t->flags & 1);
	b->feed = f;
	b->ring = t->ring;
	b->slot = t->ring->data + t->slot * t->ring->bytes;
	b->first = t->first;
	f->taken = t->step + 1;
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
	unsigned char *m = (unsigned char *)malloc(64 + 9 * n), *p;
	struct out o;

	if (!m)
		return fail(f, 74, "out of memory");
	begin(&o, RESULT, 3);
	put_number(&o, b->step);
	put_number(&o, n);
	memcpy(m, o.b, o.n);
	p = m + o.n;
	size_t size = 5 + 9 * n;
	*p++ = 0xc6;
	for (int i = 24; i >= 0; i -= 8)
		*p++ = (unsigned char)(size >> i);
	*p++ = 0xdd;
	for (int i = 24; i >= 0; i -= 8)
		*p++ = (unsigned char)(n >> i);
	for (size_t k = 0; k < n; k++) {
		uint64_t bits;

		memcpy(&bits, &v[k], 8);
		*p++ = 0xcb;
		for (int i = 56; i >= 0; i -= 8)
			*p++ = (unsigned char)(bits >> i);
	}
	put_length(m, (size_t)(p - m) - 4);
	int bad = send_all(f, m, (size_t)(p - m));
	free(m);
	return bad;
}

int
dsvc_feed_done(struct dsvc_feed *f, struct dsvc_batch *b)
{
	if (b->step + 1 > f->done)
		f->done = f->given = b->step + 1;
	memset(b, 0, sizeof *b);
	return f->code ? -1 : ready(f);
}

int
dsvc_feed_stop(struct dsvc_feed *f, const char *why)
{
	struct out o;

	begin(&o, STOP, 1);
	put_text(&o, 0xda, why ? why : "", why ? strlen(why) : 0);
	return finish(f, &o);
}

void
dsvc_feed_fail(struct dsvc_feed *f, const char *why)
{
	struct out o;

	begin(&o, FAIL, 4);
	put_number(&o, f->code ? (unsigned)f->code : 1);
	put_text(&o, 0xda, why, strlen(why));
	put_text(&o, 0xda, "", 0);
	put_text(&o, 0xda, "", 0);
	finish(f, &o);
	fail(f, 1, "%s", why);
}

const char *
dsvc_feed_error(const struct dsvc_feed *f, int *code)
{
	if (code)
		*code = f->code;
	return f->error;
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
	struct out o;

	*fp = NULL;
	if (!f)
		return 1;
	if (f->joined && !f->code) {
		begin(&o, BYE, 1);
		put_number(&o, f->done);
		finish(f, &o);
	}
	int code = f->code;
	for (struct dsvc_ring *r = f->rings, *next; r; r = next) {
		next = r->next;
		munmap(r->data, r->slots * r->bytes);
		free(r);
	}
	for (int i = 0; i < f->n_fds; i++)
		close(f->fds[i]);
	if (f->fd >= 0)
		close(f->fd);
	free(f->in);
	free(f);
	return code;
}
