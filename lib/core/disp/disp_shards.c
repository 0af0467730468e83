/* SPDX-License-Identifier: MIT
 *
 * What each shard of a pass has given. Streams go when their pass is over; those of a pass with
 * shards are the same however it is made, so an audit tells of each of them.
 */
#include "core/disp/disp_shards.h"

#include "base/mem.h"
#include "core/disp/disp_inner.h"

uint64_t
shard_files(const struct stream *s)
{
	const struct iteration *it = s->iter;
	const struct split_list *u = &it->cut.units;

	if (it->sharding != SHARD_FILE || !u->n || u->v[0].leaf != u->v[u->n - 1].leaf || it->times == CUT_ENDLESS)
		return 0;
	uint64_t each = u->n / it->n_streams + (u->n % it->n_streams > s->index);
	return each > UINT64_MAX / it->times ? 0 : each * it->times;
}

void
shards_keep(struct iteration *it)
{
	struct shard_sums *k = &it->shards;

	if (!job_has_shards(it->sharding) || !it->n_streams || it->n_streams > SHARD_SUMS || k->n)
		return;
	k->v = mem_array(it->n_streams, sizeof *k->v);
	k->cap = it->n_streams;
	for (; k->n < it->n_streams; k->n++) {
		const struct stream *s = it->streams[k->n];

		k->v[k->n] = (struct shard_sum){ s->finished ? s->length : views_count(s), shard_files(s) };
	}
}
