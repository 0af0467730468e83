/* SPDX-License-Identifier: MIT */
#include "core/disp/disp_tap.h"

#include "base/mem.h"
#include "base/str.h"
#include "core/disp/disp_listed.h"

#define TAP_AGAIN_NS 500000000ll /* workers are asked again after this time, if the tool still is there */

struct tap {
	uint64_t iteration;
	uint32_t place;
	int64_t asked;       /* when the workers were; 0: not yet */
	struct buf got;      /* elements that came since the tool asked last, */
	uint32_t n;          /* so many */
	uint64_t left_out;
};

/* The pass that is meant: the one that was told before, else the one under way. NULL: there is none, and
 * an ERROR was sent. */
static struct iteration *
tap_iteration(struct disp *d, const struct peer *p, const struct msg *m)
{
	struct job *j = job_look(d, str_or_empty(m->tap.job));
	struct iteration *it = NULL;
	const char *what = "no job";

	if (j && listed_shown(j, p->all ? NULL : str_or_empty(p->user))) {
		what = "no pass is under way of job";
		it = m->tap.iteration ? iter_find(d, m->tap.iteration) : NULL;
		if (it && it->job != j)
			it = NULL;
		for (size_t i = 0; !m->tap.iteration && i < j->n_iters; i++)
			if (iter_live(j->iters[i]))
				it = j->iters[i];
	}
	if (it)
		return it;
	char *text = mem_printf("%s `%s`", what, str_or_empty(m->tap.job));
	disp_error(d, p, m->req, ST_NOINPUT, text, "");
	mem_free(text);
	return NULL;
}

/* Every worker that has streams of the pass is asked once. */
static void
tap_workers(struct disp *d, const struct peer *tool, const struct iteration *it, const struct msg_tap *ask)
{
	d->tap_turn++;
	for (uint32_t i = 0; i < it->n_streams; i++) {
		struct peer *w = it->streams[i]->worker;

		if (!w || !w->known || w->tap_turn == d->tap_turn || !it->streams[i]->running)
			continue;
		w->tap_turn = d->tap_turn;
		disp_send(d, w, MSG_TAP, 0)->tap = (struct msg_tap){ .iteration = it->id, .place = ask->place,
			.n = ask->n, .tool = tool->id };
	}
}

void
tap_ask(struct disp *d, struct peer *p, const struct msg *m)
{
	struct iteration *it = tap_iteration(d, p, m);
	struct tap *t = p->tap;

	if (!it)
		return;
	if (!t || t->iteration != it->id || t->place != m->tap.place) {
		tap_leave(p);
		t = p->tap = mem_zalloc(sizeof *t);
		t->iteration = it->id;
		t->place = m->tap.place;
	}
	if (iter_live(it) && m->tap.n && (!t->asked || d->now - t->asked >= TAP_AGAIN_NS)) {
		t->asked = d->now;
		tap_workers(d, p, it, &m->tap);
	}
	struct msg *out = disp_send(d, p, MSG_TAPPED, m->req);
	out->tapped = (struct msg_tapped){ .key.iteration = it->id, .place = t->place, .n = t->n,
		.left_out = t->left_out, .over = !iter_live(it), .elements.n = t->got.len };
	out->tapped.elements.p = (uint8_t *)buf_take(&t->got);
	t->n = 0;
	t->left_out = 0;
}

void
tap_got(struct disp *d, const struct peer *worker, const struct msg_tapped *m)
{
	struct peer *p = disp_peer(d, m->tool);
	const struct stream *s = stream_find(d, m->key);
	struct tap *t = p && p->role == ROLE_TOOL ? p->tap : NULL;

	if (!t || !s || s->worker != worker || t->iteration != m->key.iteration || t->place != m->place)
		return;
	t->left_out += m->left_out;
	if (t->got.len + m->elements.n > WIRE_TAP_BYTES)
		return; /* more than enough until it asks again */
	buf_put(&t->got, m->elements.p, m->elements.n);
	t->n += m->n;
}

void
tap_leave(struct peer *p)
{
	if (!p->tap)
		return;
	buf_clear(&p->tap->got);
	mem_free(p->tap);
	p->tap = NULL;
}
