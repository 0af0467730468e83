/* SPDX-License-Identifier: MIT
 *
 * The loops of resize.c: bytes multiplied by weights and added up, sixteen or thirty-two at a time.
 */
#ifndef IMAGE_RESIZE_MIX_H
#define IMAGE_RESIZE_MIX_H

#include <stddef.h>
#include <stdint.h>

enum { RESIZE_BITS = 22 }; /* weights are times 2^22 */

/* One row (or column) of the result: n rows from `first` on, and their weights. A weight is
 * 256 * high + low: what processors multiply fastest has 16 bits. */
struct resize_mix {
	size_t first, n;
	const int16_t *high, *low; /* n each, and a 0 behind an odd number of them */
};

/* to[i] = the sum of weights[k] * from[k * stride + i], rounded and kept within a byte; i < n. */
void resize_mix(const struct resize_mix *m, const uint8_t *from, size_t stride, uint8_t *to, size_t n);
/* Rows whose columns are to be mixed. */
struct resize_rows {
	const uint8_t *from;
	size_t h, w, channels;
	uint8_t *to;
	uint8_t *turned; /* room for RESIZE_TURNED * (w + n) * channels bytes */
};
enum { RESIZE_TURNED = 32 };
/* Makes n columns of those in each row. */
void resize_columns(const struct resize_mix *m, size_t n, const struct resize_rows *r);

#endif
