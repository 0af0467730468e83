/* SPDX-License-Identifier: MIT */
#include "core/work/worker.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "core/work/worker_inner.h"

static struct worker_stream *
worker_at(const struct worker *w, size_t i)
{
	return w->streams.items[i].value;
}

static void
worker_hello(struct worker *w)
{
	const struct worker_opts *o = &w->o;
	struct msg *m = worker_tell(w, MSG_HELLO);

	m->hello = (struct msg_hello){ .version = WIRE_VERSION, .role = ROLE_WORKER, .peer = o->peer,
		.name = mem_strdup(o->name), .host = mem_strdup(o->host),
		.hostname = mem_strdup(str_or_empty(o->hostname)), .pid = o->pid,
		.endpoint = mem_strdup(o->endpoint), .slots = o->slots, .instance = w->contact.instance };
	for (size_t i = 0; o->tags && i < o->tags->n; i++)
		words_add(&m->hello.tags, o->tags->v[i], strlen(o->tags->v[i]));
	m->hello.streams.n = w->streams.n;
	m->hello.streams.v = mem_array(w->streams.n, sizeof *m->hello.streams.v);
	for (size_t i = 0; i < w->streams.n; i++)
		m->hello.streams.v[i].key = worker_at(w, i)->key;
}

static void
worker_over(struct worker *w, enum worker_action_kind kind)
{
	if (w->over)
		return;
	w->over = true;
	worker_do(w, kind)->err = &w->err;
}

static void
worker_contact(struct worker *w)
{
	struct msg *m;

	while (!w->over)
		switch (contact_tick(&w->contact, w->now, &w->err)) {
		case CONTACT_NONE: return;
		case CONTACT_HELLO: worker_hello(w); break;
		case CONTACT_BEAT:
			m = worker_tell(w, MSG_BEAT);
			m->beat.kept_bytes = w->bytes + w->late_bytes;
			m->beat.streams = w->streams.n;
			worker_clock_tell(w, &m->beat.clocks);
			m->beat.arena = w->arena;
			m->beat.leased = w->leased;
			break;
		case CONTACT_LOST: worker_over(w, WORKER_LOST); return;
		}
}

struct worker *
worker_new(const struct worker_opts *o, int64_t now_ns)
{
	struct worker *w = mem_zalloc(sizeof *w);

	w->o = *o;
	if (!w->o.memory)
		w->o.memory = WORKER_MEMORY;
	if (!w->o.splits_ahead)
		w->o.splits_ahead = 1;
	if (!w->o.units_part)
		w->o.units_part = WIRE_UNITS_PART;
	w->now = now_ns;
	w->again_due = now_ns + CONTACT_AGAIN_NS;
	contact_init(&w->contact, now_ns, o->give_up_ns, o->where);
	worker_contact(w);
	return w;
}

void
worker_stop(struct worker *w)
{
	w->over = true;
	while (w->streams.n)
		worker_stream_drop(w, worker_at(w, w->streams.n - 1));
}

void
worker_free(struct worker **wp)
{
	struct worker *w = *wp;
	struct worker_action a;

	if (!w)
		return;
	worker_stop(w);
	while (worker_action(w, &a))
		msg_clear(&a.msg);
	hash_clear(&w->streams);
	mem_free(w->on);
	mem_free(w->heavy);
	mem_free(w->actions);
	mem_free(w->lists);
	worker_clock_clear(w);
	mem_free(w->takes.v);
	mem_free(w);
	*wp = NULL;
}

/* Messages of the dispatcher */

static void
worker_welcome(struct worker *w, struct msg *m)
{
	enum contact_welcome is = contact_welcome(&w->contact, w->now, &m->welcome);

	if (!w->shown) {
		w->shown = true;
		worker_do(w, WORKER_WELCOME);
	}
	/* Another state: nobody there knows of what we have. */
	while (is == CONTACT_OTHER && w->streams.n)
		worker_stream_drop(w, worker_at(w, w->streams.n - 1));
	for (size_t i = 0; i < w->streams.n; i++)
		worker_stream_again(w, worker_at(w, i), true);
	worker_takes_all(w);
	if (w->draining)
		worker_tell(w, MSG_BYE)->bye.drain = true;
}

