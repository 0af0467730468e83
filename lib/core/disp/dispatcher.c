/* SPDX-License-Identifier: MIT */
#include "core/disp/dispatcher.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_end.h"
#include "core/disp/disp_forget.h"
#include "core/disp/disp_inner.h"
#include "core/disp/disp_news.h"
#include "core/disp/disp_role.h"
#include "core/disp/disp_row.h"
#include "core/disp/disp_takes.h"
#include "core/disp/disp_tap.h"
#include "core/disp/disp_wanted.h"
#include "core/disp/disp_yield.h"

struct disp *
disp_new(const struct disp_opts *o, int64_t now_ns)
{
	struct disp *d = mem_zalloc(sizeof *d);
	struct list_node *rings[] = { &d->by_heard, &d->workers, &d->tools, &d->asks, &d->job_list,
		&d->busy, &d->running, &d->young, &d->notify, &d->waiting, &d->dirty, &d->rounds,
		&d->idle_datasets };

	d->o = *o;
	d->service.began = now_ns;
	if (!d->o.beat_ms)
		d->o.beat_ms = 1000;
	if (!d->o.loss_ms)
		d->o.loss_ms = 5000;
	if (!d->o.job_gc_ns)
		d->o.job_gc_ns = 300 * 1000000000ll;
	if (!d->o.unfinished_gc_ns)
		d->o.unfinished_gc_ns = 7 * 86400 * 1000000000ll;
	if (!d->o.group_gc_ns)
		d->o.group_gc_ns = 30 * 1000000000ll;
	if (!d->o.dataset_gc_ns)
		d->o.dataset_gc_ns = 7 * 86400 * 1000000000ll;
	for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
		ring_init(rings[i]);
	for (unsigned k = 0; k < GC_KINDS; k++) {
		ring_init(&d->idle[k]);
		ring_init(&d->away[k]);
	}
	d->rng = (struct rng){ rng_mix(o->seed, o->instance), 0 };
	/* Not from 1: a worker that served another dispatcher before must not
	 * take a late message of that time for one of now. */
	d->next_id = (rng_next(&d->rng) >> 24) + 1;
	if (secret_none(d->o.secret))
		d->o.secret = (struct secret){ rng_next(&d->rng), rng_next(&d->rng) };
	d->meta_dirty = true;
	d->now = d->idle_since = now_ns;
	d->trial_due = d->yield_due = d->rounds_due = d->group_due = INT64_MAX;
	return d;
}

bool
disp_outbox(struct disp *d, uint64_t *peer, struct msg *out)
{
	news_tell(d);
	if (d->out_first == d->n_out)
		return false;
	*peer = d->out[d->out_first].peer;
	*out = d->out[d->out_first++].msg;
	return true;
}

/* Messages */

/* Answers a peer that is not known, without remembering it. */
static struct msg *
disp_send_stranger(struct disp *d, uint64_t id, enum msg_type t, uint64_t req)
{
	struct peer stranger = { .id = id };

	return disp_send(d, &stranger, t, req);
}

static void
disp_welcome(struct disp *d, const struct peer *p, uint64_t req)
{
	struct msg *out = disp_send(d, p, MSG_WELCOME, req);

	out->welcome = (struct msg_welcome){ WIRE_VERSION, d->o.instance, d->o.durable,
		d->o.beat_ms, d->o.loss_ms, d->o.strangers };
}

static void
disp_take_hello(struct disp *d, struct peer *p, struct msg_hello *h)
{
	char **texts[4][2] = { { &p->name, &h->name }, { &p->host, &h->host }, { &p->hostname, &h->hostname },
		{ &p->endpoint, &h->endpoint } };

	for (int i = 0; i < 4; i++) {
		mem_free(*texts[i][0]);
		*texts[i][0] = str_take(texts[i][1]);
	}
	p->pid = h->pid;
	if (p->role == ROLE_WORKER) {
		d->slots -= p->slots;
		place_leave(d, p);
		p->slots = h->slots ? h->slots : 1;
		d->slots += p->slots;
		words_clear(&p->tags);
		p->tags = h->tags;
		h->tags = (struct words){ 0 };
		if (!p->draining)
			place_join(d, p);
	}
}

/* Compares the streams that a worker says it has with those that it should have. One that
 * was awaited since a restart has been on no host so far. */
