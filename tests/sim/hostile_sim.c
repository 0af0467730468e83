/* SPDX-License-Identifier: MIT
 *
 * Any message at any time, from anybody: the state machines may refuse, but
 * not break; every handle comes out once. And rows of the durable state with
 * changed bytes: refused, or taken for what they say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "core/disp/dispatcher.h"
#include "core/read/reader.h"
#include "core/work/worker.h"
#include "wire/field.h"

enum { PEERS = 6, STEPS = 400 };

struct any_list { void *v; size_t n; };
static struct rng r;
static uint64_t known[16]; /* numbers that were seen: iterations, seats */
static size_t n_known;
static long handles;

static uint64_t
any_number(uint64_t max)
{
	uint64_t v;

	switch (rng_below(&r, 8)) {
	case 0: v = rng_next(&r); break;
	case 1: v = max; break;
	case 2: case 3: v = n_known ? known[rng_below(&r, n_known)] : 0; break;
	default: v = rng_below(&r, 4); break;
	}
	return max == UINT64_MAX ? v : v % (max + 1);
}

static void any_rows(const struct field *rows, void *base);

static void
any_ranges(struct ranges *s)
{
	size_t n = rng_below(&r, 3);
	uint64_t at = rng_below(&r, 4);

	s->v = mem_array(n, sizeof *s->v);
	for (s->n = 0; s->n < n; s->n++) {
		s->v[s->n].start = at;
		at += 1 + (rng_below(&r, 10) ? rng_below(&r, 9) : INT64_MAX / 4);
		s->v[s->n].end = at;
		at += 1 + rng_below(&r, 5);
	}
}

/* Short and one of a few, so that some are the same, or as long as it may be. */
static char *
any_text(uint64_t max)
{
	if (max > 10000 || rng_below(&r, 100))
		return rng_below(&r, 2) ? mem_printf("%d", (int)rng_below(&r, 3)) : NULL;
	char *s = mem_zalloc(max + 1);
	memset(s, 'a' + (int)rng_below(&r, 3), max);
	return s;
}

static void
any_field(const struct field *f, void *at)
{
	struct any_list *l = at;
	struct bytes *b = at;
	size_t n = rng_below(&r, 3);

	switch (f->kind) {
	case FIELD_NONE: break;
	case FIELD_U32: *(uint32_t *)at = (uint32_t)any_number(f->max ? f->max : UINT32_MAX); break;
	case FIELD_U64: *(uint64_t *)at = any_number(f->max ? f->max : UINT64_MAX); break;
	case FIELD_BOOL: *(bool *)at = rng_below(&r, 2); break;
	case FIELD_TEXT: *(char **)at = any_text(f->max); break;
	case FIELD_BYTES:
		b->n = n;
		b->p = mem_zalloc(n);
		break;
	case FIELD_RANGES: any_ranges(at); break;
	case FIELD_WORDS: break;
	case FIELD_SPLITS:
		while (n--) {
			struct split s = { .kind = (enum split_kind)rng_below(&r, 3), .leaf = (uint32_t)n,
				.cuttable = rng_below(&r, 2), .whole = rng_below(&r, 2), .start = any_number(UINT64_MAX),
				.count = any_number(UINT64_MAX), .times = rng_below(&r, 3), .weight = any_number(UINT64_MAX) };
			split_list_add(at, &s);
		}
		break;
	case FIELD_LIST:
		l->v = mem_array(n, f->item_size);
		for (l->n = 0; l->n < n; l->n++)
			any_rows(f->item, (char *)l->v + l->n * f->item_size);
		break;
	}
}

static void
any_rows(const struct field *rows, void *base)
{
	for (; rows->kind; rows++)
		any_field(rows, (char *)base + rows->offset);
}

/* Through the wire, as all messages come: what does not decode is not sent. */
static bool
any_msg(unsigned type, struct msg *out)
{
	struct msg m = { .type = (enum msg_type)type, .req = any_number(UINT64_MAX) };
	struct buf b = { 0 };
	bool ok;

	any_rows(msg_desc(type)->fields, &m.hello);
	if (type == MSG_HELLO && rng_below(&r, 10))
		m.hello.version = WIRE_VERSION;
	msg_encode(&m, &b);
	msg_clear(&m);
	ok = !msg_decode(b.data, b.len, out, NULL);
	buf_clear(&b);
	return ok;
}

/* Whoever gets it would take it. */
static void
sent(const struct msg *m)
{
	struct buf b = { 0 };
	struct err e;

	if (m->type) {
		msg_encode(m, &b);
		if (msg_fits(m, b.len, &e)) {
			printf("not ok 1 - %s\n", e.text);
			abort();
		}
	}
	buf_clear(&b);
}

