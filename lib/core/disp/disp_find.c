/* SPDX-License-Identifier: MIT
 *
 * Iterations and streams by the names that messages give them.
 */
#include "core/disp/disp_inner.h"
#include "core/disp/disp_role.h"

struct iteration *
iter_find(const struct disp *d, uint64_t id)
{
	return hash_get(&d->iters, &id, sizeof id);
}

struct stream *
iter_stream(const struct iteration *it, uint32_t index)
{
	return index < it->n_streams ? it->streams[index] : NULL;
}

bool
iter_live(const struct iteration *it)
{
	return it->state == ITER_LISTING || it->state == ITER_RUNNING;
}

struct stream *
stream_find(const struct disp *d, struct stream_key key)
{
	struct iteration *it = iter_find(d, key.iteration);

	return it ? iter_stream(it, key.stream) : NULL;
}

struct secret
stream_secret(const struct disp *d, const struct stream *s)
{
	const uint64_t v[] = { s->iter->id, s->index, s->gen };

	return secret_derive(d->o.secret, v, sizeof v / sizeof *v);
}

struct stream_key
stream_key_of(const struct stream *s)
{
	return (struct stream_key){ s->iter->id, s->index, s->gen };
}
