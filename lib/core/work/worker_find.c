/* SPDX-License-Identifier: MIT
 *
 * Streams of a worker by the names that messages give them.
 */
#include "core/work/worker_inner.h"

struct worker_stream *
worker_stream_any(struct worker *w, struct stream_key key)
{
	struct worker_stream_name name = { key.iteration, key.stream };

	return hash_get(&w->streams, &name, sizeof name);
}

struct worker_stream *
worker_stream_find(struct worker *w, struct stream_key key)
{
	struct worker_stream *s = worker_stream_any(w, key);

	return s && s->key.gen == key.gen ? s : NULL;
}
