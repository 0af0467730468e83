/* SPDX-License-Identifier: MIT
 *
 * Memory for many small values that come and go: cells of a few sizes, cut from
 * large chunks and used again. No allocation per value and at most an eighth
 * more than it needs. Values above SLAB_MAX get memory of their own.
 */
#ifndef KIT_SLAB_H
#define KIT_SLAB_H

#include <stddef.h>
#include <stdint.h>

enum {
	/* up to SLAB_FINE, cells have every multiple of SLAB_STEP */
	SLAB_STEP = 16, SLAB_FINE = 512,
	SLAB_MAX = 32 * 1024,            /* beyond, eight sizes for each doubling */
	SLAB_CLASSES = SLAB_FINE / SLAB_STEP + 8 * 6,
	SLAB_CHUNK = 256 * 1024
};

struct slab {
	void *free[SLAB_CLASSES];
	uint8_t *at;       /* free room in the newest chunk */
	size_t left;
	void *chunks;
};

/* Zero is an empty slab. slab_clear frees everything except values above SLAB_MAX, which must
 * be given back one by one. */
void slab_clear(struct slab *s);
void *slab_take(struct slab *s, size_t n);
void slab_give(struct slab *s, void *p, size_t n); /* n: as passed to slab_take */

#endif
