/* SPDX-License-Identifier: MIT
 *
 * png files read and written with libpng, a row at a time; only of interlaced ones the whole
 * image lies in memory. No row behind the last that is wanted is decoded.
 *
 * The library leaves a failed call through png_side_fail, by longjmp: so the function
 * that calls setjmp has no variables of its own.
 */
#include <setjmp.h>

#include "base/mem.h"
#include "image/image_inner.h"
#include "image/image_lib.h"

enum {
	PNG_CHUNK_MAX = 8 * 1024 * 1024, /* memory for one chunk beside the pixels */
	PNG_CHUNKS_MAX = 128             /* and how many of them are kept */
};

struct png_side {
	const struct image_png_lib *lib;
	png_structp png;
	png_infop info;
	const char *what;              /* "a damaged png" */
	struct err *e;
	enum status st;
	jmp_buf failed;
	const struct image_job *job;   /* for reading */
	const uint8_t *at, *end;       /* the rest, not read yet */
	uint8_t *rows;                 /* owned: one row, or all */
	const struct image_pixels *im; /* for writing */
	struct buf *to;
};

static void
png_side_fail(png_structp png, png_const_charp text)
{
	struct png_side *s = image_png_lib(NULL)->png_get_error_ptr(png);

	if (s->st == ST_OK)
		s->st = err_set(s->e, ST_DATA, "%s: %s", s->what, text);
	longjmp(s->failed, 1);
}

static __attribute__((noinline)) void
png_side_try(struct png_side *s, void (*work)(struct png_side *))
{
	if (!setjmp(s->failed))
		work(s);
}

static void
png_side_mute(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

static void
png_side_read(png_structp png, png_bytep to, size_t n)
{
	struct png_side *s = image_png_lib(NULL)->png_get_io_ptr(png);

	if (n > (size_t)(s->end - s->at)) {
		s->st = err_set(s->e, ST_DATA, "the png is cut off");
		longjmp(s->failed, 1);
	}
	memcpy(to, s->at, n);
	s->at += n;
}

/* Asks the library for 8 bits and the channels that are wanted; grey of colours is made here.
 * Gives how many channels come. */
static unsigned
png_side_ask(struct png_side *s)
{
	const struct image_png_lib *lib = s->lib;
	unsigned channels = s->job->channels;
	bool colour = lib->png_get_color_type(s->png, s->info) & PNG_COLOR_MASK_COLOR;
	bool alpha = (lib->png_get_color_type(s->png, s->info) & PNG_COLOR_MASK_ALPHA)
		|| lib->png_get_valid(s->png, s->info, PNG_INFO_tRNS);

	lib->png_set_expand(s->png);
	lib->png_set_strip_16(s->png);
	if (alpha && channels != 4)
		lib->png_set_strip_alpha(s->png);
	if (!colour && channels != 1)
		lib->png_set_gray_to_rgb(s->png);
	if (!alpha && channels == 4)
		lib->png_set_add_alpha(s->png, 255, PNG_FILLER_AFTER);
	return channels == 4 ? 4 : colour || channels == 3 ? 3 : 1;
}

/* Takes the columns of the box out of a row. */
static void
png_side_row(const struct png_side *s, const uint8_t *row, unsigned has, uint8_t *to)
{
	const struct image_box *box = &s->job->box;

	row += (size_t)box->x * has;
	if (has == s->job->channels)
		memcpy(to, row, (size_t)box->w * has);
	else
		image_grey(row, has, to, box->w);
}

static void
png_side_rows(struct png_side *s, unsigned has, unsigned passes)
{
	const struct image_job *job = s->job;
	const struct image_box *box = &job->box;
	size_t stride = (size_t)job->head->w * has, step = (size_t)box->w * job->channels;
	bool straight = passes == 1 && box->w == job->head->w && has == job->channels;
	uint32_t end = box->y + box->h;

	s->rows = mem_alloc(passes == 1 ? stride : stride * job->head->h);
	for (; passes > 1; passes--)
		for (uint32_t y = 0; y < job->head->h; y++)
			s->lib->png_read_row(s->png, s->rows + y * stride, NULL);
	for (uint32_t y = 0; y < end; y++) {
		uint8_t *to = y < box->y ? NULL : job->out + (y - box->y) * step;
		uint8_t *row = straight && to ? to : job->head->whole ? s->rows + y * stride : s->rows;

		s->lib->png_read_row(s->png, row, NULL);
		if (to && row != to)
			png_side_row(s, row, has, to);
	}
}

static void
png_side_decode(struct png_side *s)
{
	const struct image_png_lib *lib = s->lib;
	const struct image_head *head = s->job->head;
	unsigned has, passes;

	lib->png_set_user_limits(s->png, IMAGE_SIDE_MAX, IMAGE_SIDE_MAX);
	lib->png_set_chunk_malloc_max(s->png, PNG_CHUNK_MAX);
	lib->png_set_chunk_cache_max(s->png, PNG_CHUNKS_MAX);
	lib->png_set_read_fn(s->png, s, png_side_read);
	lib->png_read_info(s->png, s->info);
	has = png_side_ask(s);
	passes = (unsigned)lib->png_set_interlace_handling(s->png);
	lib->png_read_update_info(s->png, s->info);
	if (lib->png_get_image_width(s->png, s->info) == head->w
	    && lib->png_get_image_height(s->png, s->info) == head->h
	    && lib->png_get_rowbytes(s->png, s->info) == (size_t)head->w * has
	    && (passes > 1) == head->whole) {
		png_side_rows(s, has, passes);
		return;
	}
	s->st = err_set(s->e, ST_DATA, "a png with two sizes");
	longjmp(s->failed, 1);
}

enum status
image_png_decode(const struct image_job *job)
{
	struct png_side s = { .lib = image_png_lib(job->e), .job = job, .e = job->e,
		.what = "a damaged png", .at = job->p, .end = job->p + job->n };

	if (!s.lib)
		return ST_DATA;
	s.png = s.lib->png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, png_side_fail, png_side_mute);
	s.info = s.png ? s.lib->png_create_info_struct(s.png) : NULL;
	if (!s.info)
		s.st = err_set(job->e, ST_DATA, "the library libpng is another than this was made for");
	else
		png_side_try(&s, png_side_decode);
	s.lib->png_destroy_read_struct(&s.png, &s.info, NULL);
	mem_free(s.rows);
	return s.st;
}

