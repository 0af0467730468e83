/* SPDX-License-Identifier: MIT
 *
 * Pixels put into another order. A pixel is `each` bytes, which stay together.
 */
#ifndef IMAGE_PIXELS_H
#define IMAGE_PIXELS_H

#include <stddef.h>
#include <stdint.h>

/* Turns h rows of w pixels as an EXIF orientation (1 to 8) says: what is stored becomes
 * upright. From 5 on the result has w rows of h pixels. */
void pixels_turn(const uint8_t *from, size_t h, size_t w, size_t each, unsigned turn, uint8_t *to);

#endif
