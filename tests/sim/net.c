/* SPDX-License-Identifier: MIT
 *
 * Time, chance and connections of the simulation.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "world.h"

/* Time */

static bool
event_before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

void
world_at(struct world *w, int64_t at, void (*fn)(struct world *, void *, uint64_t), void *arg, uint64_t tag)
{
	size_t i;

	if (w->n_heap == w->cap_heap)
		w->heap = mem_grow(w->heap, &w->cap_heap, w->n_heap + 1, sizeof *w->heap);
	struct event e = { at < w->now ? w->now : at, w->seq++, fn, arg, tag };
	for (i = w->n_heap++; i && event_before(&e, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = e;
}

uint64_t
chance(struct world *w, uint64_t limit)
{
	return rng_below(&w->r, limit ? limit : 1);
}

bool
one_in(struct world *w, uint64_t n)
{
	return chance(w, n) == 0;
}

int64_t
some_time(struct world *w, int64_t most)
{
	int64_t t = 1 + (int64_t)chance(w, (uint64_t)most);

	return one_in(w, 3) ? t : 1 + t / 10;
}

/* Whether a reader may be held up by the seat of one that does not come back, since the dispatcher that knew its
 * position has forgotten it: one of its group, or of any where nothing is missed. */
static bool
world_is_held_up(const struct world *w)
{
	for (unsigned i = 0; i < w->n_consumers && w->checkpoint && w->disp_lost; i++) {
		const struct consumer *gone = &w->consumers[i];

		for (unsigned k = 0; k < w->n_consumers && !gone->node && !gone->finished; k++)
			if (w->consumers[k].node && (w->share != SHARE_WINDOW || w->consumers[k].place == gone->place))
				return true;
	}
	return false;
}

int64_t
world_patience(const struct world *w)
{
	/* Streams without elements take turns of two seconds on a slot. */
	int64_t turns = w->set.nothing ? 4 * SEC * w->found * w->epochs : 0;

	/* A reader finds out which workers it can reach by trying one after the other. */
	for (unsigned i = 0; i < w->n_nodes && w->walls; i++)
		turns += w->nodes[i]->kind == NODE_WORKER && w->nodes[i]->alive ? SIM_TRY_NS : 0;
	return turns + (w->lag || world_is_held_up(w) ? 2 * SIM_GC_NS : w->poison ? SIM_TRIALS_NS : SIM_END_NS);
}

void
world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->failed)
		return;
	w->failed = true;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof w->why, fmt, ap);
	va_end(ap);
}

void
world_say(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->verbose)
		return;
	printf("# %10.6f ", (double)w->now / 1e9);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* Nodes */

struct node *
node_new(struct world *w, enum node_kind kind)
{
	static const char letters[] = "DWR";
	struct node *n = mem_zalloc(sizeof *n);

	n->w = w;
	n->kind = kind;
	n->index = w->n_nodes;
	n->peer = rng_next(&w->r) | 1;
	n->born = w->now;
	n->tick_at = INT64_MAX;
	n->cut = w->disp && w->disp->paused_until > w->now;
	snprintf(n->name, sizeof n->name, "%c%u", letters[kind], n->index);
	w->nodes[w->n_nodes++] = n;
	snprintf(n->host, sizeof n->host, "h%u", (unsigned)rng_below(&w->places, w->n_hosts));
	if (kind == NODE_WORKER && rng_below(&w->places, 3))
		words_add(&n->tags, "gpu", 3);
	if (kind == NODE_WORKER && !rng_below(&w->places, 3))
		words_add(&n->tags, "old", 3);
	return n;
}

struct node *
node_by_peer(struct world *w, uint64_t peer)
{
	for (unsigned i = 0; i < w->n_nodes; i++)
		if (w->nodes[i]->peer == peer)
			return w->nodes[i];
	return NULL;
}

static void
node_tick(struct world *w, void *arg, uint64_t life)
{
	struct node *n = arg;

	if (!n->alive || n->life != life || w->now < n->tick_at)
		return;
	if (w->now < n->paused_until) {
		world_at(w, n->paused_until, node_tick, n, life);
		return;
	}
	n->tick_at = INT64_MAX;
	if (w->now == n->tick_now && ++n->ticks_at_once > 10000) {
		world_fail(w, "%s spins: its deadline never passes", n->name);
		return;
	}
	if (w->now != n->tick_now)
		n->ticks_at_once = 0;
	n->tick_now = w->now;
	if (n->kind == NODE_DISP)
		sim_disp_tick(n);
	else if (n->kind == NODE_WORKER)
		sim_work_tick(n);
	else
		sim_read_tick(n);
}

void
node_tick_later(struct node *n, int64_t at)
{
	if (at == INT64_MAX || (n->tick_at <= at && n->tick_at > n->w->now))
		return;
	n->tick_at = at < n->w->now ? n->w->now : at;
	world_at(n->w, n->tick_at, node_tick, n, n->life);
}

