/* SPDX-License-Identifier: MIT
 *
 * A pass without end must not make the dispatcher grow: not its memory, nor its rows, also
 * with large states and a reader that lags. And what it forgets nobody asks for: now and
 * then the dispatcher begins anew from its rows, a stream goes to the other worker, and that
 * one is told of every split from where it begins.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "core/disp/dispatcher.h"

/* The allocators of the sanitizers do not say how much memory is in use. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_TOLD false
#else
#define MEMORY_TOLD true
#endif

#define MS 1000000ll
#define SEC 1000000000ll
enum { READER = 7, WORKER = 100, WORKERS = 2, STREAMS = 4, STATE = 100000, LAG = 300, ROUNDS = 40000 };

struct kept { struct disp_row row; uint8_t *blob; };
struct made {              /* a stream as its worker knows it */
	struct stream_key key;
	uint64_t peer, k, offset, acked, seq;
	bool has_state;
};
struct run {
	struct disp *d;
	struct hash rows;        /* the first is the newest state of each key */
	size_t n_rows, bytes, memory; /* memory: of the dispatcher that ended last */
	struct made s[STREAMS];
	int64_t now;
	struct rng r;
	uint64_t seq;
	size_t splits;
	bool large;
	char why[200];
};

static void
endless_id(const char *spec, size_t n, char *out, size_t size)
{
	(void)spec;
	snprintf(out, size, "%zu", n);
}

struct row_name { uint64_t kind, key[3]; };

static void
endless_drop(struct run *r, struct row_name *name)
{
	struct kept *k = hash_del(&r->rows, name, sizeof *name);

	if (!k)
		return;
	r->n_rows--;
	r->bytes -= k->row.n;
	mem_free(k->blob);
	mem_free(k);
}

static void
endless_drop_many(struct run *r, const struct disp_row *d)
{
	size_t same = d->below ? 2 : d->n_key;

	for (size_t i = r->rows.n; i-- > 0;) {
		const struct kept *k = r->rows.items[i].value;
		struct row_name name = { k->row.kind, { k->row.key[0], k->row.key[1], k->row.key[2] } };

		if (k->row.kind == d->kind && !memcmp(k->row.key, d->key, same * sizeof d->key[0]) &&
		    (!d->below || k->row.key[2] < d->key[2]))
			endless_drop(r, &name);
	}
}

static void
endless_row(void *arg, const struct disp_row *row)
{
	struct run *r = arg;
	struct row_name name = { row->kind, { row->key[0], row->key[1], row->key[2] } };
	struct kept *k;

	if (!row->blob && (row->n_key < 3 || row->below)) {
		endless_drop_many(r, row);
		return;
	}
	endless_drop(r, &name);
	if (!row->blob)
		return;
	k = mem_zalloc(sizeof *k);
	*k = (struct kept){ *row, mem_dup(row->blob, row->n) };
	hash_put(&r->rows, &name, sizeof name, k);
	r->n_rows++;
	r->bytes += row->n;
}

static bool
endless_read(void *arg, const struct disp_row *key, struct buf *out)
{
	struct run *r = arg;
	struct row_name name = { key->kind, { key->key[0], key->key[1], key->key[2] } };
	const struct kept *k = hash_get(&r->rows, &name, sizeof name);

	if (k)
		buf_put(out, k->blob, k->row.n);
	return k != NULL;
}

static void
endless_new(struct run *r)
{
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true, .spec_id = endless_id, .read_row = endless_read,
		.read_arg = r, .lost_max = UINT32_MAX };
	struct err e;

	if (r->d) {
		size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;

		disp_free(&r->d);
		r->memory = before - mallinfo2().uordblks - mallinfo2().hblkhd;
	}
	r->d = disp_new(&o, r->now);
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct kept *k = r->rows.items[i].value;
		struct disp_row row = k->row;

		row.blob = k->blob;
		if (disp_load(r->d, &row, &e))
			snprintf(r->why, sizeof r->why, "a row did not load: %.120s", e.text);
	}
	if (r->rows.n && disp_loaded(r->d, r->now, &e))
		snprintf(r->why, sizeof r->why, "the rows did not load: %.120s", e.text);
}

