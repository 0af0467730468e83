/* SPDX-License-Identifier: MIT */
#include "image/pixels.h"

#include <stdbool.h>
#include <string.h>

/* Copies n pixels that lie `step` bytes apart. */
static void
pixels_gather(const uint8_t *from, ptrdiff_t step, size_t n, size_t each, uint8_t *to)
{
	switch (each) {
	case 1:
		for (; n; n--, from += step)
			*to++ = *from;
		return;
	case 3:
		for (; n; n--, from += step, to += 3) {
			to[0] = from[0];
			to[1] = from[1];
			to[2] = from[2];
		}
		return;
	case 4:
		for (; n; n--, from += step, to += 4)
			memcpy(to, from, 4);
		return;
	default:
		for (; n; n--, from += step, to += each)
			memcpy(to, from, each);
	}
}

void
pixels_turn(const uint8_t *from, size_t h, size_t w, size_t each, unsigned turn, uint8_t *to)
{
	bool lies = turn >= 5;
	bool back_x = turn == 2 || turn == 3 || turn == 7 || turn == 8;
	bool back_y = turn == 3 || turn == 4 || turn == 6 || turn == 7;
	ptrdiff_t dx = (ptrdiff_t)each, dy = (ptrdiff_t)(w * each);

	if (!h || !w || !each)
		return;
	if (back_x) {
		from += (w - 1) * each;
		dx = -dx;
	}
	if (back_y) {
		from += (h - 1) * w * each;
		dy = -dy;
	}
	size_t rows = lies ? w : h, n = lies ? h : w;
	ptrdiff_t row = lies ? dx : dy, step = lies ? dy : dx;
	for (size_t i = 0; i < rows; i++, to += n * each) {
		const uint8_t *at = from + (ptrdiff_t)i * row;

		if (step == (ptrdiff_t)each)
			memcpy(to, at, n * each);
		else
			pixels_gather(at, step, n, each, to);
	}
}