static void
know(uint64_t v)
{
	known[n_known < 16 ? n_known++ : rng_below(&r, 16)] = v;
}

/* The dispatcher */

struct row_copy { struct disp_row row; uint8_t *p; };
static struct row_copy rows[4096];
static size_t n_rows;

static void
keep_row(void *arg, const struct disp_row *row)
{
	(void)arg;
	if (!row->blob || n_rows == 4096)
		return;
	rows[n_rows++] = (struct row_copy){ *row, mem_dup(row->blob, row->n) };
}

static void
any_id(const char *spec, size_t n, char *out, size_t size)
{
	snprintf(out, size, "%.*s", (int)n, spec);
}

static void
drain_disp(struct disp *d)
{
	uint64_t peer;
	struct msg m;

	disp_changes(d, keep_row, NULL);
	while (disp_outbox(d, &peer, &m)) {
		if (m.type == MSG_JOB) {
			know(m.job.iteration);
			know(m.job.seat);
		} else if (m.type == MSG_LIST) {
			know(m.req);
		}
		sent(&m);
		msg_clear(&m);
	}
}

static void
load_damaged(void)
{
	struct disp_opts o = { .instance = 2, .seed = 2, .durable = true, .spec_id = any_id };
	struct disp *d = disp_new(&o, 1);
	struct err e;

	for (size_t i = 0; i < n_rows; i++) {
		struct disp_row row = rows[i].row;

		row.blob = rows[i].p;
		if (!rng_below(&r, 20) && row.n)
			rows[i].p[rng_below(&r, row.n)] = (uint8_t)rng_next(&r);
		if (!rng_below(&r, 50))
			row.key[rng_below(&r, 3)] = any_number(UINT64_MAX);
		disp_load(d, &row, &e);
		mem_free(rows[i].p);
	}
	n_rows = 0;
	if (!disp_loaded(d, 1, &e)) {
		disp_tick(d, 100000000000);
		drain_disp(d);
	}
	disp_free(&d);
	for (size_t i = 0; i < n_rows; i++)
		mem_free(rows[i].p);
	n_rows = 0;
}

static void
hostile_dispatcher(void)
{
	struct disp_opts o = { .instance = 1, .seed = 1, .durable = true, .spec_id = any_id, .small_splits = true };
	int64_t now = 1;
	struct disp *d = disp_new(&o, now);
	struct buf b = { 0 };
	struct msg m;

	for (uint64_t p = 1; p <= PEERS; p++) {
		m = (struct msg){ .type = MSG_HELLO, .hello = { .version = WIRE_VERSION, .peer = p,
			.role = p < 3 ? ROLE_WORKER : p < 6 ? ROLE_READER : ROLE_TOOL } };
		disp_message(d, now, p, &m);
		msg_clear(&m);
	}
	for (int i = 0; i < STEPS; i++) {
		uint64_t peer = 1 + rng_below(&r, PEERS);
		unsigned type = rng_below(&r, 3) ? (unsigned)(MSG_OPEN + rng_below(&r, MSG_CREDIT - MSG_OPEN)) :
			1 + (unsigned)rng_below(&r, MSG_TYPES - 1);

		now += (int64_t)rng_below(&r, 20) ? 1000000 : 3000000000;
		if (any_msg(type, &m)) {
			if (m.type == MSG_HELLO)
				m.hello.peer = peer;
			disp_message(d, now, peer, &m);
			msg_clear(&m);
		}
		if (!rng_below(&r, 60))
			disp_peer_gone(d, now, peer);
		disp_tick(d, now);
		if (rng_below(&r, 2))
			drain_disp(d);
	}
	disp_status(d, now, REPORT_ALL, "", &b);
	buf_clear(&b);
	drain_disp(d);
	load_damaged();
	disp_free(&d);
	n_known = 0;
}

/* Worker and reader */

static void *
new_handle(void)
{
	handles++;
	return mem_alloc(8);
}

static void
free_handle(void *p)
{
	handles--;
	mem_free(p);
}

static void
act_work(struct worker *w, struct stream_key *last)
{
	struct worker_action a;

	while (worker_action(w, &a)) {
		if (a.kind == WORKER_FREE)
			free_handle(a.handle);
		if (a.kind == WORKER_START)
			*last = a.key;
		sent(&a.msg);
		msg_clear(&a.msg);
	}
}

