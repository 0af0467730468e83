/* SPDX-License-Identifier: MIT */
#include "host/borrower.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/intervals.h"
#include "host/lend.h"
#include "host/link.h"
#include "net/seqpacket.h"

enum {
	BORROWER_BURST = 16,
	BORROWER_MAPS = 8,
	BORROWER_PART = 8 /* this part of an arena is given back without waiting for company */
};

struct borrower_map {
	atomic_size_t refs;
	uint8_t *base;
	size_t size;
	uint32_t number;
	struct borrower_map *next;
};

struct borrowed {
	struct borrower *borrower;
	struct borrower_map *map;
	uint64_t lease;
	size_t len;
	struct borrowed *prev, *next;
};

struct borrower {
	struct borrower_conf conf;
	atomic_size_t refs;        /* the connection's, and one of each block */
	uint64_t cookie;
	uint32_t session;
	bool watched;
	struct borrower_map *maps; /* BORROWER_MAPS at most */
	size_t n_maps;
	pthread_mutex_t lock;      /* for what follows */
	int fd;                    /* -1: not connected */
	bool dropped;              /* nobody will ask for a flush */
	struct borrowed *held;
	uint64_t *over;            /* leases to be released */
	size_t n_over, cap_over, bytes_over, most_over;
};

struct borrower *
borrower_new(const struct borrower_conf *c)
{
	struct borrower *b = mem_zalloc(sizeof *b);

	b->conf = *c;
	b->fd = -1;
	atomic_init(&b->refs, 1);
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

static void
borrower_map_unref(struct borrower_map *m)
{
	if (atomic_fetch_sub(&m->refs, 1) != 1)
		return;
	munmap(m->base, m->size);
	mem_free(m);
}

static void
borrower_unref(struct borrower *b)
{
	if (atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	if (b->fd >= 0)
		close(b->fd);
	pthread_mutex_destroy(&b->lock);
	mem_free(b->over);
	mem_free(b);
}

/* Releases */

/* Sends releases, with the lock held. Those that the worker does not take now wait. */
static void
borrower_send(struct borrower *b)
{
	size_t at = 0;

	while (at < b->n_over && b->fd >= 0) {
		size_t n = b->n_over - at < LEND_MOST ? b->n_over - at : LEND_MOST;
		struct lend_packet p = { .kind = LEND_RELEASE, .n = (uint32_t)n };

		memcpy(p.v, b->over + at, n * sizeof *p.v);
		if (!seqpacket_send(b->fd, &p, LEND_BYTES(n), -1))
			break;
		at += n;
	}
	if (!at)
		return;
	memmove(b->over, b->over + at, (b->n_over - at) * sizeof *b->over);
	b->n_over -= at;
	b->bytes_over = 0;
}

/* Puts a lease among those to be released, with the lock held. */
static void
borrower_over(struct borrower *b, uint64_t lease, size_t len)
{
	b->over = mem_grow(b->over, &b->cap_over, b->n_over + 1, sizeof *b->over);
	b->over[b->n_over++] = lease;
	b->bytes_over += len;
	if (b->n_over % LEND_MOST == 0 || b->bytes_over >= b->most_over || b->dropped)
		borrower_send(b);
}

static void
borrower_release(void *arg, uint8_t *data, size_t cap)
{
	struct borrowed *x = arg;
	struct borrower *b = x->borrower;

	(void)data, (void)cap;
	pthread_mutex_lock(&b->lock);
	if (x->prev)
		x->prev->next = x->next;
	else
		b->held = x->next;
	if (x->next)
		x->next->prev = x->prev;
	borrower_over(b, x->lease, x->len);
	pthread_mutex_unlock(&b->lock);
	borrower_map_unref(x->map);
	mem_free(x);
	borrower_unref(b);
}

bool
borrower_is(const struct block *b)
{
	return b->release == borrower_release;
}

void
borrower_flush(struct borrower *b)
{
	pthread_mutex_lock(&b->lock);
	borrower_send(b);
	pthread_mutex_unlock(&b->lock);
}

/* The connection */

static void
borrower_unwatch(struct borrower *b)
{
	if (b->watched)
		net_unwatch(b->conf.net, b->fd);
	b->watched = false;
}

void
borrower_drop(struct borrower **bp)
{
	struct borrower *b = *bp;
	struct borrower_map *m;

	*bp = NULL;
	if (!b)
		return;
	borrower_unwatch(b);
	pthread_mutex_lock(&b->lock);
	b->dropped = true;
	borrower_send(b);
	pthread_mutex_unlock(&b->lock);
	while ((m = b->maps)) {
		b->maps = m->next;
		borrower_map_unref(m);
	}
	borrower_unref(b);
}

bool
borrower_attach(struct borrower *b, uint32_t session, struct msg *out)
{
	struct intervals held = { 0 };

	if (b->session == session)
		return false;
	b->session = session;
	pthread_mutex_lock(&b->lock);
	for (const struct borrowed *x = b->held; x; x = x->next)
		intervals_add(&held, x->lease, x->lease + 1);
	pthread_mutex_unlock(&b->lock);
	*out = (struct msg){ .type = MSG_ATTACH };
	out->attach = (struct msg_attach){ .host = mem_strdup(link_host()), .user = (uint32_t)geteuid(),
		.session = session, .cookie = b->cookie, .held = intervals_lend(&held) };
	return true; /* the ranges' memory goes along */
}

static void
borrower_told(struct borrower *b, enum status st, const struct err *e)
{
	b->conf.told(b->conf.arg, b->conf.worker, st, e);
}

static struct borrower_map *
borrower_map(const struct borrower *b, uint64_t number)
{
	struct borrower_map *m = b->maps;

	while (m && m->number != number)
		m = m->next;
	return m;
}

/* Maps an arena. Not if its file can shrink, which could end this process by SIGBUS. */
static enum status
borrower_take(struct borrower *b, const struct lend_packet *p, int fd, struct err *e)
{
	struct stat s;
	int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &s) != 0 || s.st_size < 0 || !p->v[1] ||
	    p->v[1] > (uint64_t)s.st_size || b->n_maps == BORROWER_MAPS || p->v[0] > UINT32_MAX || p->v[1] > SIZE_MAX)
		return err_set(e, ST_UNAVAIL, "the worker gave memory that may change its size");
	uint8_t *base = mmap(NULL, (size_t)p->v[1], PROT_READ, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return err_set(e, ST_UNAVAIL, "cannot map the worker's memory: %s", strerror(errno));
	struct borrower_map *m = mem_zalloc(sizeof *m);
	*m = (struct borrower_map){ .base = base, .size = (size_t)p->v[1], .number = (uint32_t)p->v[0], .next = b->maps };
	atomic_init(&m->refs, 1);
	b->maps = m;
	b->n_maps++;
	pthread_mutex_lock(&b->lock);
	b->most_over = m->size / BORROWER_PART;
	struct lend_packet reply = { .kind = LEND_MAPPED, .n = 1, .v = { m->number } };
	bool sent = seqpacket_send(b->fd, &reply, LEND_BYTES(1), -1);
	pthread_mutex_unlock(&b->lock);
	return sent ? ST_OK : err_set(e, ST_TEMP, "the worker does not share its memory any more");
}

static void
borrower_gone(struct borrower *b, uint64_t number)
{
	struct borrower_map **at = &b->maps;

	while (*at && (*at)->number != number)
		at = &(*at)->next;
	if (!*at)
		return;
	struct borrower_map *m = *at;
	*at = m->next;
	b->n_maps--;
	borrower_map_unref(m);
}

/* Listens to the worker no more; what was mapped stays. */
static void
borrower_fails(struct borrower *b, const struct err *e)
{
	borrower_unwatch(b);
	if (!b->maps)
		borrower_told(b, e->kind, e);
}

static void
borrower_readable(void *arg, int fd, int events)
{
	struct borrower *b = arg;
	struct lend_packet p;
	struct err e = { 0 };
	int pass;

	(void)events;
	for (int i = 0; i < BORROWER_BURST; i++) {
		ssize_t n = seqpacket_receive(fd, &p, sizeof p, &pass);
		enum status st = ST_OK;

		if (n == SEQPACKET_NONE)
			return;
		if (n != (ssize_t)LEND_BYTES(2) || p.n != 2 || (p.kind != LEND_ARENA && p.kind != LEND_GONE)) {
			st = err_set(&e, ST_TEMP, "the worker does not share its memory any more");
		} else if (p.kind == LEND_GONE) {
			borrower_gone(b, p.v[0]);
		} else if (!borrower_map(b, p.v[0])) {
			st = borrower_take(b, &p, pass, &e);
			if (st == ST_OK)
				borrower_told(b, ST_OK, NULL);
		}
		if (n > 0 && pass >= 0)
			close(pass);
		if (st != ST_OK) {
			borrower_fails(b, &e);
			return;
		}
	}
}

/* Begins anew: the worker does not know of the connection that there was. */
static struct borrower *
borrower_again(struct borrower *old)
{
	struct borrower *b = borrower_new(&old->conf);

	b->session = old->session;
	borrower_drop(&old);
	return b;
}

void
borrower_answer(struct borrower **bp, const struct msg_arena *m)
{
	struct lend_packet hello = { .kind = LEND_HELLO, .n = 1, .v = { m->cookie } };
	struct err e = { 0 };
	int fd;

	if ((*bp)->fd >= 0)
		*bp = borrower_again(*bp);
	struct borrower *b = *bp;
	if (m->code) {
		err_set(&e, ST_UNAVAIL, "%s", m->text ? m->text : "the worker does not share its memory");
		if (m->help)
			err_help(&e, "%s", m->help);
	} else if (seqpacket_connect(m->path ? m->path : "", &fd, &e) != ST_OK) {
		e.kind = e.kind == ST_PERM ? ST_UNAVAIL : ST_TEMP;
	} else {
		b->cookie = m->cookie;
		b->fd = fd;
		b->watched = true;
		net_watch(b->conf.net, fd, NET_READ, borrower_readable, b);
		if (!seqpacket_send(fd, &hello, LEND_BYTES(1), -1))
			err_set(&e, ST_TEMP, "the worker does not share its memory any more");
	}
	if (e.kind != ST_OK)
		borrower_fails(b, &e);
}

bool
borrower_maps(const struct borrower *b)
{
	return b->maps != NULL;
}

struct block *
borrower_block(struct borrower *b, const struct msg_chunk *c, struct err *e)
{
	struct borrower_map *m = borrower_map(b, c->arena);

	if (c->session != b->session) {
		/* on its way when the connection broke: it will be sent again */
		pthread_mutex_lock(&b->lock);
		borrower_over(b, c->lease, (size_t)0);
		pthread_mutex_unlock(&b->lock);
		return NULL;
	}
	if (!m || c->codec != CODEC_NONE || c->at > m->size || c->raw_len > m->size - c->at) {
		err_set(e, ST_PROTO, "elements lie outside the memory that is shared");
		return NULL;
	}
	struct borrowed *x = mem_zalloc(sizeof *x);
	*x = (struct borrowed){ .borrower = b, .map = m, .lease = c->lease, .len = (size_t)c->raw_len };
	atomic_fetch_add(&m->refs, 1);
	atomic_fetch_add(&b->refs, 1);
	pthread_mutex_lock(&b->lock);
	x->next = b->held;
	if (x->next)
		x->next->prev = x;
	b->held = x;
	pthread_mutex_unlock(&b->lock);
	return block_wrap(m->base + c->at, x->len, borrower_release, x);
}
