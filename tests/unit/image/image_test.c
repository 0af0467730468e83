/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "image/image.h"
#include "image/pixels.h"
#include "image/resize.h"

enum { H = 37, W = 53 };

/* An image whose pixels all differ from their neighbours. */
static struct image_pixels
a_picture(uint8_t *room, unsigned channels)
{
	for (unsigned i = 0; i < H * W * channels; i++)
		room[i] = (uint8_t)(i * 7 + i / 11 * 3 + i / 97 * 31);
	return (struct image_pixels){ room, H, W, channels };
}

static struct buf
a_file(unsigned channels, enum image_kind kind, uint8_t room[H * W * 4])
{
	struct image_pixels im = a_picture(room, channels);
	struct buf file = { 0 };
	struct err e;

	assert_int_equal(image_encode(&im, kind, 0, &file, &e), ST_OK);
	return file;
}

static enum status
decode(const struct buf *file, struct image_box box, unsigned channels, uint8_t *out, struct err *e)
{
	struct image_head head;

	if (image_head(file->data, file->len, &head, e))
		return ST_DATA;
	return image_decode(file->data, file->len, &head, 1, &box, channels, out, e);
}

static void
what_is_encoded_is_decoded(void **state)
{
	static uint8_t room[H * W * 4], back[H * W * 4];

	(void)state;
	for (unsigned kind = 0; kind < IMAGE_KINDS; kind++)
		for (unsigned channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
			struct image_head head;
			struct err e;

			if (channels == 4 && kind == IMAGE_JPEG)
				continue;
			struct buf file = a_file(channels, kind, room);
			assert_int_equal(image_head(file.data, file.len, &head, &e), ST_OK);
			assert_int_equal(head.kind, kind);
			assert_int_equal(head.h, H);
			assert_int_equal(head.w, W);
			assert_int_equal(head.channels, kind == IMAGE_WEBP && channels == 1 ? 3 : channels);
			assert_int_equal(decode(&file, (struct image_box){ 0, 0, H, W }, channels, back, &e),
					 ST_OK);
			if (kind == IMAGE_PNG)
				assert_memory_equal(back, room, H * W * channels);
			buf_clear(&file);
		}
}

/* Edges of blocks and of colour between samples are where a part may differ from the whole. */
static void
a_box_is_that_part_of_the_whole(void **state)
{
	static uint8_t room[H * W * 4], whole[H * W * 3], part[H * W * 3];

	(void)state;
	for (unsigned kind = 0; kind < IMAGE_KINDS; kind++) {
		struct buf file = a_file(3, kind, room);
		struct err e;

		assert_int_equal(decode(&file, (struct image_box){ 0, 0, H, W }, 3, whole, &e), ST_OK);
		for (uint32_t i = 0; i < 200; i++) {
			struct image_box b = { i * 5 % H, i * 3 % W, 0, 0 };

			b.h = 1 + i % (H - b.y);
			b.w = 1 + i * 2 % (W - b.x);
			assert_int_equal(decode(&file, b, 3, part, &e), ST_OK);
			for (uint32_t y = 0; y < b.h; y++)
				assert_memory_equal(part + y * b.w * 3, whole + ((b.y + y) * W + b.x) * 3,
						    b.w * 3);
		}
		buf_clear(&file);
	}
}

static void
a_file_that_is_cut_off_is_an_error(void **state)
{
	static uint8_t room[H * W * 4], back[H * W * 3];

	(void)state;
	for (unsigned kind = 0; kind < IMAGE_KINDS; kind++) {
		struct buf file = a_file(3, kind, room);
		size_t len = file.len;

		for (file.len = 0; file.len + 40 < len; file.len++) {
			struct err e = { 0 };

			assert_int_equal(decode(&file, (struct image_box){ 0, 0, H, W }, 3, back, &e), ST_DATA);
			assert_true(e.text[0]);
		}
		buf_clear(&file);
	}
}

/* A size is only a claim: it is refused before there is memory for it. */
static void
sizes_that_are_too_large_are_refused(void **state)
{
	static const uint8_t png[33] = "\x89PNG\r\n\x1a\n\0\0\0\15IHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\10\2";
	struct buf file = { .data = (uint8_t *)png, .len = sizeof png };
	uint8_t one[3];
	struct err e;

	(void)state;
	assert_int_equal(decode(&file, (struct image_box){ 0, 0, 1, 1 }, 3, one, &e), ST_DATA);
	assert_non_null(strstr(e.text, "too large"));
}

static void
orientations_are_exif_s(void **state)
{
	/* A picture of 2 rows by 3, and what is seen upright. */
	static const char *const seen[9] = { "", "abcdef", "cbafed", "fedcba", "defabc", "adbecf",
		"daebfc", "fcebda", "cfbead" };
	uint8_t got[6];

	(void)state;
	for (unsigned turn = 1; turn <= 8; turn++) {
		pixels_turn((const uint8_t *)"abcdef", 2, 3, 1, turn, got);
		assert_memory_equal(got, seen[turn], 6);
	}
}

static void
one_colour_stays_it_in_any_size(void **state)
{
	struct buf work = { 0 }, weights = { 0 };
	static uint8_t from[90 * 70], to[200 * 200];

	(void)state;
	memset(from, 201, sizeof from);
	for (unsigned m = 0; m < RESIZE_METHODS; m++)
		for (size_t i = 0; i < 60; i++) {
			struct resize r = { .from = from, .to = to, .h = 1 + i * 7 % 90, .w = 1 + i * 11 % 70,
				.to_h = 1 + i * 13 % 200, .to_w = 1 + i * 17 % 200, .channels = 1,
				.method = m, .antialias = i & 1 };

			memset(to, 0, sizeof to);
			resize_u8(&r, &work, &weights);
			for (size_t k = 0; k < r.to_h * r.to_w; k++)
				assert_int_equal(to[k], 201);
		}
	buf_clear(&work);
	buf_clear(&weights);
}

/* Columns are made in strips of rows, rows one by one: both mix the same numbers. */
static void
columns_are_mixed_as_the_rows_of_the_turned_image(void **state)
{
	struct buf work = { 0 }, weights = { 0 };

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		size_t h = 1 + i * 37 % 101, w = 1 + i * 53 % 103, to_w = 1 + i * 29 % 97;
		uint8_t *from = mem_alloc(h * w), *lies = mem_alloc(h * w);
		uint8_t *to = mem_alloc(h * to_w), *stood = mem_alloc(h * to_w);
		struct resize columns = { .from = from, .to = to, .h = h, .w = w, .to_h = h, .to_w = to_w,
			.channels = 1, .method = RESIZE_BILINEAR + i % 3, .antialias = i % 5 > 0 };
		struct resize rows = { .from = lies, .to = stood, .h = w, .w = h, .to_h = to_w, .to_w = h,
			.channels = 1, .method = columns.method, .antialias = columns.antialias };

		for (size_t k = 0; k < h * w; k++)
			lies[k % w * h + k / w] = from[k] = (uint8_t)(k * k * 31 >> 3);
		resize_u8(&columns, &work, &weights);
		resize_u8(&rows, &work, &weights);
		for (size_t k = 0; k < h * to_w; k++)
			assert_int_equal(to[k], stood[k % to_w * h + k / to_w]);
		mem_free(from);
		mem_free(lies);
		mem_free(to);
		mem_free(stood);
	}
	buf_clear(&work);
	buf_clear(&weights);
}
