/* SPDX-License-Identifier: MIT */
#include "core/work/worker.h"

#include <string.h>

#include "base/mem.h"
#include "core/work/work_inner.h"

struct work_action *
work_do(struct work *w, enum work_action_kind kind)
{
	if (w->first_action == w->n_actions)
		w->first_action = w->n_actions = 0;
	if (w->n_actions == w->cap_actions)
		w->actions = mem_grow(w->actions, &w->cap_actions, w->n_actions + 1, sizeof *w->actions);
	struct work_action *a = &w->actions[w->n_actions++];
	*a = (struct work_action){ .kind = kind };
	return a;
}

struct msg *
work_tell(struct work *w, enum msg_type t)
{
	struct work_action *a = work_do(w, WORK_TELL);

	a->msg.type = t;
	return &a->msg;
}

bool
work_action(struct work *w, struct work_action *out)
{
	if (w->first_action == w->n_actions)
		return false;
	*out = w->actions[w->first_action++];
	return true;
}

static struct work_stream *
work_at(const struct work *w, size_t i)
{
	return w->streams.items[i].value;
}

static void
work_hello(struct work *w)
{
	const struct work_opts *o = &w->o;
	struct msg *m = work_tell(w, MSG_HELLO);

	m->hello = (struct msg_hello){ .version = WIRE_VERSION, .role = ROLE_WORKER, .peer = o->peer,
		.name = mem_strdup(o->name), .host = mem_strdup(o->host), .pid = o->pid,
		.endpoint = mem_strdup(o->endpoint), .slots = o->slots, .instance = w->contact.instance };
	for (size_t i = 0; o->tags && i < o->tags->n; i++)
		words_add(&m->hello.tags, o->tags->v[i], strlen(o->tags->v[i]));
	m->hello.streams.n = w->streams.n;
	m->hello.streams.v = mem_array(w->streams.n, sizeof *m->hello.streams.v);
	for (size_t i = 0; i < w->streams.n; i++)
		m->hello.streams.v[i].key = work_at(w, i)->key;
}

static void
work_over(struct work *w, enum work_action_kind kind)
{
	if (w->over)
		return;
	w->over = true;
	work_do(w, kind)->err = &w->err;
}

static void
work_contact(struct work *w)
{
	struct msg *m;

	while (!w->over)
		switch (contact_tick(&w->contact, w->now, &w->err)) {
		case CONTACT_NONE: return;
		case CONTACT_HELLO: work_hello(w); break;
		case CONTACT_BEAT:
			m = work_tell(w, MSG_BEAT);
			m->beat.kept_bytes = w->bytes;
			m->beat.streams = w->streams.n;
			break;
		case CONTACT_LOST: work_over(w, WORK_LOST); return;
		}
}

struct work *
work_new(const struct work_opts *o, int64_t now_ns)
{
	struct work *w = mem_zalloc(sizeof *w);

	w->o = *o;
	if (!w->o.memory)
		w->o.memory = WORK_MEMORY;
	if (!w->o.splits_ahead)
		w->o.splits_ahead = 1;
	if (!w->o.units_part)
		w->o.units_part = WIRE_UNITS_PART;
	w->now = now_ns;
	w->again_due = now_ns + CONTACT_AGAIN_NS;
	contact_init(&w->contact, now_ns, o->give_up_ns, o->where);
	work_contact(w);
	return w;
}

void
work_stop(struct work *w)
{
	w->over = true;
	while (w->streams.n)
		work_stream_drop(w, work_at(w, w->streams.n - 1));
}

void
work_free(struct work **wp)
{
	struct work *w = *wp;
	struct work_action a;

	if (!w)
		return;
	work_stop(w);
	while (work_action(w, &a))
		msg_clear(&a.msg);
	hash_clear(&w->streams);
	mem_free(w->on);
	mem_free(w->actions);
	mem_free(w->lists);
	mem_free(w);
	*wp = NULL;
}

/* Messages of the dispatcher */

static void
work_welcome(struct work *w, struct msg *m)
{
	enum contact_welcome is = contact_welcome(&w->contact, w->now, &m->welcome);

	if (!w->shown) {
		w->shown = true;
		work_do(w, WORK_WELCOME);
	}
	/* Another state: nobody there knows of what we have. */
	while (is == CONTACT_OTHER && w->streams.n)
		work_stream_drop(w, work_at(w, w->streams.n - 1));
	for (size_t i = 0; i < w->streams.n; i++)
		work_stream_again(w, work_at(w, i), true);
	if (w->draining)
		work_tell(w, MSG_BYE)->bye.drain = true;
}