static void
disp_reconcile(struct disp *d, struct peer *p, const struct msg_hello *h, bool awaited)
{
	struct hash have = { 0 };
	struct list_node *n, *next;

	for (size_t i = 0; i < h->streams.n; i++) {
		struct stream_key key = h->streams.v[i].key;
		struct stream *s = stream_find(d, key);

		if (s && s->worker == p && s->gen == key.gen)
			hash_put(&have, &key, sizeof key, s);
		else
			stream_revoke(d, p, key);
	}
	for (n = p->streams.next; n != &p->streams; n = next) {
		struct stream *s = LIST_OF(n, struct stream, by_worker);
		struct stream_key key = stream_key_of(s);

		next = n->next;
		/* It has forgotten it; or those readers have left for whom it made it. */
		if ((s->running && !hash_get(&have, &key, sizeof key)) || (s->iter->hosts.n && !place_wanted(s->iter, p)))
			service_move(d, s, s->running && !hash_get(&have, &key, sizeof key) ? MOVE_LOST : MOVE_BALANCED);
		else if (awaited)
			stream_changed(d, s);
	}
	hash_clear(&have);
}

static void
disp_hello(struct disp *d, uint64_t id, const struct disp_who *who, struct msg *m)
{
	struct msg_hello *h = &m->hello;
	struct peer *p;
	bool is_new;

	if (h->version != WIRE_VERSION) {
		struct msg *out = disp_send_stranger(d, id, MSG_REFUSED, m->req);

		out->refused.version = WIRE_VERSION;
		out->refused.code = ST_PROTO;
		out->refused.text = mem_printf("protocol version %u, the dispatcher speaks %u", h->version, WIRE_VERSION);
		out->refused.help = mem_strdup("use programs of the same release on all machines");
		return;
	}
	if (h->peer != id || h->role < ROLE_WORKER || h->role > ROLE_TOOL) {
		struct msg *out = disp_send_stranger(d, id, MSG_REFUSED, m->req);

		out->refused.version = WIRE_VERSION;
		out->refused.code = ST_PROTO;
		out->refused.text = mem_strdup("HELLO with another peer id than the connection's, or an unknown role");
		return;
	}
	p = disp_peer(d, id);
	if (p && p->role != h->role) {
		disp_peer_lost(d, p, false);
		p = NULL;
	}
	is_new = !p || !p->known;
	if (!p && h->role == ROLE_WORKER)
		disp_peer_replaced(d, h->name, who->user);
	if (!p)
		p = disp_peer_new(d, id, (enum wire_role)h->role);
	d->n_awaited -= p->role == ROLE_WORKER && !p->known;
	p->known = true;
	p->all = who->may & MAY_ADMIN;
	mem_free(p->user);
	p->user = who->user ? mem_strdup(who->user) : NULL;
	p->heard = d->now;
	disp_take_hello(d, p, h);
	disp_welcome(d, p, m->req);
	if (p->role == ROLE_WORKER) {
		end_joined(d, p);
		disp_reconcile(d, p, h, is_new);
		ask_again(d, p);
		if (is_new) {
			events_worker_joined(d, p);
			iter_worker_joined(d, p);
		}
		yield_soon(d);
	} else {
		ask_again(d, p);
	}
}

static void
disp_bye(struct disp *d, struct peer *p, struct msg *m)
{
	if (p->role == ROLE_WORKER && m->bye.drain && p->n_streams) {
		if (!p->draining) /* it asks again until it is answered */
			events_worker_drains(d, p);
		p->draining = true;
		place_leave(d, p);
		p->bye_req = m->req;
		return;
	}
	disp_send(d, p, MSG_BYE_OK, m->req);
	p->leaves = true;
	disp_peer_lost(d, p, false);
}

static void
disp_beat(struct disp *d, struct peer *p, struct msg *m)
{
	p->kept_bytes = m->beat.kept_bytes;
	p->arena = m->beat.arena;
	p->leased = m->beat.leased;
	p->shared = m->beat.shared;
	p->cores = m->beat.cores;
	p->step = m->beat.step;
	p->last = m->beat.last;
	if (p->seat)
		news_beat(d, p->seat, m->beat.streams);
	wanted_beat(d, p, &m->beat.clocks);
	disp_send(d, p, MSG_BEAT, m->req);
}

