/* SPDX-License-Identifier: MIT
 *
 * The dispatcher's program in the simulation: disk, commits, restarts.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "core/disp/disp_inner.h"
#include "value/mp.h"
#include "world.h"

struct sim_row { struct disp_row row; uint8_t *blob; };
struct sim_out { uint64_t peer; struct msg msg; };
struct sim_disp {
	struct disp *d;
	struct sim_row *disk, *pending; /* committed; in the commit under way */
	size_t n_disk, cap_disk, n_pending, cap_pending;
	struct sim_out *out;
	size_t n_out, cap_out;
	bool committing;
	uint64_t instance;
};

static void
sim_spec_id(const char *spec, size_t n, char *out, size_t out_size)
{
	uint64_t h = 7;

	for (size_t i = 0; i < n; i++)
		h = rng_mix(h, (uint8_t)spec[i]);
	snprintf(out, out_size, "%016llx", (unsigned long long)h);
}

static bool
sim_row_under(const struct disp_row *r, const struct disp_row *key)
{
	if (key->below)
		return r->kind == key->kind && r->key[0] == key->key[0] && r->key[1] == key->key[1] && r->key[2] < key->key[2];
	return r->kind == key->kind && !memcmp(r->key, key->key, key->n_key * sizeof r->key[0]);
}

/* Where the rows of a prefix or a range begin, or would; the disk is sorted by kind and key. */
static size_t
sim_disk_at(const struct sim_disp *s, const struct disp_row *key)
{
	uint64_t least[3] = { 0 };
	size_t from = 0, to = s->n_disk;

	memcpy(least, key->key, (key->below ? 2 : key->n_key) * sizeof least[0]);
	while (from < to) {
		size_t at = from + (to - from) / 2;
		const struct disp_row *r = &s->disk[at].row;
		int before = (r->kind > key->kind) - (r->kind < key->kind);

		for (size_t k = 0; k < 3 && !before; k++)
			before = (r->key[k] > least[k]) - (r->key[k] < least[k]);
		if (before < 0)
			from = at + 1;
		else
			to = at;
	}
	return from;
}

static void
sim_disk_apply(struct sim_disp *s, struct sim_row *r)
{
	size_t at = sim_disk_at(s, &r->row), end = at, put = r->blob != NULL;

	for (; end < s->n_disk && sim_row_under(&s->disk[end].row, &r->row); end++)
		mem_free(s->disk[end].blob);
	if (put && end == at)
		s->disk = mem_grow(s->disk, &s->cap_disk, s->n_disk + 1, sizeof *s->disk);
	if (at + put != end)
		memmove(s->disk + at + put, s->disk + end, (s->n_disk - end) * sizeof *s->disk);
	s->n_disk = s->n_disk - (end - at) + put;
	if (!put)
		return;
	s->disk[at] = *r;
	r->blob = NULL;
}

static void
sim_row_cb(void *arg, const struct disp_row *row)
{
	struct sim_disp *s = arg;

	if (s->n_pending == s->cap_pending)
		s->pending = mem_grow(s->pending, &s->cap_pending, s->n_pending + 1, sizeof *s->pending);
	s->pending[s->n_pending++] = (struct sim_row){ *row, row->blob ? mem_dup(row->blob, row->n) : NULL };
}

static bool
sim_read_row(void *arg, const struct disp_row *key, struct buf *out)
{
	struct sim_disp *s = arg;

	for (size_t i = s->n_pending; i-- > 0;)
		if (sim_row_under(key, &s->pending[i].row)) {
			if (s->pending[i].blob)
				buf_put(out, s->pending[i].blob, s->pending[i].row.n);
			return s->pending[i].blob != NULL;
		}
	size_t at = sim_disk_at(s, key);

	if (at == s->n_disk || !sim_row_under(&s->disk[at].row, key))
		return false;
	buf_put(out, s->disk[at].blob, s->disk[at].row.n);
	return true;
}