static void
png_side_write(png_structp png, png_bytep p, size_t n)
{
	struct png_side *s = image_png_lib(NULL)->png_get_io_ptr(png);

	buf_put(s->to, p, n);
}

static void
png_side_flush(png_structp png)
{
	(void)png;
}

static void
png_side_encode(struct png_side *s)
{
	const struct image_pixels *im = s->im;

	s->lib->png_set_write_fn(s->png, s, png_side_write, png_side_flush);
	s->lib->png_set_IHDR(s->png, s->info, im->w, im->h, 8,
			     im->channels == 1 ? PNG_COLOR_TYPE_GRAY : im->channels == 3
			     ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE,
			     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	s->lib->png_write_info(s->png, s->info);
	for (uint32_t y = 0; y < im->h; y++)
		s->lib->png_write_row(s->png, im->data + (size_t)y * im->w * im->channels);
	s->lib->png_write_end(s->png, s->info);
}

enum status
image_png_encode(const struct image_pixels *im, unsigned quality, struct buf *to, struct err *e)
{
	struct png_side s = { .lib = image_png_lib(e), .im = im, .to = to, .e = e,
		.what = "no png can be made" };

	if (!s.lib)
		return ST_DATA;
	if (quality)
		return err_set(e, ST_DATA, "a png has no quality: it loses nothing");
	s.png = s.lib->png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, png_side_fail, png_side_mute);
	s.info = s.png ? s.lib->png_create_info_struct(s.png) : NULL;
	if (!s.info)
		s.st = err_set(e, ST_DATA, "the library libpng is another than this was made for");
	else
		png_side_try(&s, png_side_encode);
	s.lib->png_destroy_write_struct(&s.png, &s.info);
	return s.st;
}