static void
hostile_worker(void)
{
	struct worker_opts o = { .peer = 1, .name = "w", .host = "h", .endpoint = "e", .slots = 1, .memory = 100 };
	struct stream_key key = { 0 };
	struct worker *w = worker_new(&o, 1);
	uint64_t offset = 0;
	int64_t now = 1;
	struct msg m;

	for (int i = 0; i < STEPS; i++) {
		now += 1000000;
		if (any_msg(1 + (unsigned)rng_below(&r, MSG_TYPES - 1), &m)) {
			bool begins_with_key = m.type == MSG_READER_GONE ||
				(m.type >= MSG_CREDIT && m.type <= MSG_REACHED);

			if (begins_with_key && rng_below(&r, 2))
				m.hold.key = key;
			if (m.type >= MSG_CREDIT)
				worker_data(w, now, rng_below(&r, 3), &m);
			else
				worker_message(w, now, &m);
			msg_clear(&m);
		}
		switch (rng_below(&r, 8)) {
		case 0: case 1: case 2:
			worker_produced(w, now, key, rng_below(&r, 2) ? WORKER_ALL_VIEWS : (uint32_t)rng_below(&r, 3),
					new_handle(), offset, 3, 30, 0);
			offset += 3;
			break;
		case 3: worker_split_taken(w, now, key, any_number(UINT64_MAX), any_number(UINT64_MAX)); break;
		case 4: worker_tick(w, now); break;
		case 5:
			if (!rng_below(&r, 9))
				worker_ended(w, now, key, offset, offset);
			break;
		case 6:
			if (!rng_below(&r, 20))
				worker_drain(w, now);
			worker_handed(w, now, key, rng_below(&r, 2), offset, 0, "s", 1, offset);
			break;
		}
		act_work(w, &key);
	}
	worker_stop(w);
	act_work(w, &key);
	worker_free(&w);
}

static void
act_read(struct reader *d, uint64_t *worker)
{
	struct reader_action a;

	while (reader_action(d, &a)) {
		if (a.kind == READER_FREE)
			free_handle(a.handle);
		if (a.kind == READER_CONNECT)
			*worker = a.worker;
		sent(&a.msg);
		msg_clear(&a.msg);
	}
}

static void
hostile_reader(void)
{
	struct reader_opts o = { .peer = 1, .name = "r", .host = "h", .dataset = "d", .job.order = (int)rng_below(&r, 3),
		.budget = 100, .job.window = 4, .job.checkpoint = rng_below(&r, 2) };
	uint64_t worker = 0;
	int64_t now = 1;
	struct reader *d;
	struct err e;
	struct buf b = { 0 };
	struct msg m;

	if (reader_new(&o, now, &d, &e))
		return;
	for (int i = 0; i < STEPS; i++) {
		unsigned type = rng_below(&r, 3) ? (unsigned[]){ MSG_STREAMS, MSG_CHUNK, MSG_CHUNK, MSG_JOB, MSG_HOLD,
			MSG_ACKED, MSG_WELCOME }[rng_below(&r, 7)] : 1 + (unsigned)rng_below(&r, MSG_TYPES - 1);

		now += 1000000;
		if (any_msg(type, &m)) {
			if (m.type == MSG_JOB) {
				m.req = 1;
				m.job.opts.order = o.job.order;
				know(m.job.iteration);
			}
			if (m.type == MSG_CHUNK)
				reader_chunk(d, now, worker, &m.chunk, new_handle(), 20);
			else if (m.type == MSG_VOID)
				reader_data(d, now, worker, &m);
			else if ((m.type != MSG_DONE && m.type != MSG_GONE && m.type != MSG_ERROR && m.type != MSG_REFUSED) ||
				 !rng_below(&r, 30))
				reader_message(d, now, &m);
			msg_clear(&m);
		}
		reader_written(d, now, any_number(20));
		if (!rng_below(&r, 10)) {
			buf_reset(&b);
			reader_position(d, &b);
			reader_saved(d, now);
		}
		if (!rng_below(&r, 20))
			reader_worker_gone(d, now, worker);
		reader_tick(d, now);
		act_read(d, &worker);
	}
	reader_stop(d);
	act_read(d, &worker);
	reader_free(&d);
	for (int i = 0; b.len && i < 20; i++) { /* a damaged position */
		b.data[rng_below(&r, b.len)] = (uint8_t)rng_next(&r);
		o.position = b.data;
		o.position_len = b.len;
		if (!reader_new(&o, now, &d, &e)) {
			reader_stop(d);
			act_read(d, &worker);
			reader_free(&d);
		}
	}
	buf_clear(&b);
	n_known = 0;
}

int
main(void)
{
	const char *env = getenv("SEEDS");
	uint64_t n = env ? strtoull(env, NULL, 10) : 500;

	for (uint64_t seed = 1; seed <= n; seed++) {
		r = (struct rng){ seed, 0 };
		hostile_dispatcher();
		hostile_worker();
		hostile_reader();
		if (handles) {
			printf("# seed %llu: %ld handles\n", (unsigned long long)seed, handles);
			break;
		}
	}
	printf("1..1\n%s 1 - %llu times anything\n", handles ? "not ok" : "ok", (unsigned long long)n);
	return handles != 0;
}
