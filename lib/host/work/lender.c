/* SPDX-License-Identifier: MIT */
#include "host/work/lender.h"

#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "host/link.h"
#include "net/address.h"
#include "net/seqpacket.h"

enum {
	LENDER_LINKS = 4096,     /* readers that are known; more get copies */
	LENDER_BURST = 64,       /* packets of one reader before the others' turn */
	LENDER_MAPS = ARENA_OLD + 1
};

struct lease { uint64_t id; struct block *block; }; /* block NULL: over */

struct lender_link {
	struct lender *lender;
	uint64_t cookie;         /* 0: it has not said one yet */
	uint64_t peer, iteration, seat;
	uint32_t session;
	int fd;                  /* -1: it has not connected yet */
	bool bad;                /* a packet of it made no sense: it gets no more */
	bool lost, mapped;       /* mapped: it has had an arena */
	uint32_t maps[LENDER_MAPS]; /* numbers of arenas; 0: none */
	struct lease *leases;    /* by id, those that are over at the front dropped */
	size_t first, n, cap;    /* n counts from 0 */
	size_t live;             /* leases */
	uint64_t last;           /* id of the one given last */
	struct lender_link *next;
};

struct lender {
	struct net *net;
	struct arenas *as;
	enum job_transfer how;
	const char *name;
	struct address address;
	int claim, fd;           /* fd -1: not open */
	struct lender_link *links;
	size_t n_links, n_mapped, leased;
	bool expect;             /* readers are believed to map the memory, though none does yet */
	struct hash peers;       /* links that have a cookie, by the peer they are for now */
};

struct lender *
lender_new(struct net *n, struct arenas *as, enum job_transfer how, const char *name)
{
	struct lender *l = mem_zalloc(sizeof *l);

	*l = (struct lender){ .net = n, .as = as, .how = how, .name = name, .claim = -1, .fd = -1 };
	return l;
}

static void
lender_use(struct lender *l)
{
	arenas_use(l->as, l->n_mapped || l->expect);
}

void
lender_expect(struct lender *l)
{
	struct err e;

	if (l->how == TRANSFER_COPY || arenas_open(l->as, &e) != ST_OK)
		return;
	l->expect = true;
	lender_use(l);
}

/* Leases */