static void endless_take(struct run *r);

static void
endless_say(struct run *r, uint64_t peer, struct msg *m)
{
	disp_message(r->d, r->now, peer, m);
	msg_clear(m);
	endless_take(r);
}

static void
endless_assigned(struct run *r, uint64_t peer, const struct msg_assign *a)
{
	struct made *s = &r->s[a->key.stream];
	struct msg m = { .type = MSG_ASSIGNED, .assigned = { a->key } };

	if (s->key.gen == a->key.gen)
		return;
	if (a->offset > s->acked)
		snprintf(r->why, sizeof r->why, "stream %u begins at %llu and %llu are acknowledged", a->key.stream,
			 (unsigned long long)a->offset, (unsigned long long)s->acked);
	if (r->large && a->offset && (a->state.n != STATE || a->state.p[7] != (uint8_t)a->offset))
		snprintf(r->why, sizeof r->why, "stream %u comes with another state than that at %llu", a->key.stream,
			 (unsigned long long)a->offset);
	s->key = a->key;
	s->peer = peer;
	s->k = a->split;
	s->offset = a->offset;
	endless_say(r, peer, &m);
}

static void
endless_take(struct run *r)
{
	uint64_t peer;
	struct msg m;

	disp_changes(r->d, endless_row, r);
	while (disp_outbox(r->d, &peer, &m)) {
		struct split all = { .kind = SPLIT_RANGE, .cuttable = true, .count = 1000, .times = 1 };
		struct msg answer = { 0 };

		if (m.type == MSG_LIST) {
			answer = (struct msg){ .type = MSG_UNITS, .req = m.req, .units = { .listing = 1, .last = true } };
			split_list_add(&answer.units.units, &all);
			endless_say(r, peer, &answer);
		} else if (m.type == MSG_ASSIGN) {
			endless_assigned(r, peer, &m.assign);
		} else if (m.type == MSG_HOLD) {
			answer = (struct msg){ .type = MSG_HELD, .held = { .key = m.hold.key, .seat = 1 } };
			endless_say(r, peer, &answer);
		} else if (m.type == MSG_REVOKE) {
			answer = (struct msg){ .type = MSG_REVOKED, .revoked = { m.revoke.key } };
			endless_say(r, peer, &answer);
		} else if (m.type == MSG_SPLIT && peer == r->s[m.split.key.stream].peer) {
			r->s[m.split.key.stream].k += m.split.splits.n;
			r->splits += m.split.splits.n;
		}
		msg_clear(&m);
	}
}

static void
endless_hello(struct run *r, uint64_t peer, enum wire_role role)
{
	struct msg m = { .type = MSG_HELLO, .hello = { .version = WIRE_VERSION, .role = role, .peer = peer, .slots = 2 } };

	m.hello.name = mem_printf("peer-%llu", (unsigned long long)peer);
	m.hello.endpoint = mem_printf("tcp://10.0.0.1:%llu", (unsigned long long)peer);
	if (role == ROLE_WORKER) {
		m.hello.streams.v = mem_array(STREAMS, sizeof *m.hello.streams.v);
		for (int i = 0; i < STREAMS; i++)
			if (r->s[i].peer == peer && r->s[i].key.gen)
				m.hello.streams.v[m.hello.streams.n++].key = r->s[i].key;
	}
	endless_say(r, peer, &m);
}

static void
endless_open(struct run *r)
{
	struct msg m = { .type = MSG_OPEN, .open = { .spec = mem_strdup("counter"), .job.sharding = SHARD_DYNAMIC,
		.job.order = ORDER_STABLE, .job.shards = STREAMS, .job.epoch = 1 } };

	endless_say(r, READER, &m);
}