static void
worker_list(struct worker *w, struct msg *m)
{
	struct worker_action *a;

	for (size_t i = 0; i < w->n_lists; i++)
		if (w->lists[i] == m->req)
			return; /* under way */
	if (w->n_lists == w->cap_lists)
		w->lists = mem_grow(w->lists, &w->cap_lists, w->n_lists + 1, sizeof *w->lists);
	w->lists[w->n_lists++] = m->req;
	a = worker_do(w, WORKER_LIST);
	a->msg = *m;
	*m = (struct msg){ 0 };
}

static void
worker_tap(struct worker *w, struct msg *m)
{
	struct worker_action *a = worker_do(w, WORKER_TAP);

	a->msg = *m;
	*m = (struct msg){ 0 };
}

void
worker_tapped(struct worker *w, int64_t now_ns, struct msg_tapped *m)
{
	w->now = now_ns;
	if (w->contact.connected && worker_stream_find(w, m->key)) {
		worker_tell(w, MSG_TAPPED)->tapped = *m;
		m->elements = (struct bytes){ 0 };
	}
}

static void
worker_revoke(struct worker *w, struct msg *m)
{
	struct worker_stream *s = worker_stream_any(w, m->revoke.key);

	if (s && s->key.gen <= m->revoke.key.gen)
		worker_stream_drop(w, s);
	worker_tell(w, MSG_REVOKED)->revoked.key = m->revoke.key;
	worker_chunk_budget(w);
}

static void
worker_refused(struct worker *w, struct msg *m)
{
	err_set(&w->err, status_from_code(m->refused.code), "the dispatcher refused: %s",
		m->refused.text ? m->refused.text : "no reason given");
	if (m->refused.help)
		err_help(&w->err, "%s", m->refused.help);
	worker_over(w, WORKER_LOST);
}

/* Whether the message is an order of a dispatcher that has not said who it is since contact was lost. If it was
 * started again without its state, all streams end with its WELCOME, and what it ordered before would end with them
 * in silence. Orders are repeated until they are answered. */
static bool
worker_too_early(const struct worker *w, const struct msg *m)
{
	return !w->contact.connected && m->type != MSG_WELCOME && m->type != MSG_REFUSED && m->type != MSG_WHO &&
		m->type != MSG_BYE && m->type != MSG_BYE_OK;
}

void
worker_message(struct worker *w, int64_t now_ns, struct msg *m)
{
	w->now = now_ns;
	contact_heard(&w->contact, now_ns);
	if (worker_too_early(w, m)) {
		worker_contact(w);
		return;
	}
	switch (m->type) {
	case MSG_WELCOME: worker_welcome(w, m); break;
	case MSG_REFUSED: worker_refused(w, m); break;
	case MSG_WHO: contact_who(&w->contact, now_ns); break;
	case MSG_LIST: worker_list(w, m); break;
	case MSG_ASSIGN: worker_stream_assign(w, m); break;
	case MSG_REVOKE: worker_revoke(w, m); break;
	case MSG_SPLIT: worker_stream_splits(w, m); break;
	case MSG_END_OK: worker_stream_end_ok(w, m->end_ok.key); break;
	case MSG_YIELD: worker_stream_yield(w, m->yield.key); break;
	case MSG_STEP_OK: worker_step_ok(w, m); break;
	case MSG_READER_GONE: worker_chunk_reader_gone(w, m); break;
	case MSG_TAKES_OK: worker_takes_ok(w, m->req); break;
	case MSG_MISSED_OK: worker_window_answer(w, &m->missed); break;
	case MSG_VIEW: worker_late_view(w, &m->view_add); break;
	case MSG_TAP: worker_tap(w, m); break;
	case MSG_BYE_OK:
		if (w->draining)
			worker_over(w, WORKER_LEAVE);
		break;
	case MSG_BYE:
		if (m->bye.drain) {
			worker_do(w, WORKER_DRAIN);
			break;
		}
		/* Nobody is left who could say that its streams are delivered. */
		worker_tell(w, MSG_BYE);
		worker_over(w, WORKER_LEAVE);
		break;
	default: break;
	}
	worker_contact(w);
}

