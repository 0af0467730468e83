/* SPDX-License-Identifier: MIT
 *
 * Files that streams write: the dispatcher is told of them from time to time, at the end, and at
 * once when a stream stands still since a disk is full. It is for people: if one is lost, the
 * next one tells all of it.
 */
#include "base/mem.h"
#include "core/work/worker_inner.h"

#define STORES_TELL_NS 200000000ll

static void
stores_tell(struct worker *w, struct worker_stream *s, const struct err *waits)
{
	struct msg *m = worker_tell(w, MSG_STORES);

	m->stores = (struct msg_stores){ s->key, s->files, waits ? mem_strdup(waits->text) : NULL };
	s->files_at = w->now;
	s->files_more = false;
	s->waits = waits != NULL;
}

void
worker_stores(struct worker *w, int64_t now_ns, struct stream_key key, const struct msg_stored *sum,
	      const struct err *waits)
{
	struct worker_stream *s = worker_stream_find(w, key);

	w->now = now_ns;
	if (!s)
		return;
	s->files = *sum;
	s->files_more = true;
	if (w->contact.connected && (s->waits || waits || !s->files_at || now_ns - s->files_at >= STORES_TELL_NS))
		stores_tell(w, s, waits);
}

void
worker_stores_rest(struct worker *w, struct worker_stream *s)
{
	if (s->files_more && w->contact.connected)
		stores_tell(w, s, NULL);
}
