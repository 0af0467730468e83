/* SPDX-License-Identifier: MIT */
#include "op/kit/slab.h"

#include <string.h>

#include "base/mem.h"

void
slab_clear(struct slab *s)
{
	while (s->chunks) {
		void *next;

		memcpy(&next, s->chunks, sizeof next);
		mem_free(s->chunks);
		s->chunks = next;
	}
	*s = (struct slab){ 0 };
}

/* The class of sizes that n bytes fall into, and the size of its cells. */
static unsigned
slab_class(size_t n, size_t *size)
{
	if (n <= SLAB_FINE) {
		unsigned k = n ? (unsigned)((n - 1) / SLAB_STEP) : 0;

		*size = (k + 1) * (size_t)SLAB_STEP;
		return k;
	}
	/* From SLAB_FINE on each octave is cut into eight: 513..1024 is octave 0. */
	unsigned octave = 63 - (unsigned)__builtin_clzll(n - 1) - 9;
	size_t base = (size_t)SLAB_FINE << octave, step = base / 8;
	unsigned k = (unsigned)((n - 1 - base) / step);

	*size = base + (k + 1) * step;
	return SLAB_FINE / SLAB_STEP + octave * 8 + k;
}

void *
slab_take(struct slab *s, size_t n)
{
	size_t size;

	if (n > SLAB_MAX)
		return mem_alloc(n);
	unsigned k = slab_class(n, &size);
	void *p = s->free[k];
	if (p) {
		memcpy(&s->free[k], p, sizeof p);
		return p;
	}
	if (s->left < size) {
		void *chunk = mem_alloc(SLAB_CHUNK);

		memcpy(chunk, &s->chunks, sizeof s->chunks);
		s->chunks = chunk;
		s->at = (uint8_t *)chunk + SLAB_STEP;
		s->left = SLAB_CHUNK - SLAB_STEP;
	}
	p = s->at;
	s->at += size;
	s->left -= size;
	return p;
}

void
slab_give(struct slab *s, void *p, size_t n)
{
	size_t size;

	if (n > SLAB_MAX) {
		mem_free(p);
		return;
	}
	unsigned k = slab_class(n, &size);
	memcpy(p, &s->free[k], sizeof p);
	s->free[k] = p;
}