void
worker_listed(struct worker *w, int64_t now_ns, uint64_t req, struct msg_units *u)
{
	struct split_list all = u->units;
	uint32_t part = 0;

	w->now = now_ns;
	for (size_t i = 0; i < w->n_lists; i++)
		if (w->lists[i] == req) {
			w->lists[i] = w->lists[--w->n_lists];
			break;
		}
	w->n_listings++;
	size_t at = 0;
	do {
		size_t n = split_list_part(&all, at, w->o.units_part, WIRE_UNITS_BYTES);
		struct msg *m = worker_tell(w, MSG_UNITS);

		m->req = req;
		m->units = (struct msg_units){ .listing = w->n_listings, .part = part++,
			.last = at + n == all.n, .code = u->code, .text = u->text, .help = u->help,
			.times = u->times, .period = u->period, .files = u->files, .by_one = u->by_one,
			.facts = u->facts, .units = { n ? mem_dup(all.v + at, n * sizeof *all.v) : NULL, n, n } };
		m->units.facts.global = mem_strdup(u->facts.global ? u->facts.global : "");
		u->text = u->help = NULL; /* a failure has no units, and so one part */
		at += n;
	} while (at < all.n);
	mem_free(all.v); /* the paths went with the parts */
	mem_free(u->facts.global);
	*u = (struct msg_units){ 0 };
}

/* A worker that is to leave, with nothing to hand over and nobody to tell, goes:
 * whoever ends a whole service at once ends the dispatcher too. */
static void
worker_leave_alone(struct worker *w)
{
	if (w->draining && !w->contact.connected && !w->streams.n && !w->over)
		worker_over(w, WORKER_LEAVE);
}

void
worker_dispatcher_reached(struct worker *w, int64_t now_ns)
{
	w->now = now_ns;
	contact_reached(&w->contact, now_ns);
	worker_contact(w);
}

void
worker_dispatcher_gone(struct worker *w, int64_t now_ns)
{
	w->now = now_ns;
	contact_gone(&w->contact, now_ns);
	worker_contact(w);
	worker_leave_alone(w);
}

void
worker_tick(struct worker *w, int64_t now_ns)
{
	w->now = now_ns;
	worker_contact(w);
	worker_turns(w);
	worker_takes_again(w);
	if (now_ns < w->again_due)
		return;
	w->again_due = now_ns + CONTACT_AGAIN_NS;
	if (!w->contact.connected)
		return;
	for (size_t i = 0; i < w->streams.n; i++)
		worker_stream_again(w, worker_at(w, i), false);
	if (w->draining)
		worker_tell(w, MSG_BYE)->bye.drain = true;
}

int64_t
worker_next_deadline(const struct worker *w)
{
	int64_t at = contact_deadline(&w->contact), turn = worker_turn_deadline(w), takes = worker_takes_deadline(w);

	if (w->over)
		return INT64_MAX;
	if (turn < at)
		at = turn;
	if (takes < at)
		at = takes;
	return at < w->again_due ? at : w->again_due;
}

void
worker_drain(struct worker *w, int64_t now_ns)
{
	w->now = now_ns;
	if (w->draining)
		return;
	w->draining = true;
	if (!w->contact.welcomed) {
		worker_over(w, WORKER_LEAVE);
		return;
	}
	worker_tell(w, MSG_BYE)->bye.drain = true;
	for (size_t i = 0; i < w->streams.n; i++)
		worker_stream_hand(w, worker_at(w, i));
	worker_leave_alone(w);
}

void
worker_shares(struct worker *w, size_t arena, size_t leased)
{
	w->arena = arena;
	w->leased = leased;
}

size_t
worker_kept_bytes(const struct worker *w)
{
	return w->bytes + w->late_bytes;
}

size_t
worker_streams(const struct worker *w)
{
	return w->streams.n;
}

bool
worker_connected(const struct worker *w)
{
	return w->contact.connected;
}
