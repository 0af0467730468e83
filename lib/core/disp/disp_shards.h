/* SPDX-License-Identifier: MIT
 *
 * What each shard of a pass has given, kept when the streams are gone. Nobody outside the
 * dispatcher includes this.
 */
#ifndef DISP_DISP_SHARDS_H
#define DISP_DISP_SHARDS_H

#include <stddef.h>
#include <stdint.h>

struct iteration;
struct stream;

enum { SHARD_SUMS = 1000 }; /* shards of a pass; of one with more, none is kept */
struct shard_sum {
	uint64_t acked;           /* elements; of groups, those of all */
	uint64_t files;           /* it was given; 0: not known, or none of its own */
};
struct shard_sums { struct shard_sum *v; size_t n, cap; };

/* How many files the stream is given in all; 0: not known, or it is given none of its own. */
uint64_t shard_files(const struct stream *s);
/* The pass is over, and its streams are about to go. */
void shards_keep(struct iteration *it);

#endif