/* Connections */

static void
conn_drop_queue(struct frame **head, struct frame ***tail)
{
	struct frame *f;

	while ((f = *head)) {
		*head = f->next;
		chunk_unref(f->chunk);
		mem_free(f->p);
		mem_free(f);
	}
	*tail = head;
}

static void
world_say_ranges(const struct ranges *r)
{
	for (size_t i = 0; i < r->n; i++)
		printf(" %llu-%llu", (unsigned long long)r->v[i].start, (unsigned long long)r->v[i].end);
}

/* The message on one line, with what matters most in reading a failed run. */
static void
world_say_msg(struct world *w, const struct node *from, const struct node *to, const struct msg *m)
{
	const struct stream_key *k = &m->hold.key; /* the message begins with the key */

	printf("# %10.6f %s -> %s %s", (double)w->now / 1e9, from->name, to->name, msg_name(m->type));
	switch (m->type) {
	case MSG_ASSIGN: case MSG_ASSIGNED: case MSG_HOLD: case MSG_HELD: case MSG_CREDIT: case MSG_CHUNK:
	case MSG_CHUNK_ACK: case MSG_READER_GONE: case MSG_GONE_OK: case MSG_REVOKE: case MSG_STREAM_END:
	case MSG_HANDOVER: case MSG_RESTART: case MSG_VOID: case MSG_SPLIT: case MSG_SPLIT_REQ: case MSG_MISSED:
	case MSG_VIEW: case MSG_VIEW_OK: case MSG_STEP: case MSG_STEP_OK:
		printf(" %u.%u", k->stream, k->gen);
		break;
	default: break;
	}
	if (m->type == MSG_CHUNK)
		printf(" seat %llu: %llu+%u skip %u", (unsigned long long)m->chunk.seat,
		       (unsigned long long)m->chunk.offset, m->chunk.count, m->chunk.skip);
	if (m->type == MSG_RESTART)
		printf(" at %llu split %llu failed %llu state %zu", (unsigned long long)m->restart.offset,
		       (unsigned long long)m->restart.split, (unsigned long long)m->restart.failed, m->restart.state.n);
	if (m->type == MSG_SPLIT_REQ)
		printf(" split %llu", (unsigned long long)m->split_req.k);
	if (m->type == MSG_STEP)
		printf(" at %llu%s", (unsigned long long)m->step.offset, m->step.held ? " held" : "");
	if (m->type == MSG_STEP_OK && m->step_ok.free)
		printf(" free");
	if (m->type == MSG_FAULTS)
		printf(" failed %llu", (unsigned long long)m->faults.failed);
	if (m->type == MSG_CREDIT)
		printf(" seat %llu session %u: %llu", (unsigned long long)m->credit.seat, m->credit.session,
		       (unsigned long long)m->credit.total);
	if (m->type == MSG_OPEN)
		printf(" seat %llu%s", (unsigned long long)m->open.seat, m->open.resume ? " resumes" : "");
	if (m->type == MSG_JOB)
		printf(" seat %llu", (unsigned long long)m->job.seat);
	if (m->type == MSG_CHUNK_ACK)
		world_say_ranges(&m->chunk_ack.ranges);
	if (m->type == MSG_HELD)
		world_say_ranges(&m->held.ranges);
	if (m->type == MSG_READER_GONE || m->type == MSG_GONE_OK) {
		printf(" seat %llu", (unsigned long long)m->reader_gone.seat);
		world_say_ranges(&m->reader_gone.acked);
	}
	if (m->type == MSG_MISSED) {
		printf(" view %u", m->missed.view);
		world_say_ranges(&m->missed.ranges);
	}
	if (m->type == MSG_VIEW)
		printf(" view %u from %llu%s", m->view_add.view, (unsigned long long)m->view_add.first,
		       m->view_add.later ? " on" : "");
	if (m->type == MSG_VIEW_OK)
		printf(" view %u %s %llu", m->view_ok.view, m->view_ok.can ? "begins at" : "cannot",
		       (unsigned long long)m->view_ok.begin);
	if (m->type == MSG_ASSIGN) {
		printf(" from %llu skip", (unsigned long long)m->assign.offset);
		for (size_t i = 0; i < m->assign.views.n; i++)
			world_say_ranges(&m->assign.views.v[i].skip);
	}
	for (size_t i = 0; (m->type == MSG_ACK && i < m->ack.list.n) || (m->type == MSG_CLOSE && i < m->close.list.n); i++) {
		const struct msg_stream_ranges *l = m->type == MSG_ACK ? &m->ack.list.v[i] : &m->close.list.v[i];

		printf(" %u:", l->stream);
		world_say_ranges(&l->ranges);
	}
	for (size_t i = 0; m->type == MSG_STREAMS && i < m->streams.list.n; i++) {
		const struct msg_stream *l = &m->streams.list.v[i];

		printf(" %u.%u state %u floor %llu", l->stream, l->gen, l->state, (unsigned long long)l->floor);
	}
	putchar('\n');
}