static size_t
lender_lease_find(const struct lender_link *k, uint64_t id)
{
	size_t lo = k->first, hi = k->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (k->leases[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
lender_lease_end(struct lender_link *k, struct lease *s)
{
	if (!s->block)
		return;
	k->live--;
	k->lender->leased -= s->block->cap;
	block_unref(&s->block);
}

/* Drops leases that are over. One that lasts may have many behind it that do not. */
static void
lender_lease_trim(struct lender_link *k)
{
	while (k->first < k->n && !k->leases[k->first].block)
		k->first++;
	if (k->first < k->n && (k->n < 1024 || k->n - k->live < k->live * 2))
		return;
	size_t kept = 0;
	for (size_t i = k->first; i < k->n; i++)
		if (k->leases[i].block)
			k->leases[kept++] = k->leases[i];
	k->first = 0;
	k->n = kept;
}

static void
lender_release(struct lender_link *k, uint64_t id)
{
	size_t i = lender_lease_find(k, id);

	if (i < k->n && k->leases[i].id == id)
		lender_lease_end(k, &k->leases[i]);
}

/* Ends all leases but those held: chunks that were under way when a connection broke never
 * arrived. */
static void
lender_keep(struct lender_link *k, const struct ranges *held)
{
	size_t r = 0;

	for (size_t i = k->first; i < k->n; i++) {
		while (r < held->n && held->v[r].end <= k->leases[i].id)
			r++;
		if (r == held->n || k->leases[i].id < held->v[r].start)
			lender_lease_end(k, &k->leases[i]);
	}
	lender_lease_trim(k);
}

/* Readers */

static void
lender_tell(struct lender_link *k, enum lend_kind kind, uint64_t a, uint64_t b, int pass)
{
	struct lend_packet p = { .kind = kind, .n = 2, .v = { a, b } };

	/* A reader that takes nothing now misses an arena, and gets copies; or it misses the
	 * end of one, and keeps it mapped in vain. */
	if (k->fd >= 0 && !k->bad)
		seqpacket_send(k->fd, &p, LEND_BYTES(p.n), pass);
}

static void
lender_offer(struct lender_link *k)
{
	struct arena_info a;

	if (arenas_now(k->lender->as, &a))
		lender_tell(k, LEND_ARENA, a.number, a.size, a.fd);
}

static uint32_t *
lender_map(struct lender_link *k, uint32_t number)
{
	for (int i = 0; i < LENDER_MAPS; i++)
		if (k->maps[i] == number)
			return &k->maps[i];
	return NULL;
}

static void
lender_mapped(struct lender_link *k, uint64_t number)
{
	struct arena_info a;
	uint32_t *free_map = lender_map(k, 0);

	if (!arenas_now(k->lender->as, &a) || number != a.number || !free_map || lender_map(k, a.number))
		return;
	k->lender->n_mapped += !k->mapped;
	k->mapped = true;
	*free_map = a.number;
	lender_use(k->lender);
}

/* Lets arenas go that nobody has any more. */
static void
lender_sweep(struct lender *l)
{
	uint32_t number;

	while ((number = arenas_gone(l->as)))
		for (struct lender_link *k = l->links; k; k = k->next) {
			uint32_t *map = lender_map(k, number);
			if (!map)
				continue;
			*map = 0;
			lender_tell(k, LEND_GONE, number, 0, -1);
		}
}

/* Forgets a reader, which ends its leases: the process is gone, or gave them all up. */
static void
lender_drop(struct lender_link *k)
{
	struct lender *l = k->lender;
	struct lender_link **at = &l->links;

	for (size_t i = k->first; i < k->n; i++)
		lender_lease_end(k, &k->leases[i]);
	if (k->fd >= 0) {
		net_unwatch(l->net, k->fd);
		close(k->fd);
	}
	if (hash_get(&l->peers, &k->peer, sizeof k->peer) == k)
		hash_del(&l->peers, &k->peer, sizeof k->peer);
	l->n_mapped -= k->mapped;
	lender_use(l);
	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	l->n_links--;
	mem_free(k->leases);
	mem_free(k);
}

static struct lender_link *
lender_link(struct lender *l, uint64_t cookie)
{
	struct lender_link *k = l->links;

	while (k && k->cookie != cookie)
		k = k->next;
	return k;
}

/* Makes a new connection that of the reader to which the cookie was given. False: there is
 * no such reader. */
static bool
lender_hello(struct lender_link *guest, uint64_t cookie)
{
	struct lender *l = guest->lender;
	struct lender_link *k = cookie ? lender_link(l, cookie) : NULL;

	if (!k || k->fd >= 0)
		return false;
	guest->cookie = k->cookie;
	guest->peer = k->peer;
	guest->session = k->session;
	guest->iteration = k->iteration;
	guest->seat = k->seat;
	hash_put(&l->peers, &guest->peer, sizeof guest->peer, guest);
	k->peer = 0;
	lender_drop(k);
	lender_offer(guest);
	return true;
}

/* LATE: a reader that is known no more, since it has ended meanwhile. */
enum lender_verdict { LENDER_GOOD, LENDER_LATE, LENDER_SENSELESS };

static enum lender_verdict
lender_packet(struct lender_link *k, const struct lend_packet *p, size_t bytes)
{
	if (bytes < LEND_BYTES(1) || p->n < 1 || p->n > LEND_MOST || bytes != LEND_BYTES(p->n) ||
	    (p->kind == LEND_HELLO) == (k->cookie != 0))
		return LENDER_SENSELESS;
	if (p->kind == LEND_HELLO)
		return lender_hello(k, p->v[0]) ? LENDER_GOOD : LENDER_LATE;
	if (p->kind == LEND_MAPPED) {
		lender_mapped(k, p->v[0]);
		return LENDER_GOOD;
	}
	for (uint32_t i = 0; p->kind == LEND_RELEASE && i < p->n; i++)
		lender_release(k, p->v[i]);
	return p->kind == LEND_RELEASE ? LENDER_GOOD : LENDER_SENSELESS;
}

static void
lender_readable(void *arg, int fd, int events)
{
	struct lender_link *k = arg;
	struct lender *l = k->lender;
	struct lend_packet p;

	(void)events;
	for (int i = 0; i < LENDER_BURST; i++) {
		ssize_t n = seqpacket_receive(fd, &p, sizeof p, NULL);

		if (n == SEQPACKET_NONE)
			break;
		enum lender_verdict v = n == 0 || k->bad ? LENDER_GOOD :
					n < 0 ? LENDER_SENSELESS : lender_packet(k, &p, (size_t)n);
		if (v == LENDER_SENSELESS)
			log_say(LOG_WARN, "a reader of this machine sent a packet that makes no sense");
		/* A reader that makes no sense keeps what it has borrowed until it is gone. */
		k->bad = k->bad || v != LENDER_GOOD;
		if (n == 0 || (k->bad && !k->cookie)) {
			lender_drop(k);
			lender_sweep(l);
			return;
		}
	}
	lender_lease_trim(k);
	lender_sweep(l);
}

static struct lender_link *
lender_add(struct lender *l)
{
	struct lender_link *k = mem_zalloc(sizeof *k);

	*k = (struct lender_link){ .lender = l, .fd = -1, .next = l->links };
	l->links = k;
	l->n_links++;
	return k;
}

static void
lender_comes(void *arg, int listening, int events)
{
	struct lender *l = arg;
	int fd;

	(void)events;
	while ((fd = seqpacket_accept(listening)) >= 0) {
		if (l->n_links >= LENDER_LINKS) {
			close(fd);
			continue;
		}
		struct lender_link *k = lender_add(l);
		k->fd = fd;
		net_watch(l->net, fd, NET_READ, lender_readable, k);
	}
}

/* The socket */

enum status
lender_open(struct lender *l, struct err *e)
{
	struct buf at = { 0 };

	if (l->fd >= 0)
		return ST_OK;
	enum status st = arenas_open(l->as, e);
	if (st == ST_OK) {
		address_sweep("arena");
		st = address_fresh("arena", &at, e);
	}
	if (st == ST_OK)
		st = address_parse((char *)at.data, &l->address, e);
	if (st == ST_OK)
		st = address_claim(&l->address, &l->claim, e);
	if (st == ST_OK)
		st = seqpacket_listen(l->address.path, &l->fd, e);
	if (st == ST_OK)
		net_watch(l->net, l->fd, NET_READ, lender_comes, l);
	else
		address_release(&l->address, &l->claim);
	buf_clear(&at);
	return st;
}

void
lender_stop(struct lender *l)
{
	if (!l || l->fd < 0)
		return;
	net_unwatch(l->net, l->fd);
	close(l->fd);
	l->fd = -1;
	address_release(&l->address, &l->claim);
}

void
lender_free(struct lender **lp)
{
	struct lender *l = *lp;

	*lp = NULL;
	if (!l)
		return;
	lender_stop(l);
	while (l->links)
		lender_drop(l->links);
	hash_clear(&l->peers);
	mem_free(l);
}

/* Requests on the data socket */

static enum status
lender_may(struct lender *l, const struct msg_attach *m, struct err *e)
{
	if (l->how == TRANSFER_COPY) {
		err_set(e, ST_UNAVAIL, "worker %s was started with --transfer copy", l->name);
	} else if (!m->host || strcmp(m->host, link_host()) != 0) {
		err_set(e, ST_UNAVAIL, "worker %s is on another machine", l->name);
	} else if (m->user != geteuid()) {
		err_set(e, ST_UNAVAIL, "worker %s is another user's", l->name);
	} else if (l->n_links >= LENDER_LINKS) {
		err_set(e, ST_UNAVAIL, "worker %s shares its memory with %d readers, and with no more", l->name, LENDER_LINKS);
	} else {
		enum status st = lender_open(l, e);
		if (st != ST_OK)
			err_wrap(e, "worker %s", l->name);
		return st == ST_OK ? ST_OK : (e->kind = ST_UNAVAIL);
	}
	err_help(e, "--transfer copy sends the elements, --transfer auto does so where it has to");
	return ST_UNAVAIL;
}

/* Sets the peer that the reader is on the data socket from now on. */
static void
lender_is(struct lender_link *k, uint64_t peer)
{
	struct lender *l = k->lender;

	if (hash_get(&l->peers, &k->peer, sizeof k->peer) == k)
		hash_del(&l->peers, &k->peer, sizeof k->peer);
	k->peer = peer;
	hash_put(&l->peers, &peer, sizeof peer, k);
}

bool
lender_attach(struct lender *l, uint64_t peer, const struct msg_attach *m, struct msg *reply)
{
	struct lender_link *k = m->cookie ? lender_link(l, m->cookie) : NULL;
	struct arena_info now;
	struct err e = { 0 };

	if (k) {
		k->lost = false;
		k->session = m->session;
		lender_is(k, peer);
		lender_keep(k, &m->held);
		lender_sweep(l);
		if (arenas_now(l->as, &now) && !lender_map(k, now.number))
			lender_offer(k); /* it was taken for lost when that one was new */
		return false;
	}
	*reply = (struct msg){ .type = MSG_ARENA };
	if (lender_may(l, m, &e) != ST_OK) {
		reply->arena = (struct msg_arena){ .code = status_code(e.kind), .text = mem_strdup(e.text),
			.help = mem_strdup(e.help) };
		return true;
	}
	/* A reader that asks again did not get the answer. */
	k = hash_get(&l->peers, &peer, sizeof peer);
	if (k && k->fd < 0)
		lender_drop(k);
	k = lender_add(l);
	do
		k->cookie = rng_seed_fresh();
	while (!k->cookie);
	k->session = m->session;
	lender_is(k, peer);
	lender_expect(l);
	reply->arena = (struct msg_arena){ .cookie = k->cookie, .path = mem_strdup(l->address.path) };
	return true;
}

bool
lender_chunk(struct lender *l, uint64_t peer, const struct chunk *c, struct msg_chunk *m)
{
	struct arena_place at;

	if (!l->n_mapped || c->codec != CODEC_NONE || !arena_place(c->block, c->p, &at))
		return false;
	struct lender_link *k = hash_get(&l->peers, &peer, sizeof peer);
	if (!k || k->fd < 0 || k->bad || k->session != m->session || !lender_map(k, at.number))
		return false;
	k->leases = mem_grow(k->leases, &k->cap, k->n + 1, sizeof *k->leases);
	k->leases[k->n++] = (struct lease){ ++k->last, block_ref(c->block) };
	k->live++;
	l->leased += c->block->cap;
	m->lease = k->last;
	m->arena = at.number;
	m->at = at.at;
	return true;
}

void
lender_broke(struct lender *l, uint64_t peer)
{
	struct lender_link *k = l->links ? hash_get(&l->peers, &peer, sizeof peer) : NULL;

	if (k && k->fd < 0)
		lender_drop(k);
}

void
lender_seat(struct lender *l, uint64_t peer, uint64_t iteration, uint64_t seat)
{
	struct lender_link *k = l->links ? hash_get(&l->peers, &peer, sizeof peer) : NULL;

	if (k) {
		k->iteration = iteration;
		k->seat = seat;
	} else if (l->expect) { /* it wants copies */
		l->expect = false;
		lender_use(l);
	}
}

/* Number of bytes that the reader has in that arena. */
static size_t
lender_bytes(const struct lender_link *k, uint32_t number)
{
	struct arena_place at;
	size_t bytes = 0;

	for (size_t i = k->first; i < k->n; i++) {
		const struct block *b = k->leases[i].block;
		if (b && arena_place(b, b->data, &at) && at.number == number)
			bytes += b->cap;
	}
	return bytes;
}

void
lender_lost(struct lender *l, uint64_t iteration, uint64_t seat)
{
	struct arena_info now;
	size_t bytes = 0;

	if (!arenas_now(l->as, &now))
		return;
	for (struct lender_link *k = l->links; k; k = k->next) {
		k->lost |= k->live && k->iteration == iteration && k->seat == seat;
		bytes += k->lost ? lender_bytes(k, now.number) : 0;
	}
	if (bytes <= now.size / 2 || !arenas_renew(l->as))
		return;
	log_say(LOG_INFO, "readers that stand still hold half of the shared memory; sharing new memory");
	for (struct lender_link *k = l->links; k; k = k->next)
		if (k->cookie && !k->lost)
			lender_offer(k);
}

void
lender_stats(const struct lender *l, struct lender_stats *out)
{
	*out = (struct lender_stats){ l->n_mapped ? arenas_size(l->as) : 0, l->leased };
}
