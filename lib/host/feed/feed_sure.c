/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_sure.h"

#include "base/mem.h"

#define SURE_LOOK_NS 100000000ll /* nobody wakes us when a core reads */

bool
feed_sure_waits(const struct feed_host *h, uint64_t step)
{
	for (uint32_t i = 0; h->c->machine.blind && i < h->c->machine.cores; i++)
		if (h->seat[i].sure < step)
			return true;
	return false;
}

bool
feed_sure_read(struct feed_host *h, uint64_t step)
{
	for (uint32_t i = 0; h->c->machine.blind && i < h->c->machine.cores; i++) {
		feed_pipe_look(h, i);
		if (h->seat[i].sent.read < step && h->seat[i].sure < step)
			return false;
	}
	return true;
}

void
feed_sure_push(struct feed_host *h, const struct feed_place *place, enum feed_keep when)
{
	if (h->first_waiting && h->first_waiting >= h->n_waiting) {
		for (size_t i = 0; i < h->n_waiting; i++)
			h->waiting[i] = h->waiting[h->first_waiting + i];
		h->first_waiting = 0;
	}
	h->waiting = mem_grow(h->waiting, &h->cap_waiting, h->first_waiting + h->n_waiting + 1, sizeof *h->waiting);
	struct feed_waiting *w = &h->waiting[h->first_waiting + h->n_waiting++];
	*w = (struct feed_waiting){ .place = *place, .when = when };
	w->place.base = feed_base_ref(place->base);
}

enum status
feed_sure_run(struct feed_host *h, bool all, struct err *e)
{
	enum status st = ST_OK;

	for (uint32_t i = 0; h->n_waiting && i < h->c->machine.cores; i++)
		feed_pipe_look(h, i);
	while (st == ST_OK && h->n_waiting && (all || !feed_sure_waits(h, h->waiting[h->first_waiting].place.step))) {
		struct feed_waiting w = h->waiting[h->first_waiting++];

		h->n_waiting--;
		st = feed_host_keep(h, &w.place, w.when, e);
		feed_base_unref(&w.place.base);
	}
	h->sure_looked = h->now;
	return st;
}

int64_t
feed_sure_deadline(const struct feed_host *h)
{
	return h->n_waiting ? h->sure_looked + SURE_LOOK_NS : INT64_MAX;
}

void
feed_sure_clear(struct feed_host *h)
{
	for (size_t i = 0; i < h->n_waiting; i++)
		feed_base_unref(&h->waiting[h->first_waiting + i].place.base);
	mem_free(h->waiting);
}
