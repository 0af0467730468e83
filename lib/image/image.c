/* SPDX-License-Identifier: MIT */
#include "image/image.h"

#include "base/mem.h"
#include "image/image_inner.h"
#include "image/pixels.h"

/* ORDER image_kinds: as enum image_kind */
static const struct {
	const char *name;
	enum status (*head)(const uint8_t *p, size_t n, struct image_head *head, struct err *e);
	enum status (*decode)(const struct image_job *job);
	enum status (*encode)(const struct image_pixels *im, unsigned quality, struct buf *to,
			      struct err *e);
} image_kinds[IMAGE_KINDS] = {
	{ "jpeg", image_jpeg_head, image_jpeg_decode, image_jpeg_encode },
	{ "png", image_png_head, image_png_decode, image_png_encode },
	{ "webp", image_webp_head, image_webp_decode, image_webp_encode },
};

const char *
image_kind_name(enum image_kind kind)
{
	return image_kinds[kind].name;
}

enum image_kind
image_kind_find(const char *name, size_t n)
{
	for (unsigned k = 0; k < IMAGE_KINDS; k++)
		if (strlen(image_kinds[k].name) == n && !memcmp(image_kinds[k].name, name, n))
			return k;
	return n == 3 && !memcmp(name, "jpg", 3) ? IMAGE_JPEG : IMAGE_KINDS;
}

static enum image_kind
image_tell(const uint8_t *p, size_t n)
{
	if (n >= 3 && !memcmp(p, "\xff\xd8\xff", 3))
		return IMAGE_JPEG;
	if (n >= 8 && !memcmp(p, "\x89PNG\r\n\x1a\n", 8))
		return IMAGE_PNG;
	if (n >= 12 && !memcmp(p, "RIFF", 4) && !memcmp(p + 8, "WEBP", 4))
		return IMAGE_WEBP;
	return IMAGE_KINDS;
}

enum status
image_head(const uint8_t *p, size_t n, struct image_head *head, struct err *e)
{
	*head = (struct image_head){ .kind = image_tell(p, n), .turn = 1 };
	if (head->kind == IMAGE_KINDS)
		return err_set(e, ST_DATA, n ? "these bytes are not a jpeg, png or webp"
			       : "an empty value is not an image");
	return image_kinds[head->kind].head(p, n, head, e);
}

static enum status
image_check(const struct image_head *head, struct err *e)
{
	uint64_t count = (uint64_t)head->h * head->w;

	if (head->h <= IMAGE_SIDE_MAX && head->w <= IMAGE_SIDE_MAX
	    && count <= (head->whole ? IMAGE_WHOLE_MAX : IMAGE_PIXELS_MAX))
		return ST_OK;
	return err_set(e, ST_DATA, "a %s%s of %u x %u pixels is too large (most is %d million, "
		       "and %d a side)", head->whole && head->kind == IMAGE_JPEG ? "progressive "
		       : head->whole && head->kind == IMAGE_PNG ? "interlaced " : "",
		       image_kind_name(head->kind), head->w, head->h,
		       (head->whole ? IMAGE_WHOLE_MAX : IMAGE_PIXELS_MAX) / 1000000, IMAGE_SIDE_MAX);
}

/* The box of the stored image that becomes this box of the upright one. */
static struct image_box
image_stored_box(const struct image_head *head, unsigned turn, const struct image_box *b)
{
	struct image_box s = *b;

	if (image_lies(turn))
		s = (struct image_box){ .y = b->x, .x = b->y, .h = b->w, .w = b->h };
	/* Columns run backwards in 2, 3, 7, 8, rows in 3, 4, 6, 7: seen from the stored image. */
	if (turn == 2 || turn == 3 || turn == 7 || turn == 8)
		s.x = head->w - s.x - s.w;
	if (turn == 3 || turn == 4 || turn == 6 || turn == 7)
		s.y = head->h - s.y - s.h;
	return s;
}

enum status
image_decode(const uint8_t *p, size_t n, const struct image_head *head, unsigned turn,
	     const struct image_box *box, unsigned channels, uint8_t *out, struct err *e)
{
	struct image_job job = { p, n, head, image_stored_box(head, turn, box), channels, out, e };
	enum status st;

	if (image_check(head, e))
		return ST_DATA;
	if (turn == 1)
		return image_kinds[head->kind].decode(&job);
	job.out = mem_alloc((size_t)box->h * box->w * channels);
	st = image_kinds[head->kind].decode(&job);
	if (st == ST_OK)
		pixels_turn(job.out, job.box.h, job.box.w, channels, turn, out);
	mem_free(job.out);
	return st;
}

enum status
image_encode(const struct image_pixels *im, enum image_kind kind, unsigned quality, struct buf *to,
	     struct err *e)
{
	return image_kinds[kind].encode(im, quality, to, e);
}

void
image_grey(const uint8_t *from, unsigned channels, uint8_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++, from += channels)
		to[i] = (uint8_t)((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
}