/* Some times a stranger, who knows all of a CREDIT or CHUNK_ACK but its ticket, says the like. */
static void
net_thief(struct node *worker, const struct msg *m)
{
	struct world *w = worker->w;
	struct node thief = { .w = w, .peer = SIM_THIEF };
	struct msg forged;

	if ((m->type != MSG_CREDIT && m->type != MSG_CHUNK_ACK) || !one_in(w, 8))
		return;
	msg_copy(&forged, m);
	if (m->type == MSG_CREDIT) {
		forged.credit.ticket.low ^= 1 + chance(w, 3);
		forged.credit.session += (uint32_t)chance(w, 2) * 1000000;
		forged.credit.total += 1000;
	} else {
		forged.chunk_ack.ticket = (struct secret){ 0 };
	}
	sim_work_data(worker, &thief, &forged);
	msg_clear(&forged);
}

static void
net_asked(struct node *worker, struct node *from, struct msg *m)
{
	net_thief(worker, m);
	sim_work_data(worker, from, m);
}

static void
conn_deliver(struct world *w, void *arg, uint64_t tag)
{
	struct conn *c = arg;
	int to_client = (int)(tag & 1);
	struct node *to = to_client ? c->client : c->server, *from = to_client ? c->server : c->client;
	struct frame *f = c->q[to_client];
	int64_t later = c->blocked_until;
	struct msg m;
	struct err e;

	if (c->epoch != tag >> 1 || !f)
		return;
	if (to->paused_until > w->now && to->paused_until > later)
		later = to->paused_until + some_time(w, 5 * MS); /* its timers may come first */
	if (later > w->now) {
		world_at(w, later, conn_deliver, c, tag);
		return;
	}
	c->q[to_client] = f->next;
	if (!f->next)
		c->tail[to_client] = &c->q[to_client];
	if (msg_decode(f->p, f->n, &m, &e)) {
		world_fail(w, "a message did not decode: %s", e.text);
	} else {
		if (w->verbose && m.type != MSG_BEAT)
			world_say_msg(w, from, to, &m);
		if (to->kind == NODE_DISP)
			sim_disp_frame(to, from, &m);
		else if (from->kind == NODE_DISP && to->kind == NODE_WORKER)
			sim_work_ctl(to, &m);
		else if (from->kind == NODE_DISP)
			sim_read_ctl(to, &m);
		else if (to->kind == NODE_WORKER)
			net_asked(to, from, &m);
		else
			sim_read_data(to, from, &m, f->chunk);
		msg_clear(&m);
	}
	chunk_unref(f->chunk);
	mem_free(f->p);
	mem_free(f);
}

static void
conn_push(struct conn *c, int to_client, struct frame *f)
{
	struct world *w = c->client->w;
	int64_t at = w->now + some_time(w, w->delay_max);

	if (at <= c->last[to_client])
		at = c->last[to_client] + 1;
	c->last[to_client] = at;
	f->next = NULL;
	*c->tail[to_client] = f;
	c->tail[to_client] = &f->next;
	world_at(w, at, conn_deliver, c, c->epoch << 1 | (unsigned)to_client);
}

static void
conn_up(struct world *w, void *arg, uint64_t epoch)
{
	struct conn *c = arg;
	struct frame *f;

	if (c->closed || c->epoch != epoch || c->up || !c->client->alive)
		return;
	if (!c->server->alive) {
		if (c->server->kind == NODE_DISP || one_in(w, 2))
			world_at(w, w->now + 50 * MS + some_time(w, 100 * MS), conn_up, c, epoch);
		return;
	}
	if (world_walled(c->client, c->server))
		return; /* it tries for ever */
	c->up = true;
	if (c->client->kind == NODE_READER && c->server->kind == NODE_WORKER)
		sim_read_up(c->client, c->server);
	while ((f = c->stash)) {
		c->stash = f->next;
		conn_push(c, 0, f);
	}
	c->stash_tail = &c->stash;
}

struct conn *
conn_new(struct node *client, struct node *server)
{
	struct conn *c = mem_zalloc(sizeof *c);

	c->client = client;
	c->server = server;
	c->tail[0] = &c->q[0];
	c->tail[1] = &c->q[1];
	c->stash_tail = &c->stash;
	c->next = client->w->conns;
	client->w->conns = c;
	world_at(client->w, client->w->now + some_time(client->w, 5 * MS), conn_up, c, 0);
	return c;
}

