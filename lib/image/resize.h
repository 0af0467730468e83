/* SPDX-License-Identifier: MIT
 *
 * Images in other sizes. Rows and columns are mixed one after the other, with weights that
 * depend on the distance from a pixel's centre; the rules, and so the results, are those of
 * Pillow: when an image becomes smaller the weights reach over all pixels that become one
 * (antialias), or, without that, over the nearest ones only.
 */
#ifndef IMAGE_RESIZE_H
#define IMAGE_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum resize_method { RESIZE_NEAREST, RESIZE_BILINEAR, RESIZE_BICUBIC, RESIZE_AREA, RESIZE_METHODS };

struct resize {
	const uint8_t *from;
	uint8_t *to;
	size_t h, w, to_h, to_w; /* at least 1 each, at most 2^20 */
	size_t channels;
	enum resize_method method;
	bool antialias;
};

/* The method whose name this is; RESIZE_METHODS: none. */
enum resize_method resize_find(const char *name, size_t n);
/* Multiplications that it takes: what the time is measured in. */
uint64_t resize_cost(const struct resize *r);
/* Bytes that lie between the two passes. */
uint64_t resize_between(const struct resize *r);
/* Bytes of u8. work: memory for what lies between, which the caller keeps. */
void resize_u8(const struct resize *r, struct buf *work, struct buf *weights);
/* Numbers of another kind, each so many bytes: load makes n of them doubles, store the other way round. */
struct resize_kind {
	size_t each;
	void (*load)(const void *arg, const uint8_t *from, size_t n, double *to);
	void (*store)(const void *arg, const double *from, size_t n, uint8_t *to);
	const void *arg;
};
/* work: takes eight times resize_between, and some rows. */
void resize_numbers(const struct resize *r, const struct resize_kind *kind, struct buf *work, struct buf *weights);
/* Numbers of any kind, each bytes long, chosen and not mixed: RESIZE_NEAREST. */
void resize_nearest(const struct resize *r, size_t each);

#endif