/* A split of each stream: asked for, made, its place told; and what the reader has by now. */
static void
endless_round(struct run *r, struct made *s)
{
	struct msg ask = { .type = MSG_SPLIT_REQ, .split_req = { s->key, s->k, 1, s->offset } };
	struct msg point = { .type = MSG_RESTART, .restart = { .key = s->key } };
	uint64_t before = s->k;

	endless_say(r, s->peer, &ask);
	if (s->k == before)
		snprintf(r->why, sizeof r->why, "split %llu was not given", (unsigned long long)before);
	s->offset += 10;
	point.restart.offset = s->offset;
	point.restart.split = s->k;
	if (r->large) {
		point.restart.state = (struct bytes){ mem_zalloc(STATE), STATE };
		point.restart.state.p[7] = (uint8_t)s->offset;
	}
	endless_say(r, s->peer, &point);
	if (s->offset > s->acked + LAG) {
		struct msg ack = { .type = MSG_ACK, .ack = { .iteration = s->key.iteration, .seat = 1, .seq = ++r->seq } };
		struct msg_stream_ranges *list = mem_zalloc(sizeof *list);

		list->stream = s->key.stream;
		list->ranges.v = mem_zalloc(sizeof *list->ranges.v);
		list->ranges.v[0] = (struct range){ s->acked, s->offset - LAG / 2 };
		list->ranges.n = 1;
		s->acked = s->offset - LAG / 2;
		ack.ack.list.v = list;
		ack.ack.list.n = 1;
		endless_say(r, READER, &ack);
	}
}

static void
endless_again(struct run *r)
{
	endless_new(r);
	for (uint64_t i = 0; i < WORKERS; i++)
		endless_hello(r, WORKER + i, ROLE_WORKER);
	endless_hello(r, READER, ROLE_READER);
}

/* One of the workers is lost and comes back: its streams begin anew, at a point. */
static void
endless_lose(struct run *r)
{
	uint64_t peer = WORKER + rng_below(&r->r, WORKERS);

	disp_peer_gone(r->d, r->now, peer);
	endless_take(r);
	endless_hello(r, peer, ROLE_WORKER);
}

static bool
endless_run(bool large)
{
	struct run r = { .now = SEC, .large = large, .r = { 5, 0 } };
	size_t rows[2] = { 0 }, bytes[2] = { 0 }, memory[2] = { 0 };
	unsigned rounds = large ? ROUNDS / 8 : ROUNDS;
	bool ok;

	endless_new(&r);
	for (uint64_t i = 0; i < WORKERS; i++)
		endless_hello(&r, WORKER + i, ROLE_WORKER);
	endless_hello(&r, READER, ROLE_READER);
	endless_open(&r);
	for (unsigned i = 0; i < rounds && !r.why[0]; i++) {
		r.now += MS;
		for (int k = 0; k < STREAMS && !r.why[0]; k++)
			endless_round(&r, &r.s[k]);
		if (i % 1000 == 999)
			endless_lose(&r);
		if (i % 1500 == 1499 && (i < 1500 || i > rounds / 2)) {
			endless_again(&r);
			memory[i >= 1500] = r.memory > memory[i >= 1500] ? r.memory : memory[i >= 1500];
			rows[i >= 1500] = r.n_rows;
			bytes[i >= 1500] = r.bytes;
		}
	}
	printf("# %zu splits, states of %d bytes: %zu rows of %zu bytes and then %zu of %zu; "
	       "memory %zu bytes and then %zu%s%s\n",
	       r.splits, large ? STATE : 0, rows[0], bytes[0], rows[1], bytes[1], memory[0], memory[1],
	       r.why[0] ? "; " : "", r.why);
	/* Rows go 4096 at a time, of each stream. */
	ok = !r.why[0] && rows[1] < STREAMS * 4300 && (!MEMORY_TOLD || (memory[1] && memory[1] < memory[0] + 65536));
	disp_free(&r.d);
	while (r.rows.n) {
		struct kept *k = r.rows.items[0].value;
		struct row_name name = { k->row.kind, { k->row.key[0], k->row.key[1], k->row.key[2] } };

		endless_drop(&r, &name);
	}
	hash_clear(&r.rows);
	return ok;
}

int
main(void)
{
	bool small = endless_run(false), large = endless_run(true);

	printf("1..2\n%s 1 - an endless pass takes no more memory and rows than a short one\n"
	       "%s 2 - nor do large states, which are read back when they are needed\n", small ? "ok" : "not ok",
	       large ? "ok" : "not ok");
	return !small || !large;
}