/* A part of the report that the tool has asked for. It is kept while parts are left,
 * for those of two reports do not fit together. */
static void
disp_report_part(struct disp *d, struct peer *p, uint64_t req, uint32_t part)
{
	size_t most = d->o.report_part ? d->o.report_part : WIRE_REPORT_PART;
	size_t from = (size_t)part * most, n = from < p->report.len ? p->report.len - from : 0;
	struct msg *out;

	if (!n || p->report.len > most * WIRE_REPORT_PARTS) {
		disp_error(d, p, req, ST_TEMP, n ? "the report is too large to be sent" : "there is no such report any more",
			   n ? "ask for one job" : "ask again");
		buf_clear(&p->report);
		return;
	}
	out = disp_send(d, p, MSG_REPORT, req);
	out->report.part = part;
	out->report.last = n <= most;
	out->report.value.n = n <= most ? n : most;
	out->report.value.p = mem_dup(p->report.data + from, out->report.value.n);
	if (n <= most)
		buf_clear(&p->report);
}

static void
disp_tool(struct disp *d, struct peer *p, struct msg *m)
{
	if (!m->status.part)
		buf_reset(&p->report);
	if (!m->status.part &&
	    !report_for(d, d->now, p->all ? NULL : str_or_empty(p->user), &m->status, &p->report)) {
		char *text = mem_printf("no job `%s`", m->status.job);

		disp_error(d, p, m->req, ST_NOINPUT, text, "");
		mem_free(text);
		return;
	}
	disp_report_part(d, p, m->req, m->status.part);
}

void
disp_refuse_new(struct disp *d, const char *why)
{
	mem_free(d->refuse);
	d->refuse = mem_strdup(why);
}

bool
disp_promises(enum msg_type t)
{
	return t != MSG_BEAT && t != MSG_BYE && t != MSG_WHO && t != MSG_ERROR && t != MSG_REFUSED && t != MSG_WELCOME &&
		t != MSG_ENDING && t != MSG_REPORT && t != MSG_TAP && t != MSG_TAPPED &&
		t != MSG_STEP_OK;
}

static bool
disp_refused(struct disp *d, struct peer *p, const struct msg *m)
{
	bool again = m->type == MSG_OPEN && (p->seat || p->waiting || m->open.seat);

	if (!d->refuse || again || (m->type != MSG_OPEN && m->type != MSG_REGISTER && m->type != MSG_FORGET))
		return false;
	disp_error(d, p, m->req, ST_IO, d->refuse, "make room on the dispatcher's disk; it resumes by itself");
	return true;
}

/* size: one case per message */
static void
disp_known_message(struct disp *d, struct peer *p, struct msg *m)
{
	if (disp_refused(d, p, m))
		return;
	switch (m->type) {
	case MSG_BEAT: disp_beat(d, p, m); return;
	case MSG_BYE: disp_bye(d, p, m); return;
	case MSG_STATUS: disp_tool(d, p, m); return;
	case MSG_END:
		if (p->role == ROLE_TOOL)
			end_message(d, p, m);
		return;
	case MSG_TAP:
		if (p->role == ROLE_TOOL)
			tap_ask(d, p, m);
		return;
	case MSG_TAPPED:
		if (p->role == ROLE_WORKER)
			tap_got(d, p, &m->tapped);
		return;
	case MSG_REGISTER: dataset_register(d, p, m); return;
	case MSG_GET: dataset_get(d, p, m); return;
	case MSG_FORGET:
		if (p->role == ROLE_TOOL)
			forget_message(d, p, m);
		return;
	case MSG_OPEN:
		if (p->role == ROLE_READER)
			job_open(d, p, m);
		return;
	case MSG_HELD: case MSG_ACK: case MSG_CLOSE: case MSG_REACHED: case MSG_STOP: case MSG_UNREACHED:
		if (p->role == ROLE_READER)
			seat_message(d, p, m);
		return;
	case MSG_UNITS: case MSG_ERROR:
		if (p->role == ROLE_WORKER)
			iter_units(d, p, m);
		return;
	case MSG_TAKES:
		if (p->role == ROLE_WORKER)
			takes_message(d, p, m);
		return;
	case MSG_ASSIGNED: case MSG_REVOKED: case MSG_SPLIT_REQ: case MSG_RESTART: case MSG_FAULTS:
	case MSG_STREAM_END: case MSG_HANDOVER: case MSG_GONE_OK: case MSG_YIELDED: case MSG_MISSED:
	case MSG_VIEW_OK: case MSG_STORES: case MSG_STEP:
		if (p->role == ROLE_WORKER)
			stream_message(d, p, m);
		return;
	default: return; /* nothing that is for a dispatcher */
	}
}