static void
work_list(struct work *w, struct msg *m)
{
	struct work_action *a;

	for (size_t i = 0; i < w->n_lists; i++)
		if (w->lists[i] == m->req)
			return; /* under way */
	if (w->n_lists == w->cap_lists)
		w->lists = mem_grow(w->lists, &w->cap_lists, w->n_lists + 1, sizeof *w->lists);
	w->lists[w->n_lists++] = m->req;
	a = work_do(w, WORK_LIST);
	a->msg = *m;
	*m = (struct msg){ 0 };
}

static void
work_revoke(struct work *w, struct msg *m)
{
	struct work_stream *s = work_stream_any(w, m->revoke.key);

	if (s && s->key.gen <= m->revoke.key.gen)
		work_stream_drop(w, s);
	work_tell(w, MSG_REVOKED)->revoked.key = m->revoke.key;
	work_chunk_budget(w);
}

static void
work_refused(struct work *w, struct msg *m)
{
	err_set(&w->err, status_from_code(m->refused.code), "the dispatcher refused: %s",
		m->refused.text ? m->refused.text : "no reason given");
	if (m->refused.help)
		err_help(&w->err, "%s", m->refused.help);
	work_over(w, WORK_LOST);
}

void
work_message(struct work *w, int64_t now_ns, struct msg *m)
{
	w->now = now_ns;
	contact_heard(&w->contact, now_ns);
	switch (m->type) {
	case MSG_WELCOME: work_welcome(w, m); break;
	case MSG_REFUSED: work_refused(w, m); break;
	case MSG_WHO: contact_who(&w->contact, now_ns); break;
	case MSG_LIST: work_list(w, m); break;
	case MSG_ASSIGN: work_stream_assign(w, m); break;
	case MSG_REVOKE: work_revoke(w, m); break;
	case MSG_SPLIT: work_stream_splits(w, m); break;
	case MSG_END_OK: work_stream_end_ok(w, m->end_ok.key); break;
	case MSG_READER_GONE: work_chunk_reader_gone(w, m); break;
	case MSG_BYE_OK:
		if (w->draining)
			work_over(w, WORK_LEAVE);
		break;
	case MSG_BYE: /* nobody is left who could say that its streams are delivered */
		work_tell(w, MSG_BYE);
		work_over(w, WORK_LEAVE);
		break;
	default: break;
	}
	work_contact(w);
}

void
work_listed(struct work *w, int64_t now_ns, uint64_t req, struct msg_units *u)
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
		struct msg *m = work_tell(w, MSG_UNITS);

		m->req = req;
		m->units = (struct msg_units){ .listing = w->n_listings, .part = part++,
			.last = at + n == all.n, .code = u->code, .text = u->text, .help = u->help,
			.times = u->times, .units = { n ? mem_dup(all.v + at, n * sizeof *all.v) : NULL, n, n } };
		u->text = u->help = NULL; /* a failure has no units, and so one part */
		at += n;
	} while (at < all.n);
	mem_free(all.v); /* the paths went with the parts */
	*u = (struct msg_units){ 0 };
}

/* A worker that is to leave, with nothing to hand over and nobody to tell, goes:
 * whoever ends a whole service at once ends the dispatcher too. */
static void
work_leave_alone(struct work *w)
{
	if (w->draining && !w->contact.connected && !w->streams.n && !w->over)
		work_over(w, WORK_LEAVE);
}

void
work_dispatcher_gone(struct work *w, int64_t now_ns)
{
	w->now = now_ns;
	contact_gone(&w->contact, now_ns);
	work_contact(w);
	work_leave_alone(w);
}

void
work_tick(struct work *w, int64_t now_ns)
{
	w->now = now_ns;
	work_contact(w);
	work_turns(w);
	if (now_ns < w->again_due)
		return;
	w->again_due = now_ns + CONTACT_AGAIN_NS;
	if (!w->contact.connected)
		return;
	for (size_t i = 0; i < w->streams.n; i++)
		work_stream_again(w, work_at(w, i), false);
	if (w->draining)
		work_tell(w, MSG_BYE)->bye.drain = true;
}

int64_t
work_next_deadline(const struct work *w)
{
	int64_t at = contact_deadline(&w->contact), turn = work_turn_deadline(w);

	if (w->over)
		return INT64_MAX;
	if (turn < at)
		at = turn;
	return at < w->again_due ? at : w->again_due;
}

void
work_drain(struct work *w, int64_t now_ns)
{
	w->now = now_ns;
	if (w->draining)
		return;
	w->draining = true;
	if (!w->contact.welcomed) {
		work_over(w, WORK_LEAVE);
		return;
	}
	work_tell(w, MSG_BYE)->bye.drain = true;
	for (size_t i = 0; i < w->streams.n; i++)
		work_stream_hand(w, work_at(w, i));
	work_leave_alone(w);
}

size_t
work_kept_bytes(const struct work *w)
{
	return w->bytes;
}

size_t
work_streams(const struct work *w)
{
	return w->streams.n;
}
