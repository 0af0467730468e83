/* SPDX-License-Identifier: MIT */
#include "host/held.h"

#include <string.h>

#include "base/mem.h"

struct held_msg {
	uint64_t peer;
	struct msg msg;
};

struct held_peer {
	uint32_t n;
	uint64_t bytes;
};

void
held_add(struct held *h, uint64_t peer, struct msg *m)
{
	struct held_peer *p = hash_get(&h->peers, &peer, sizeof peer);
	struct buf head = { 0 };

	if (!p) {
		p = mem_zalloc(sizeof *p);
		hash_put(&h->peers, &peer, sizeof peer, p);
	}
	msg_encode(m, &head);
	uint64_t bytes = p->bytes + head.len;
	buf_clear(&head);
	if (p->n == HELD_MESSAGES || (p->n && bytes > HELD_BYTES)) {
		msg_clear(m);
		return;
	}
	p->n++;
	p->bytes = bytes;
	h->v = mem_grow(h->v, &h->cap, h->n + 1, sizeof *h->v);
	h->v[h->n++] = (struct held_msg){ peer, *m };
	*m = (struct msg){ 0 };
}

static void
held_empty(struct held *h)
{
	for (size_t i = 0; i < h->peers.n; i++)
		mem_free(h->peers.items[i].value);
	hash_clear(&h->peers);
	h->n = 0;
}

void
held_send(struct held *h, void (*send)(void *arg, uint64_t peer, struct msg *m), void *arg)
{
	for (size_t i = 0; i < h->n; i++)
		send(arg, h->v[i].peer, &h->v[i].msg);
	held_empty(h);
}

void
held_clear(struct held *h)
{
	for (size_t i = 0; i < h->n; i++)
		msg_clear(&h->v[i].msg);
	held_empty(h);
	mem_free(h->v);
	*h = (struct held){ 0 };
}
