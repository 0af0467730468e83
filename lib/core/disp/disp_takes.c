/* SPDX-License-Identifier: MIT
 *
 * The streams of which a reader has had chunks, as their workers tell. When it is gone
 * only these are told so: a job may have a hundred thousand others.
 *
 * Nothing of it is durable, and no worker waits for it before it sends a chunk. A worker
 * that tells of a reader who is not there any more gets READER_GONE for an answer, and
 * after a restart of the dispatcher each worker tells all of its readers again.
 */
#include <string.h>

#include "base/mem.h"
#include "core/disp/disp_takes.h"

static void
takes_add(struct seat *r, uint32_t stream)
{
	size_t at = stream / 64, n = r->iter->n_streams / 64 + 1;

	if (at >= r->n_took) {
		uint64_t *took = mem_array(n, sizeof *took);

		if (r->n_took)
			memcpy(took, r->took, r->n_took * sizeof *took);
		mem_free(r->took);
		r->took = took;
		r->n_took = n;
	}
	r->took[at] |= 1ull << stream % 64;
}

static bool
takes_has(const struct seat *r, uint32_t stream)
{
	return stream / 64 < r->n_took && r->took[stream / 64] >> stream % 64 & 1;
}

void
takes_clear(struct seat *r)
{
	mem_free(r->took);
	r->took = NULL;
	r->n_took = 0;
}

void
takes_message(struct disp *d, struct peer *p, struct msg *m)
{
	for (size_t i = 0; i < m->takes.list.n; i++) {
		const struct msg_take *t = &m->takes.list.v[i];
		struct stream *s = stream_find(d, t->key);
		struct seat *r;

		if (!s || s->worker != p || s->gen != t->key.gen || s->finished || t->view >= s->iter->n_views)
			continue;
		r = seat_find(d, t->key.iteration, t->seat);
		if (r)
			takes_add(r, s->index);
		else if (s->n_gone < WIRE_READERS_MAX)
			stream_tell_gone(d, s, t->seat, t->view);
	}
	disp_send(d, p, MSG_TAKES_OK, m->req);
}

/* A group that has ended is told to all: they keep chunks for it. So is a reader whose key was
 * struck out: it lives, and may not be given a first chunk meanwhile. Streams that are between
 * two workers may have waited for the reader, whether it had anything or not. */
void
takes_seat_gone(struct disp *d, struct seat *r)
{
	struct iteration *it = r->iter;
	bool all = !group_live(it, r->view) || r->struck;

	for (uint32_t i = 0; i < it->n_streams; i++) { /* it may be over meanwhile */
		struct stream *s = it->streams[i];
		bool took = all || takes_has(r, i);

		if (job_shards_has(&r->only, i) && (took || s->n_held || s->n_owing || s->place != STREAM_ASSIGNED))
			stream_seat_gone(d, s, r, took);
	}
}
