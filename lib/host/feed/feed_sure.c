/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_sure.h"

#include <string.h>

#include "base/mem.h"

#define SURE_LOOK_NS 100000000ll /* nobody wakes us when a core reads */

bool
feed_sure_waits(const struct feed_host *h, uint64_t step)
{
	for (uint32_t i = 0; h->c->machine.blind && i < h->c->machine.cores; i++)
		if (h->seat[i].sent.sure < step)
			return true;
	return false;
}

bool
feed_sure_read(struct feed_host *h, uint64_t step)
{
	for (uint32_t i = 0; h->c->machine.blind && i < h->c->machine.cores; i++) {
		feed_pipe_look(h, i);
		if (h->seat[i].sent.read < step && h->seat[i].sent.sure < step)
			return false;
	}
	return true;
}

void
feed_sure_push(struct feed_host *h, const struct feed_place *place, enum feed_keep when)
{
	h->waiting = mem_grow(h->waiting, &h->cap_waiting, h->n_waiting + 1, sizeof *h->waiting);
	struct feed_waiting *w = &h->waiting[h->n_waiting++];
	*w = (struct feed_waiting){ .place = *place, .when = when };
	w->place.base = feed_base_ref(place->base);
}

enum status
feed_sure_run(struct feed_host *h, bool all, struct err *e)
{
	enum status st = ST_OK;
	size_t n = 0;

	for (uint32_t i = 0; h->n_waiting && i < h->c->machine.cores; i++)
		feed_pipe_look(h, i);
	for (; st == ST_OK && n < h->n_waiting && (all || !feed_sure_waits(h, h->waiting[n].place.step)); n++) {
		st = feed_host_keep(h, &h->waiting[n].place, h->waiting[n].when, e);
		feed_base_unref(&h->waiting[n].place.base);
	}
	if (n) {
		h->n_waiting -= n;
		memmove(h->waiting, h->waiting + n, h->n_waiting * sizeof *h->waiting);
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
		feed_base_unref(&h->waiting[i].place.base);
	mem_free(h->waiting);
}
