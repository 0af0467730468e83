/* SPDX-License-Identifier: MIT
 *
 * jpeg files decoded with libjpeg-turbo, exactly as by Pillow and others: the slow and
 * accurate transform, and colour between the samples. Of a box, only the columns of blocks
 * that touch it are transformed, and no row behind it.
 *
 * The library leaves a failed call by longjmp. So the function that calls setjmp has no
 * variables of its own: all that is needed afterwards belongs to its caller.
 */
#include <setjmp.h>

#include "image/image_inner.h"
#include "image/image_lib.h"

#include <jerror.h> /* behind the library's first header */

enum { JPEG_EDGE = 32 /* columns of the widest block: colour at a cut needs its neighbours */ };

struct jpeg_in {
	struct jpeg_error_mgr errors; /* first: the library hands its address back */
	const struct image_jpeg_lib *lib;
	const struct image_job *job;
	struct jpeg_decompress_struct c;
	struct jpeg_source_mgr source;
	struct jpeg_progress_mgr progress;
	enum status st;
	jmp_buf failed;
};

static void
jpeg_in_fail(j_common_ptr c)
{
	struct jpeg_in *in = (struct jpeg_in *)c->err;
	char text[JMSG_LENGTH_MAX];

	if (in->st == ST_OK) {
		c->err->format_message(c, text);
		in->st = err_set(in->job->e, ST_DATA, "a damaged jpeg: %s", text);
	}
	longjmp(in->failed, 1);
}

/* Warnings: the codes of pixels that cannot be right are an error, because what is made of them
 * is grey. Other things that the library puts right are left to it. */
static void
jpeg_in_warn(j_common_ptr c, int level)
{
	int code = c->err->msg_code;

	if (level < 0 && (code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE
			  || code == JWRN_ARITH_BAD_CODE || code == JWRN_JPEG_EOF))
		jpeg_in_fail(c);
}

static void
jpeg_in_mute(j_common_ptr c)
{
	(void)c;
}

/* Each pass over a progressive image costs as much as all of it. */
static void
jpeg_in_pass(j_common_ptr c)
{
	struct jpeg_in *in = (struct jpeg_in *)c->err;

	if (in->c.input_scan_number <= IMAGE_SCANS_MAX)
		return;
	in->st = err_set(in->job->e, ST_DATA, "a jpeg of more than %d scans", IMAGE_SCANS_MAX);
	longjmp(in->failed, 1);
}

static void
jpeg_in_source(j_decompress_ptr c)
{
	(void)c;
}

static boolean
jpeg_in_more(j_decompress_ptr c)
{
	struct jpeg_in *in = (struct jpeg_in *)c->err;

	in->st = err_set(in->job->e, ST_DATA, "the jpeg is cut off");
	longjmp(in->failed, 1);
	return FALSE;
}

static void
jpeg_in_skip(j_decompress_ptr c, long n)
{
	if (n > 0 && (size_t)n > c->src->bytes_in_buffer)
		jpeg_in_more(c);
	if (n > 0) {
		c->src->next_input_byte += n;
		c->src->bytes_in_buffer -= (size_t)n;
	}
}

static void
jpeg_in_open(struct jpeg_in *in)
{
	const struct image_job *job = in->job;
	struct jpeg_decompress_struct *c = &in->c;

	c->err = in->lib->jpeg_std_error(&in->errors);
	in->errors.error_exit = jpeg_in_fail;
	in->errors.emit_message = jpeg_in_warn;
	in->errors.output_message = jpeg_in_mute;
	in->lib->jpeg_CreateDecompress(c, JPEG_LIB_VERSION, sizeof *c);
	in->progress.progress_monitor = jpeg_in_pass;
	c->progress = &in->progress;
	in->source = (struct jpeg_source_mgr){
		.next_input_byte = job->p, .bytes_in_buffer = job->n, .init_source = jpeg_in_source,
		.fill_input_buffer = jpeg_in_more, .skip_input_data = jpeg_in_skip,
		.resync_to_restart = in->lib->jpeg_resync_to_restart, .term_source = jpeg_in_source
	};
	c->src = &in->source;
	in->lib->jpeg_read_header(c, TRUE);
	if (c->image_width == job->head->w && c->image_height == job->head->h)
		return;
	in->st = err_set(job->e, ST_DATA, "a jpeg with two sizes");
	longjmp(in->failed, 1);
}

