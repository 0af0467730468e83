/* SPDX-License-Identifier: MIT */
#include "net/track.h"

#include <string.h>

#include "base/mem.h"
#include "net/outbox.h"

void
track_init(struct track *t, int64_t return_ns, void (*broke)(void *, uint64_t),
	   void (*gone)(void *, uint64_t), void *arg)
{
	memset(t, 0, sizeof *t);
	t->return_ns = return_ns;
	t->deadline_ns = INT64_MAX;
	t->broke = broke;
	t->gone = gone;
	t->arg = arg;
}

/* Forgets by which address it was called. */
static void
track_unname(struct track *t, struct track_peer *p)
{
	if (p->address && hash_get_str(&t->by_address, p->address) == p)
		hash_del_str(&t->by_address, p->address);
	mem_free(p->address);
	p->address = NULL;
}

static void
track_free(struct track *t, struct track_peer *p)
{
	t->n_kept -= p->kept;
	track_unname(t, p);
	if (p->fd >= 0 && (size_t)p->fd < t->n_fds && t->fds[p->fd].peer == p->id)
		t->fds[p->fd].peer = 0;
	hash_del(&t->peers, &p->id, sizeof p->id);
	outbox_free(&p->out);
	mem_free(p->key);
	mem_free(p);
}

void
track_clear(struct track *t)
{
	while (t->peers.n)
		track_free(t, t->peers.items[t->peers.n - 1].value);
	hash_clear(&t->peers);
	hash_clear(&t->by_address);
	mem_free(t->fds);
	t->fds = NULL;
	t->n_fds = 0;
}

struct track_peer *
track_find(struct track *t, uint64_t id)
{
	return hash_get(&t->peers, &id, sizeof id);
}

static struct track_peer *
track_add(struct track *t, uint64_t id)
{
	struct track_peer *p = mem_zalloc(sizeof *p);
	p->id = id;
	p->fd = -1;
	p->gone_ns = INT64_MAX;
	hash_put(&t->peers, &id, sizeof id, p);
	return p;
}

struct track_peer *
track_keep(struct track *t, uint64_t id, const char *address, bool local)
{
	struct track_peer *p = track_find(t, id);
	if (!p)
		p = track_add(t, id);
	t->n_kept += !p->kept;
	p->kept = true;
	p->local = local;
	track_move(t, p, address);
	return p;
}

void
track_move(struct track *t, struct track_peer *p, const char *address)
{
	char *mine = mem_strdup(address);

	track_unname(t, p);
	p->address = mine;
	hash_put_str(&t->by_address, mine, p);
}

void
track_left(struct track *t, struct track_peer *p)
{
	if (p->fd >= 0)
		t->fds[p->fd].peer = 0;
	p->fd = -1;
	p->gone_ns = INT64_MAX;
}

void
track_drop(struct track *t, uint64_t id)
{
	struct track_peer *p = track_find(t, id);
	if (p)
		track_free(t, p);
}

struct track_peer *
track_by_address(struct track *t, const char *address)
{
	struct track_peer *p = hash_get_str(&t->by_address, address);

	for (size_t i = 0; !p && t->n_kept == 1 && i < t->peers.n; i++) {
		struct track_peer *one = t->peers.items[i].value;

		p = one->kept ? one : NULL;
	}
	return p;
}

void
track_opened(struct track *t, int fd)
{
	if (fd < 0 || fd >= TRACK_FD_MAX)
		return;
	if ((size_t)fd >= t->n_fds) {
		size_t n = (size_t)fd + 64;
		t->fds = mem_realloc(t->fds, n * sizeof *t->fds);
		memset(t->fds + t->n_fds, 0, (n - t->n_fds) * sizeof *t->fds);
		t->n_fds = n;
	}
	t->fds[fd] = (struct track_fd){ 0, true };
}

/* The peer has lost its connection. */
static void
track_break(struct track *t, struct track_peer *p, int64_t now_ns)
{
	uint64_t id = p->id;
	p->fd = -1;
	if (p->local) {
		p->gone_ns = now_ns + t->return_ns;
		if (p->gone_ns < t->deadline_ns)
			t->deadline_ns = p->gone_ns;
	} else if (!p->kept) {
		track_free(t, p);
	}
	if (t->broke)
		t->broke(t->arg, id);
}

void
track_closed(struct track *t, int fd, int64_t now_ns)
{
	if (fd < 0 || (size_t)fd >= t->n_fds || !t->fds[fd].open)
		return;
	uint64_t id = t->fds[fd].peer;
	t->fds[fd] = (struct track_fd){ 0, false };
	struct track_peer *p = id ? track_find(t, id) : NULL;
	if (p && p->fd == fd)
		track_break(t, p, now_ns);
}

void
track_seen(struct track *t, uint64_t id, int fd, bool local, int64_t now_ns)
{
	if (fd < 0 || (size_t)fd >= t->n_fds || !t->fds[fd].open)
		return;
	struct track_peer *p = track_find(t, id);
	if (p && p->fd == fd && t->fds[fd].peer == id)
		return;
	uint64_t before = t->fds[fd].peer;
	t->fds[fd].peer = id;
	if (before && before != id) {
		struct track_peer *other = track_find(t, before);
		if (other && other->fd == fd)
			track_break(t, other, now_ns);
	}
	p = track_find(t, id);
	if (p && p->fd >= 0) { /* it came back before its old connection was seen to break */
		t->fds[p->fd].peer = 0;
		p->fd = -1;
		if (t->broke)
			t->broke(t->arg, id);
		p = track_find(t, id);
	}
	if (!p)
		p = track_add(t, id);
	p->fd = fd;
	p->local = local;
	p->gone_ns = INT64_MAX;
}

void
track_spare(struct track_peer *p, int64_t until_ns)
{
	/* The deadline of all may come too early now, which is no harm. */
	if (p->gone_ns != INT64_MAX && p->gone_ns < until_ns)
		p->gone_ns = until_ns;
}

void
track_ended(struct track *t, uint64_t id, int64_t now_ns)
{
	struct track_peer *p = track_find(t, id);
	if (!p || p->fd >= 0 || p->gone_ns <= now_ns)
		return;
	p->gone_ns = now_ns;
	if (now_ns < t->deadline_ns)
		t->deadline_ns = now_ns;
}

void
track_tick(struct track *t, int64_t now_ns)
{
	if (now_ns < t->deadline_ns)
		return;
	t->deadline_ns = INT64_MAX;
	for (size_t i = t->peers.n; i-- > 0;) {
		if (i >= t->peers.n)
			continue;
		struct track_peer *p = t->peers.items[i].value;
		if (p->gone_ns <= now_ns) {
			uint64_t id = p->id;
			p->gone_ns = INT64_MAX;
			if (!p->kept)
				track_free(t, p);
			if (t->gone)
				t->gone(t->arg, id);
		} else if (p->gone_ns < t->deadline_ns) {
			t->deadline_ns = p->gone_ns;
		}
	}
}
