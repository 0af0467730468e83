/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "host/work/worker_host_inner.h"

void
worker_host_exit(struct worker_host *h, struct produce *m)
{
	for (size_t i = 0; i < h->n_makes; i++)
		if (h->makes[i].produce == m)
			h->makes[i] = h->makes[--h->n_makes];
	produce_free(&m);
}

struct worker_host_spends { struct worker *work; uint64_t iteration; };

static void
worker_host_spends(void *arg, const struct msg_op_time *t)
{
	const struct worker_host_spends *s = arg;
	worker_spent(s->work, s->iteration, t);
}

void
worker_host_spent(struct worker_host *h, struct produce *m)
{
	struct worker_host_spends to = { h->work, produce_key(m).iteration };
	uint32_t in;
	uint64_t ns = produce_spent(m, worker_host_spends, &to, &in);
	worker_called(h->work, to.iteration, in, ns);
}

/* Passes on an event of a thread that produces elements. */
static void
worker_host_event(struct worker_host *h, struct produce_event *ev, int64_t now)
{
	struct worker *w = h->work;
	struct chunk *c = ev->chunk;
	if (ev->reached)
		worker_reached(w, ev->key);
	switch (ev->kind) {
	case PRODUCE_CHUNK:
		ev->chunk = NULL;
		produce_taken(ev->produce, c->len);
		worker_produced(w, now, ev->key, ev->view, c, c->offset, c->count, c->len, ev->split);
		break;
	case PRODUCE_REST:
		ev->chunk = NULL;
		worker_rest(w, now, ev->key, c, c->len, ev->can);
		break;
	case PRODUCE_SPLIT:
		if (ev->ended.known)
			worker_source_ended(w, ev->key, ev->ended.leaf, ev->ended.length);
		worker_split_taken(w, now, ev->key, ev->number, ev->made);
		break;
	case PRODUCE_STORES:
		worker_stores(w, now, ev->key, &(struct msg_stored){ ev->number, ev->split, ev->made }, ev->err);
		break;
	case PRODUCE_FAULTS:
		worker_faults(w, now, ev->key, ev->number, &ev->faults);
		break;
	case PRODUCE_RESTART:
		worker_restart(w, now, ev->key, ev->number, ev->split, ev->state.data,
			       ev->state.len);
		break;
	case PRODUCE_HANDED:
		worker_host_spent(h, ev->produce);
		worker_handed(w, now, ev->key, ev->can, ev->number, ev->split, ev->state.data,
			      ev->state.len, ev->made);
		break;
	case PRODUCE_ENDED:
		worker_host_spent(h, ev->produce);
		worker_ended(w, now, ev->key, ev->number, ev->made);
		break;
	case PRODUCE_FAILED:
		worker_host_spent(h, ev->produce);
		worker_failed(w, now, ev->key, ev->err, ev->number, ev->split, ev->made);
		break;
	case PRODUCE_LISTED:
		h->listing--;
		worker_listed(w, now, ev->req, ev->units);
		break;
	case PRODUCE_TAPPED:
		ev->tapped.key = ev->key;
		worker_tapped(w, now, &ev->tapped);
		break;
	case PRODUCE_STEP:
		worker_step(w, now, ev->key, ev->number, ev->can);
		break;
	case PRODUCE_RESTED:
		worker_rested(w, now, ev->key);
		break;
	case PRODUCE_EXIT:
		worker_host_exit(h, ev->produce);
		break;
	}
	produce_event_clear(ev);
}

void
worker_host_events(void *arg, int fd, int events)
{
	struct worker_host *h = arg;
	(void)fd, (void)events;
	size_t n = produce_queue_take(&h->queue, &h->events, &h->cap_events);
	int64_t now = clock_mono_ns();
	for (size_t i = 0; i < n; i++)
		worker_host_event(h, &h->events[i], now);
}