struct conn *
conn_find(struct world *w, const struct node *client, const struct node *server)
{
	for (struct conn *c = w->conns; c; c = c->next)
		if (c->client == client && c->server == server && !c->closed)
			return c;
	return NULL;
}

void
conn_send(struct conn *c, int to_client, const struct msg *m, struct sim_chunk *chunk)
{
	struct buf b = { 0 };
	struct frame *f;

	if (c->closed || (!c->up && to_client))
		return;
	/* Nobody drops messages of a connection that lives, but one that is dead at
	 * one end looks so at the other. */
	if (c->client->w->holes && one_in(c->client->w, c->server->kind == NODE_DISP ? 60 : 300)) {
		c->client->cut |= c->server->kind == NODE_DISP;
		return;
	}
	msg_encode(m, &b);
	struct err e;
	if (msg_fits(m, b.len, &e))
		world_fail(c->client->w, "%s", e.text);
	f = mem_zalloc(sizeof *f);
	f->p = b.data;
	f->n = b.len;
	f->chunk = chunk;
	if (chunk)
		chunk->refs++;
	if (c->up && c->client->w->twice && one_in(c->client->w, 30)) {
		struct frame *again = mem_zalloc(sizeof *again);

		*again = (struct frame){ .p = mem_dup(f->p, f->n), .n = f->n, .chunk = chunk };
		if (chunk)
			chunk->refs++;
		conn_push(c, to_client, again);
	}
	if (c->up) {
		conn_push(c, to_client, f);
	} else {
		*c->stash_tail = f;
		c->stash_tail = &f->next;
	}
}

static void
conn_tell_client(struct world *w, void *arg, uint64_t epoch)
{
	struct conn *c = arg;

	(void)w;
	if (c->closed || c->epoch != epoch || !c->client->alive)
		return;
	if (c->client->kind == NODE_WORKER)
		sim_work_gone(c->client, NULL);
	else
		sim_read_gone(c->client, c->server->kind == NODE_DISP ? NULL : c->server);
}

/* The server waits a little for the client to come back. */
static void
conn_tell_server(struct world *w, void *arg, uint64_t epoch)
{
	struct conn *c = arg;

	if ((c->epoch == epoch && c->up) || c->epoch != epoch || !c->server->alive)
		return;
	if (c->server->kind == NODE_WORKER)
		sim_work_gone(c->server, c->client);
	else if (w->local)
		sim_disp_peer_gone(c->server, c->client->peer);
}

void
conn_break(struct conn *c)
{
	struct world *w = c->client->w;
	int64_t told;

	if (c->closed || !c->up)
		return;
	c->up = false;
	c->client->cut |= c->server->kind == NODE_DISP;
	c->epoch++;
	c->last[0] = c->last[1] = 0;
	for (int i = 0; i < 2; i++)
		conn_drop_queue(&c->q[i], &c->tail[i]);
	told = w->now + some_time(w, one_in(w, 10) ? SEC : 20 * MS);
	if (told < c->client->paused_until)
		told = c->client->paused_until;
	world_at(w, told, conn_tell_client, c, c->epoch);
	world_at(w, w->now + 200 * MS, conn_tell_server, c, c->epoch);
	world_at(w, told + some_time(w, one_in(w, 4) ? 3 * SEC : 100 * MS), conn_up, c, c->epoch);
}

void
conn_block(struct conn *c, int64_t until)
{
	c->blocked_until = until;
	c->client->cut |= c->server->kind == NODE_DISP;
}

void
conn_close(struct conn *c)
{
	if (c->closed)
		return;
	c->closed = true;
	c->up = false;
	c->epoch++;
	for (int i = 0; i < 2; i++)
		conn_drop_queue(&c->q[i], &c->tail[i]);
	conn_drop_queue(&c->stash, &c->stash_tail);
	world_at(c->client->w, c->client->w->now + 200 * MS, conn_tell_server, c, c->epoch);
}

void
node_break_all(struct node *n)
{
	for (struct conn *c = n->w->conns; c; c = c->next) {
		if (c->server == n)
			conn_break(c);
		if (c->client == n && !c->closed)
			conn_close(c);
	}
}

void
node_kill(struct node *n)
{
	if (!n->alive)
		return;
	world_say(n->w, "%s dies", n->name);
	n->alive = false;
	n->life++;
	n->tick_at = INT64_MAX;
	n->w->crashes[n->kind]++;
	node_break_all(n);
	if (n->kind == NODE_DISP)
		sim_disp_stop(n);
	else if (n->kind == NODE_WORKER)
		sim_work_stop(n);
	else
		sim_read_stop(n);
}

void
conn_free(struct conn *c)
{
	for (int i = 0; i < 2; i++)
		conn_drop_queue(&c->q[i], &c->tail[i]);
	conn_drop_queue(&c->stash, &c->stash_tail);
	mem_free(c);
}