static bool
jpeg_in_inks(const struct jpeg_in *in)
{
	return in->c.jpeg_color_space == JCS_CMYK || in->c.jpeg_color_space == JCS_YCCK;
}

static void
jpeg_in_colours(struct jpeg_in *in)
{
	unsigned channels = in->job->channels;

	in->c.dct_method = JDCT_ISLOW;
	in->c.out_color_space = jpeg_in_inks(in) ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE
		: channels == 3 ? JCS_RGB : JCS_EXT_RGBA;
}

/* Turns inks into light; in files of Adobe's programs they are stored the other way round. */
static void
jpeg_in_light(const struct jpeg_in *in, const uint8_t *from, uint8_t *to, size_t n)
{
	unsigned channels = in->job->channels, turn = in->c.saw_Adobe_marker ? 0 : 255;

	for (; n; n--, from += 4, to += channels) {
		uint8_t rgb[3];

		for (unsigned k = 0; k < 3; k++) {
			unsigned v = (from[k] ^ turn) * (from[3] ^ turn) + 128;

			rgb[k] = (uint8_t)((v + (v >> 8)) >> 8);
		}
		if (channels == 1) {
			image_grey(rgb, 3, to, 1);
			continue;
		}
		memcpy(to, rgb, 3);
		if (channels == 4)
			to[3] = 255;
	}
}

/* Rows that are as wide as the result and have its channels: straight to their place. */
static void
jpeg_in_rows(struct jpeg_in *in)
{
	const struct image_job *job = in->job;
	size_t stride = (size_t)job->box.w * job->channels;
	uint8_t *rows[8];

	for (uint32_t y = 0; y < job->box.h;) {
		unsigned n = 0;

		for (; n < 8 && y + n < job->box.h; n++)
			rows[n] = job->out + (y + n) * stride;
		y += in->lib->jpeg_read_scanlines(&in->c, rows, n);
	}
}

/* Rows that are wider than the result, or have other channels. `skip`: columns before it. */
static void
jpeg_in_parts(struct jpeg_in *in, uint32_t skip)
{
	const struct image_job *job = in->job;
	unsigned has = (unsigned)in->c.output_components;
	uint8_t *row = in->c.mem->alloc_large((j_common_ptr)&in->c, JPOOL_IMAGE,
					      (size_t)in->c.output_width * has), *to = job->out;

	for (uint32_t y = 0; y < job->box.h; y++, to += (size_t)job->box.w * job->channels) {
		while (!in->lib->jpeg_read_scanlines(&in->c, &row, 1))
			;
		if (jpeg_in_inks(in))
			jpeg_in_light(in, row + (size_t)skip * has, to, job->box.w);
		else
			memcpy(to, row + (size_t)skip * has, (size_t)job->box.w * has);
	}
}

static void
jpeg_in_read(struct jpeg_in *in)
{
	const struct image_box *box = &in->job->box;
	JDIMENSION x = 0, w = in->job->head->w;

	jpeg_in_open(in);
	jpeg_in_colours(in);
	in->lib->jpeg_start_decompress(&in->c);
	if (box->w < w) {
		JDIMENSION end = w - box->x - box->w > JPEG_EDGE ? box->x + box->w + JPEG_EDGE : w;

		x = box->x > JPEG_EDGE ? box->x - JPEG_EDGE : 0;
		w = end - x;
		if (w < in->job->head->w)
			in->lib->jpeg_crop_scanline(&in->c, &x, &w);
	}
	if (box->y)
		in->lib->jpeg_skip_scanlines(&in->c, box->y);
	if (in->c.output_width == box->w && !jpeg_in_inks(in))
		jpeg_in_rows(in);
	else
		jpeg_in_parts(in, box->x - x);
}

static __attribute__((noinline)) void
jpeg_in_try(struct jpeg_in *in)
{
	if (!setjmp(in->failed))
		jpeg_in_read(in);
}

/* The last rows are there: what comes behind them is not looked at. */
enum status
image_jpeg_decode(const struct image_job *job)
{
	struct jpeg_in in = { .lib = image_jpeg_lib(job->e), .job = job };

	if (!in.lib)
		return ST_DATA;
	jpeg_in_try(&in);
	in.lib->jpeg_destroy_decompress(&in.c);
	return in.st;
}
