/* SPDX-License-Identifier: MIT
 *
 * A worker that makes, lends and forgets chunks, and readers that take, keep and release
 * them, in one process: for tests of shared memory. Each block is stamped, and look() sees
 * whether all that anybody refers to still has its stamp.
 */
#ifndef UNIT_LEASE_KIT_H
#define UNIT_LEASE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "host/borrower.h"
#include "host/work/lender.h"

enum { READERS = 4, CHUNKS = 40, WAYS = 64, HELD = 64, ARENA = 1 << 20 };

static char folder[] = "/tmp/dsvc-lease-XXXXXX";
#define GROUP_SETUP lease_setup
#define GROUP_TEARDOWN lease_teardown

static inline int
lease_setup(void **state)
{
	(void)state;
	return mkdtemp(folder) && !setenv("XDG_RUNTIME_DIR", folder, 1) ? 0 : -1;
}

/* Nothing is left in it. */
static inline int
lease_teardown(void **state)
{
	char path[sizeof folder + 8];

	(void)state;
	snprintf(path, sizeof path, "%s/dsvc", folder);
	return rmdir(path) || rmdir(folder);
}

struct made { struct chunk *chunk; uint64_t stamp; };
struct taken { struct block *block; uint64_t stamp; };
struct under_way { struct msg_chunk m; uint64_t stamp; };

struct reader_model {
	struct borrower *b;
	uint64_t peer, seat;
	uint32_t session;
	int fd;
	bool mapped, still, refused;
	struct under_way way[WAYS];
	size_t first, n;
	struct taken held[HELD];
	size_t n_held;
};

struct model {
	struct rng rng;
	struct net *net;
	struct arenas *as;
	struct lender *lender;
	struct made made[CHUNKS];
	size_t n_made;
	struct reader_model r[READERS];
	uint64_t stamps, peers, lent, copies, renewed;
};

static inline void
stamp(uint8_t *p, size_t n, uint64_t s)
{
	for (size_t i = 0; i + 8 <= n; i += 512)
		memcpy(p + i, &s, 8);
}

static inline void
stamped(const uint8_t *p, size_t n, uint64_t s)
{
	uint64_t got;

	for (size_t i = 0; i + 8 <= n; i += 512) {
		memcpy(&got, p + i, 8);
		assert_int_equal(got, s);
	}
}

static inline size_t
below(struct model *m, size_t n)
{
	return (size_t)rng_below(&m->rng, n);
}

static inline void
look(const struct model *m)
{
	for (size_t i = 0; i < m->n_made; i++)
		stamped(m->made[i].chunk->p, m->made[i].chunk->len, m->made[i].stamp);
	for (size_t i = 0; i < READERS; i++)
		for (size_t k = 0; k < m->r[i].n_held; k++)
			stamped(m->r[i].held[k].block->data, m->r[i].held[k].block->len, m->r[i].held[k].stamp);
}

static inline void
told(void *arg, uint64_t worker, enum status st, const struct err *e)
{
	struct reader_model *r = arg;

	(void)worker, (void)e;
	r->mapped |= st == ST_OK;
	r->refused |= st != ST_OK;
}

/* So that the number of the next descriptor is known. */
static inline int
next_fd(void)
{
	int fd = fcntl(0, F_DUPFD_CLOEXEC, 3);

	close(fd);
	return fd;
}

static inline void
step(struct model *m)
{
	net_step(m->net, clock_mono_ns());
}

/* ATTACH over the data connection, and what the worker answers. */
static inline void
session(struct model *m, struct reader_model *r)
{
	struct msg attach, reply;

	r->n = r->first = 0; /* chunks under way are lost */
	if (!borrower_attach(r->b, ++r->session, &attach))
		return;
	if (lender_attach(m->lender, r->peer, &attach.attach, &reply)) {
		int fd = next_fd();
		borrower_answer(&r->b, &reply.arena);
		r->fd = fd;
		msg_clear(&reply);
	}
	msg_clear(&attach);
	lender_seat(m->lender, r->peer, 1, r->seat);
}

static inline void
begin(struct model *m, struct reader_model *r)
{
	struct borrower_conf c = { m->net, told, r, 1 };

	*r = (struct reader_model){ .b = borrower_new(&c), .peer = ++m->peers, .seat = m->peers, .fd = -1 };
	session(m, r);
}

