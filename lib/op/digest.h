/* SPDX-License-Identifier: MIT
 *
 * Quantiles of many numbers in little memory: exact while there are few, then a
 * merging t-digest, whose error is least at the ends. The same numbers in the
 * same order give the same answer.
 *
 *	centroids   sorted means, each with how many numbers it stands for
 *	fresh       numbers that have not been merged into them yet
 */
#ifndef OP_DIGEST_H
#define OP_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "op/state.h"

enum { DIGEST_FRESH = 4096, DIGEST_SHARPNESS = 500, DIGEST_CENTROIDS = 8192 };

struct centroid {
	double mean;
	double weight;
};

/* Zero is a valid empty digest. */
struct digest {
	struct centroid *v; /* centroids, then what is fresh */
	size_t n, n_fresh;
	double total;       /* numbers in all */
	double least, greatest;
};

void digest_clear(struct digest *d);
void digest_add(struct digest *d, double x); /* not nan */
/* The q-th quantile, q in [0, 1]; 0 when empty. */
double digest_quantile(struct digest *d, double q);
void digest_save(const struct digest *d, struct buf *out);
void digest_restore(struct digest *d, struct state_in *in);

#endif
