/* SPDX-License-Identifier: MIT
 *
 * What the files of one kind each (image_jpeg.c, image_png.c, image_webp.c) offer to
 * image.c, and small things they share.
 */
#ifndef IMAGE_IMAGE_INNER_H
#define IMAGE_IMAGE_INNER_H

#include <string.h>

#include "image/image.h"

/* A part of a file to be decoded. */
struct image_job {
	const uint8_t *p;
	size_t n;
	const struct image_head *head;
	struct image_box box;  /* stored rows and columns, within the image */
	unsigned channels;     /* wanted: 1, 3 or 4 */
	uint8_t *out;
	struct err *e;
};

enum status image_jpeg_decode(const struct image_job *job);
enum status image_png_decode(const struct image_job *job);
enum status image_webp_decode(const struct image_job *job);

enum status image_jpeg_encode(const struct image_pixels *im, unsigned quality, struct buf *to,
			      struct err *e);
enum status image_png_encode(const struct image_pixels *im, unsigned quality, struct buf *to,
			     struct err *e);
enum status image_webp_encode(const struct image_pixels *im, unsigned quality, struct buf *to,
			      struct err *e);

/* Readers of what stands before the pixels (image_head.c). */
enum status image_jpeg_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e);
enum status image_png_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e);
enum status image_webp_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e);

/* The orientation in the contents of an EXIF block; 1 when it says none that there is. */
unsigned image_exif_turn(const uint8_t *p, size_t n);

/* Turns n pixels of colour into grey ones, with the weights of ITU-R 601. */
void image_grey(const uint8_t *from, unsigned channels, uint8_t *to, size_t n);

#endif
