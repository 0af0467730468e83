/* SPDX-License-Identifier: MIT
 *
 * Images out of their files and back into them: jpeg, png and webp, told by their first
 * bytes. Pixels are bytes in rows from the top, channels next to each other: 1 is grey, 3 are
 * red, green and blue, 4 have alpha behind them.
 *
 * Files are hostile: nothing here takes memory for a size that a file claims before the size
 * was compared with the limits below, and what a file says wrongly is an error. The libraries
 * are loaded when the first image of their kind comes (image_lib.h). Safe to call from
 * several threads.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	IMAGE_SIDE_MAX = 1 << 20,    /* most rows or columns */
	IMAGE_PIXELS_MAX = 1 << 28,  /* most pixels where single rows can be decoded */
	IMAGE_WHOLE_MAX = 1 << 26,   /* where the whole image must lie in memory for it */
	IMAGE_SCANS_MAX = 256        /* most passes over a progressive jpeg */
};

enum image_kind { IMAGE_JPEG, IMAGE_PNG, IMAGE_WEBP, IMAGE_KINDS };

/* Facts that stand before the pixels of a file. */
struct image_head {
	enum image_kind kind;
	uint32_t h, w;    /* stored ones: before the orientation is heeded */
	uint8_t channels; /* 1, 3 or 4, as the file has them */
	uint8_t turn;     /* orientation of EXIF: 1 to 8; 1 is upright */
	bool whole;       /* the whole image is decoded for any part of it */
};

struct image_box {
	uint32_t y, x, h, w; /* the first row and column; how many */
};

const char *image_kind_name(enum image_kind kind); /* "jpeg" */
/* The kind whose name this is; IMAGE_KINDS: none. */
enum image_kind image_kind_find(const char *name, size_t n);

/* Reads what stands before the pixels. */
enum status image_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e);
/* Orientations from 5 on exchange rows and columns. */
static inline bool
image_lies(unsigned turn)
{
	return turn >= 5;
}

/* Decodes the box, which must lie in the image, to h * w * channels bytes at `out`.
 * turn: 1, or the orientation of the head; then the box is one of the upright image. */
enum status image_decode(const uint8_t *p, size_t n, const struct image_head *head, unsigned turn,
			 const struct image_box *box, unsigned channels, uint8_t *out,
			 struct err *e);

/* Appends the file of an image to `to`. quality: 1 to 100, for jpeg and webp; 0: usual. */
struct image_pixels {
	const uint8_t *data;
	uint32_t h, w;
	unsigned channels;
};
enum status image_encode(const struct image_pixels *im, enum image_kind kind, unsigned quality,
			 struct buf *to, struct err *e);

#endif
