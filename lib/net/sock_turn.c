/* SPDX-License-Identifier: MIT
 *
 * A peer with several addresses, one of which answers: as long as none does, they are
 * called in turn. Or one whose address may become another one.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/address.h"
#include "net/address_list.h"
#include "net/sock_inner.h"

enum {
	TURN_AGAIN_MS = 250,    /* the one that was lost may be back at once */
	TURN_MS = 500,          /* after this, the next one is called; doubled after each round, */
	TURN_LONGER = 3,        /* so many times */
	TURN_RENEW_MS = 2000,   /* no longer than this, where there may be a new address */
	TURN_UNANSWERED = 3     /* questions after which a connection is taken for dead */
};

void
sock_turns_open(struct sock *s, uint64_t peer, const char *list, const struct key *keys, size_t first)
{
	struct sock_turns *t = mem_zalloc(sizeof *t);

	t->peer = peer;
	t->n = address_list_count(list);
	t->at = first;
	t->list = mem_strdup(list);
	t->keys = keys ? mem_dup(keys, t->n * sizeof *keys) : NULL;
	t->due_ns = clock_mono_ns() + TURN_MS * 1000000LL;
	s->turns = t;
}

void
sock_turns_free(struct sock *s)
{
	if (s->turns) {
		mem_free(s->turns->list);
		mem_free(s->turns->keys);
	}
	mem_free(s->turns);
	s->turns = NULL;
}

/* Whether it has other addresses now. */
static bool
sock_turns_renew(struct sock *s)
{
	struct sock_turns *t = s->turns;
	const struct key *keys = NULL;
	const char *list;

	if (!s->o.renew || !s->o.renew(s->o.arg, &list, &keys))
		return false;
	mem_free(t->list);
	mem_free(t->keys);
	t->list = mem_strdup(list);
	t->n = address_list_count(list);
	t->keys = keys ? mem_dup(keys, t->n * sizeof *keys) : NULL;
	t->tries = 0;
	return true;
}

/* Gives the connection up, and calls the address number `next`. */
static void
sock_turn(struct sock *s, int64_t now_ns, size_t next_at)
{
	struct sock_turns *t = s->turns;
	struct track_peer *p = track_find(&s->track, t->peer);
	struct address a;
	unsigned longer;

	t->at = next_at;
	t->asked = 0;
	t->turned = true;
	longer = ++t->tries / (unsigned)t->n;
	t->due_ns = now_ns + (TURN_MS * 1000000LL << (longer < TURN_LONGER ? longer : TURN_LONGER));
	if (s->o.renew && t->due_ns > now_ns + TURN_RENEW_MS * 1000000LL)
		t->due_ns = now_ns + TURN_RENEW_MS * 1000000LL;
	s->used = true;
	zmq.disconnect(s->handle, p->address);
	hash_del(&s->aliases, &p->alias, sizeof p->alias);
	track_left(&s->track, p);
	char *next = address_list_at(t->list, t->at);
	track_move(&s->track, p, next);
	mem_free(next);
	p->local = address_parse(p->address, &a, NULL) == ST_OK && address_local(&a);
	if (strchr(a.host, ':'))
		sock_set_int(s->handle, ZMQ_IPV6, 1);
	mem_free(p->key);
	p->key = t->keys && !key_none(&t->keys[t->at]) ? mem_dup(&t->keys[t->at], sizeof *p->key) : NULL;
	p->broke_early = 0;
	p->shaken = p->broken = p->denied = false;
	sock_dial(s, p);
}

/* dead: a connection is there, but nothing comes. A single address that is the same is left to libzmq,
 * which calls it again and again. */
static void
sock_turns_next(struct sock *s, int64_t now_ns, bool dead)
{
	struct sock_turns *t = s->turns;

	if (sock_turns_renew(s))
		sock_turn(s, now_ns, 0);
	else if (t->n > 1 || dead)
		sock_turn(s, now_ns, (t->at + 1) % t->n);
	else
		t->due_ns = s->o.renew ? now_ns + TURN_RENEW_MS * 1000000LL : INT64_MAX - 1;
}

bool
sock_renew(struct sock *s)
{
	if (!s->turns || !sock_turns_renew(s))
		return false;
	sock_turn(s, clock_mono_ns(), 0);
	return true;
}

void
sock_turns_tick(struct sock *s, int64_t now_ns)
{
	if (s->turns && now_ns >= s->turns->due_ns)
		sock_turns_next(s, now_ns, false);
}

void
sock_turns_shaken(struct sock *s)
{
	struct sock_turns *t = s->turns;
	bool turned = t->turned;

	t->due_ns = INT64_MAX;
	t->tries = 0;
	t->turned = false;
	if (turned && s->o.turned)
		s->o.turned(s->o.arg, t->peer);
}

void
sock_turns_broke(struct sock *s)
{
	if (s->turns)
		s->turns->due_ns = clock_mono_ns() + TURN_AGAIN_MS * 1000000LL;
}

void
sock_asks(struct sock *s)
{
	struct sock_turns *t = s->turns;

	if (t && t->due_ns == INT64_MAX && ++t->asked > TURN_UNANSWERED)
		sock_turns_next(s, clock_mono_ns(), true);
}
