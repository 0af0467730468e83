/* SPDX-License-Identifier: MIT
 *
 * Which pixels make a pixel, and with which weights: for the loops on bytes (resize.c) and on
 * numbers of other kinds (resize_numbers.c).
 */
#ifndef IMAGE_RESIZE_INNER_H
#define IMAGE_RESIZE_INNER_H

#include "image/resize.h"

/* How the pixels of one axis are mixed. */
struct resize_axis {
	enum resize_method method;
	size_t from, to;
	double scale, widen, reach;
};

struct resize_axis resize_axis(const struct resize *r, size_t from, size_t to);
/* The pixels [*first, *first + n) that make the i-th, and their weights, which add up to 1; gives
 * n, which is at most resize_most. */
size_t resize_weigh(const struct resize_axis *a, size_t i, size_t *first, double *w);
size_t resize_most(const struct resize_axis *a);

#endif