static void
sim_disp_send(struct node *n)
{
	struct sim_disp *s = n->d;

	for (size_t i = 0; i < s->n_out; i++) {
		struct node *to = node_by_peer(n->w, s->out[i].peer);

		/* it may have waited for the disk */
		if (to && to->out && n->w->now > to->out_at + SEC &&
		    (s->out[i].msg.type == MSG_ASSIGN || s->out[i].msg.type == MSG_STREAMS))
			world_fail(n->w, "%s is told of streams, and its key is struck out", to->name);
		if (to && to->alive && to->ctl)
			conn_send(to->ctl, 1, &s->out[i].msg, NULL);
		msg_clear(&s->out[i].msg);
	}
	s->n_out = 0;
}

static void sim_disp_commit(struct node *n);

static void
sim_disp_committed(struct world *w, void *arg, uint64_t life)
{
	struct node *n = arg;

	(void)w;
	if (!n->alive || n->life != life)
		return;
	for (size_t i = 0; i < n->d->n_pending; i++)
		sim_disk_apply(n->d, &n->d->pending[i]);
	n->d->n_pending = 0;
	n->d->committing = false;
	sim_disp_send(n);
	sim_disp_commit(n);
}

static void
sim_disp_commit(struct node *n)
{
	struct sim_disp *s = n->d;
	struct sim_out o;

	node_tick_later(n, disp_next_deadline(s->d));
	if (s->committing)
		return;
	disp_changes(s->d, n->w->durable ? sim_row_cb : NULL, s);
	while (disp_outbox(s->d, &o.peer, &o.msg)) {
		if (s->n_out == s->cap_out)
			s->out = mem_grow(s->out, &s->cap_out, s->n_out + 1, sizeof *s->out);
		s->out[s->n_out++] = o;
	}
	if (!n->w->durable) {
		sim_disp_send(n);
	} else if (s->n_pending || s->n_out) {
		s->committing = true;
		world_at(n->w, n->w->now + some_time(n->w, 3 * MS), sim_disp_committed, n, n->life);
	}
}

void
sim_disp_start(struct node *n)
{
	struct world *w = n->w;
	struct disp_opts o = { .seed = rng_next(&w->r), .durable = w->durable, .spec_id = sim_spec_id,
		.job_gc_ns = w->gc, .unfinished_gc_ns = SIM_GC_NS,
		.group_gc_ns = (1 + (int64_t)(w->seed % 40)) * 100 * MS,
		.small_splits = w->splits_small, .block = w->block,
		.lost_max = w->poison ? 0 : UINT32_MAX,
		.units_part = w->units_part, .read_row = w->durable ? sim_read_row : NULL };
	struct err e;

	if (!n->d)
		n->d = mem_zalloc(sizeof *n->d);
	o.read_arg = n->d;
	n->d->instance = o.instance = rng_next(&w->r) | 1;
	n->alive = true;
	w->disp_up = w->now;
	n->d->d = disp_new(&o, w->now);
	/* In any order: the loader promises not to care. */
	struct sim_row *rows = mem_array(n->d->n_disk, sizeof *rows);

	if (n->d->n_disk)
		memcpy(rows, n->d->disk, n->d->n_disk * sizeof *rows);
	for (size_t i = n->d->n_disk; i > 1; i--) {
		size_t k = chance(w, i);
		struct sim_row t = rows[i - 1];

		rows[i - 1] = rows[k];
		rows[k] = t;
	}
	for (size_t i = 0; i < n->d->n_disk; i++) {
		struct disp_row r = rows[i].row;

		r.blob = rows[i].blob;
		if (disp_load(n->d->d, &r, &e))
			world_fail(w, "a row did not load: %s", e.text);
	}
	mem_free(rows);
	if (n->d->n_disk && disp_loaded(n->d->d, w->now, &e))
		world_fail(w, "the rows did not load: %s", e.text);
	world_keys_read(w);
	sim_disp_review(n);
}

void
sim_disp_stop(struct node *n)
{
	struct sim_disp *s = n->d;

	for (size_t i = 0; i < s->n_out; i++)
		msg_clear(&s->out[i].msg);
	for (size_t i = 0; i < s->n_pending; i++)
		mem_free(s->pending[i].blob);
	s->n_out = s->n_pending = 0;
	s->committing = false;
	disp_free(&s->d);
}

void
sim_disp_free(struct node *n)
{
	struct sim_disp *s = n->d;

	if (s->d)
		sim_disp_stop(n);
	for (size_t i = 0; i < s->n_disk; i++)
		mem_free(s->disk[i].blob);
	mem_free(s->disk);
	mem_free(s->pending);
	mem_free(s->out);
	mem_free(s);
}