static inline void
release(struct reader_model *r, size_t k)
{
	block_unref(&r->held[k].block);
	r->held[k] = r->held[--r->n_held];
}

/* The process ends: the kernel closes its socket, and nobody looks at its mapping any more. */
static inline void
dies(struct model *m, struct reader_model *r)
{
	if (r->fd >= 0)
		shutdown(r->fd, SHUT_RDWR);
	lender_broke(m->lender, r->peer);
	step(m);
	while (r->n_held)
		release(r, 0);
	borrower_drop(&r->b);
	begin(m, r);
}

static inline void
make(struct model *m)
{
	size_t len = 1 + below(m, 100000);
	struct block *b = arenas_block(m->as, len);

	if (!b)
		b = block_new(len);
	if (m->n_made == CHUNKS) {
		block_unref(&b);
		return;
	}
	struct made *d = &m->made[m->n_made++];
	d->stamp = ++m->stamps;
	stamp(b->data, len, d->stamp);
	d->chunk = chunk_new(b, b->data, len, 0, 1);
}

static inline void
forget(struct model *m)
{
	if (!m->n_made)
		return;
	size_t i = below(m, m->n_made);
	chunk_free(&m->made[i].chunk);
	m->made[i] = m->made[--m->n_made];
}

static inline void
send_one(struct model *m, struct reader_model *r)
{
	if (!m->n_made || r->n == WAYS)
		return;
	const struct made *d = &m->made[below(m, m->n_made)];
	/* now and then on a CREDIT of an earlier session */
	struct msg_chunk c = { .session = r->session - (below(m, 20) == 0), .raw_len = d->chunk->len, .count = 1 };
	if (lender_chunk(m->lender, r->peer, d->chunk, &c)) {
		r->way[r->n++] = (struct under_way){ c, d->stamp };
		m->lent++;
	} else {
		m->copies++;
	}
}

static inline void
take(struct reader_model *r)
{
	struct err e = { 0 };

	if (r->first == r->n || r->n_held == HELD)
		return;
	struct under_way w = r->way[r->first++];
	if (r->first == r->n)
		r->first = r->n = 0;
	struct block *b = borrower_block(r->b, &w.m, &e);
	assert_int_equal(e.kind, ST_OK);
	assert_non_null(b);
	r->held[r->n_held++] = (struct taken){ b, w.stamp };
}

static inline void
attached(struct model *m, struct reader_model *r)
{
	for (int i = 0; i < 100 && !r->mapped; i++)
		step(m);
	assert_true(r->mapped);
	step(m); /* MAPPED */
}

/* Fills the arena with chunks, all of them lent to the reader. */
static inline void
lend_all(struct model *m, struct reader_model *r, size_t bytes)
{
	for (size_t sum = 0; sum < bytes && m->n_made < CHUNKS;) {
		size_t len = ARENA / 32, before = m->n_made;
		struct block *b = arenas_block(m->as, len);
		assert_non_null(b);
		m->made[m->n_made++] = (struct made){ chunk_new(b, b->data, len, 0, 1), ++m->stamps };
		stamp(b->data, len, m->stamps);
		struct msg_chunk c = { .session = r->session, .raw_len = len, .count = 1 };
		assert_true(lender_chunk(m->lender, r->peer, m->made[before].chunk, &c));
		r->way[r->n++] = (struct under_way){ c, m->stamps };
		sum += len;
	}
}

static inline void
model_open(struct model *m, uint64_t seed)
{
	struct err e;

	memset(m, 0, sizeof *m);
	m->rng = (struct rng){ seed, 0 };
	m->net = net_new();
	m->as = arenas_new(ARENA);
	m->lender = lender_new(m->net, m->as, TRANSFER_AUTO, "w1");
	assert_int_equal(lender_open(m->lender, &e), ST_OK);
	for (size_t i = 0; i < READERS; i++)
		begin(m, &m->r[i]);
}

static inline void
model_close(struct model *m)
{
	lender_free(&m->lender);
	arenas_free(&m->as);
	net_free(&m->net);
}

#endif
