/* SPDX-License-Identifier: MIT
 *
 * Numbers counted in ranges of equal, round width (1, 2 or 5 times a power of ten), for
 * the format hist. The first RANGES_KEPT numbers are kept; when more come they are counted
 * in fine ranges, which are made coarser while the numbers spread. The edges that are
 * shown in the end are edges of fine ranges, too, so the counts are exact.
 */
#ifndef FORMAT_RANGES_H
#define FORMAT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGES_KEPT = 1 << 16, RANGES_FINE = 1 << 13, RANGES_SHOWN = 20 };

/* unit * 10^power; unit is 1, 2 or 5 */
struct ranges_width {
	int unit, power;
};

/* Zero is empty. */
struct ranges {
	double *kept;        /* NULL once the numbers are counted */
	size_t n, cap;
	bool counted;
	bool fractions;      /* a number is not whole, so ranges may be narrower than 1 */
	struct ranges_width width;
	int64_t first;       /* number of the first fine range: it begins at first * width */
	uint64_t *counts;
	size_t n_counts, cap_counts;
	uint64_t total;
	double least, greatest;
};

void ranges_add(struct ranges *r, double x); /* x is finite */
/* Counts in at most RANGES_SHOWN ranges; fills counts, and gives their number. The k-th begins at
 * (*first + k) * *width. */
size_t ranges_shown(struct ranges *r, struct ranges_width *width, int64_t *first, uint64_t counts[RANGES_SHOWN]);
/* The edge k * width as text. */
void ranges_edge(struct ranges_width w, int64_t k, char *out, size_t size);
void ranges_clear(struct ranges *r);

#endif