void
sim_disp_frame(struct node *n, struct node *from, struct msg *m)
{
	if (!n->alive)
		return;
	struct disp_who who = world_who(from);

	disp_message_of(n->d->d, n->w->now, from->peer, &who, m);
	sim_disp_commit(n);
}

void
sim_disp_peer_gone(struct node *n, uint64_t peer)
{
	disp_peer_gone(n->d->d, n->w->now, peer);
	sim_disp_commit(n);
}

static void
sim_disp_cut(void *arg, uint64_t peer)
{
	struct node *to = node_by_peer(arg, peer);

	if (to && to->alive && to->ctl)
		conn_break(to->ctl);
}

void
sim_disp_review(struct node *n)
{
	if (!n->alive)
		return;
	disp_review(n->d->d, n->w->now, world_may, n->w, sim_disp_cut);
	for (unsigned i = 0; i < n->w->n_nodes; i++) {
		const struct peer *p = n->w->nodes[i]->out ? disp_peer(n->d->d, n->w->nodes[i]->peer) : NULL;

		if (p && (p->n_streams || p->seat || p->waiting))
			world_fail(n->w, "%s is struck out, and has something still", n->w->nodes[i]->name);
	}
	sim_disp_commit(n);
}

void
sim_disp_tick(struct node *n)
{
	disp_tick(n->d->d, n->w->now);
	sim_disp_commit(n);
}

/* The instance and what is registered stay. */
size_t
sim_disp_left(const struct node *n)
{
	size_t left = n->d->d ? n->d->d->jobs.n : 0;

	for (size_t i = 0; i < n->d->n_disk; i++)
		left += n->d->disk[i].row.kind != ROW_META && n->d->disk[i].row.kind != ROW_DATASET;
	return left;
}

static uint64_t
sim_books_number(const struct buf *b, const char *key)
{
	/* The report is one record; the keys looked for occur once per iteration. */
	uint64_t sum = 0;
	size_t n = strlen(key);

	for (size_t i = 0; i + n + 1 < b->len; i++)
		if (b->data[i] == (0xa0 | n) && !memcmp(b->data + i + 1, key, n)) {
			struct mp h;

			if (mp_head(b->data + i + 1 + n, b->data + b->len, &h) && h.kind == MP_INT)
				sum += h.u;
		}
	return sum;
}

bool
sim_disp_books(struct node *n, const char *job)
{
	struct buf b = { 0 };

	if (!n->alive || !disp_status(n->d->d, n->w->now, REPORT_AUDIT, job, &b))
		return false;
	if (!mp_check(b.data, b.len))
		world_fail(n->w, "the report is not a value");
	if (sim_books_number(&b, "lost"))
		world_fail(n->w, "the audit says lost %llu", (unsigned long long)sim_books_number(&b, "lost"));
	n->w->repeated = sim_books_number(&b, "repeated");
	n->w->disp_made_again = sim_books_number(&b, "made_again");
	n->w->disp_dropped = sim_books_number(&b, "dropped");
	n->w->disp_rounds = sim_books_number(&b, "rounds");
	n->w->disp_counted = true;
	if (sim_books_number(&b, "suppressed") > sim_books_number(&b, "made"))
		world_fail(n->w, "the audit says suppressed %llu", (unsigned long long)sim_books_number(&b, "suppressed"));
	if (n->w->repeated)
		world_fail(n->w, "the audit says repeated %llu", (unsigned long long)n->w->repeated);
	buf_clear(&b);
	buf_reset(&b);
	disp_status(n->d->d, n->w->now, REPORT_ALL, "", &b);
	if (!mp_check(b.data, b.len))
		world_fail(n->w, "the report is not a value");
	buf_clear(&b);
	return true;
}

/* Prints the report that dsvc-status would show as hexadecimal digits, for reading a failed run. */
void
sim_disp_dump(struct node *n)
{
	struct buf b = { 0 };

	if (!n->alive || !n->w->verbose)
		return;
	disp_status(n->d->d, n->w->now, REPORT_ALL, "", &b);
	printf("# REPORT ");
	for (size_t i = 0; i < b.len; i++)
		printf("%02x", b.data[i]);
	putchar('\n');
	buf_clear(&b);
}