void
disp_message(struct disp *d, int64_t now_ns, uint64_t peer, struct msg *m)
{
	disp_message_of(d, now_ns, peer, &(struct disp_who){ .may = MAY_ANY }, m);
}

void
disp_message_of(struct disp *d, int64_t now_ns, uint64_t peer, const struct disp_who *who, struct msg *m)
{
	struct peer *p;

	disp_time(d, now_ns);
	if (!role_admits(d, peer, who, m))
		return;
	if (m->type == MSG_HELLO) {
		disp_hello(d, peer, who, m);
		return;
	}
	p = disp_peer(d, peer);
	if (!p || !p->known) {
		disp_send_stranger(d, peer, MSG_WHO, m->req);
		return;
	}
	p->heard = now_ns;
	p->programs = who->may & (MAY_EXEC | MAY_ADMIN);
	ring_push(&d->by_heard, &p->by_heard);
	disp_known_message(d, p, m);
}

void
disp_deny(struct disp *d, int64_t now_ns, uint64_t peer, uint64_t req, const struct err *e)
{
	struct msg *m;

	disp_time(d, now_ns);
	m = disp_send_stranger(d, peer, MSG_ERROR, req);
	m->error.code = status_code(e->kind);
	m->error.text = mem_strdup(e->text);
	m->error.help = mem_strdup(e->help);
}

void
disp_bad_message(struct disp *d, int64_t now_ns, uint64_t peer, const struct err *e)
{
	struct msg *m;

	disp_time(d, now_ns);
	m = disp_send_stranger(d, peer, MSG_ERROR, 0);
	m->error.code = ST_PROTO;
	m->error.text = mem_strdup(e->text);
	m->error.help = mem_strdup("");
}

void
disp_peer_gone(struct disp *d, int64_t now_ns, uint64_t peer)
{
	struct peer *p = disp_peer(d, peer);

	disp_time(d, now_ns);
	/* A peer that has not come back since a restart has no connection to lose. */
	if (p && p->known)
		disp_peer_lost(d, p, false);
}

void
disp_end(struct disp *d)
{
	for (struct list_node *n = d->by_heard.next; n != &d->by_heard; n = n->next) {
		const struct peer *p = LIST_OF(n, struct peer, by_heard);

		if (p->known)
			disp_send(d, p, MSG_BYE, 0);
	}
}

bool
disp_alone(const struct disp *d)
{
	return !d->n_workers && !d->n_readers;
}

int64_t
disp_idle_since(const struct disp *d)
{
	return d->idle_since;
}

uint32_t
disp_workers(const struct disp *d)
{
	return d->n_workers;
}

uint64_t
disp_instance(const struct disp *d)
{
	return d->o.instance;
}

void
disp_free(struct disp **dp)
{
	struct disp *d = *dp;
	uint64_t peer;
	struct msg m;

	if (!d)
		return;
	while (!ring_empty(&d->job_list))
		job_free(d, LIST_OF(d->job_list.next, struct job, node));
	while (!ring_empty(&d->by_heard))
		disp_peer_free(d, LIST_OF(d->by_heard.next, struct peer, by_heard));
	for (size_t i = 0; i < d->datasets.n; i++) {
		struct dataset *s = d->datasets.items[i].value;

		fields_clear(row_dataset_fields, s);
		spent_clear(&s->spent);
		mem_free(s);
	}
	while (disp_outbox(d, &peer, &m))
		msg_clear(&m);
	load_rows_free(d);
	events_clear(d);
	hash_clear(&d->tagged);
	hash_clear(&d->hosts);
	hash_clear(&d->datasets);
	hash_clear(&d->jobs);
	hash_clear(&d->seats);
	hash_clear(&d->iters);
	hash_clear(&d->rests);
	hash_clear(&d->peers);
	hash_clear(&d->ask_index);
	mem_free(d->refuse);
	mem_free(d->deletes);
	mem_free(d->out);
	mem_free(d);
	*dp = NULL;
}
