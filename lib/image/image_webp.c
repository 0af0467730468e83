/* SPDX-License-Identifier: MIT
 *
 * webp files, read and written with libwebp. It decodes the rows up to the last one that is
 * wanted, and makes colours of the columns in the box only.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "image/image_inner.h"
#include "image/image_lib.h"

enum {
	WEBP_EDGE = 2,    /* colour at a cut needs its neighbours, and cuts are at even places */
	WEBP_QUALITY = 90
};

static enum status
webp_fault(VP8StatusCode code, struct err *e)
{
	switch (code) {
	case VP8_STATUS_NOT_ENOUGH_DATA:
	case VP8_STATUS_SUSPENDED:
		return err_set(e, ST_DATA, "the webp is cut off");
	case VP8_STATUS_UNSUPPORTED_FEATURE:
		return err_set(e, ST_DATA, "a webp of a kind that is not read");
	case VP8_STATUS_OUT_OF_MEMORY:
		return err_set(e, ST_DATA, "no memory for a webp");
	default:
		return err_set(e, ST_DATA, "a damaged webp");
	}
}

/* The box, widened to what can be cut out and then be cut to size. */
static struct image_box
webp_widened(const struct image_job *job)
{
	const struct image_box *b = &job->box;
	uint32_t x = b->x > WEBP_EDGE ? (b->x - WEBP_EDGE) & ~1u : 0;
	uint32_t y = b->y > WEBP_EDGE ? (b->y - WEBP_EDGE) & ~1u : 0;
	uint32_t right = b->x + b->w, below = b->y + b->h;

	right = job->head->w - right > WEBP_EDGE ? right + WEBP_EDGE : job->head->w;
	below = job->head->h - below > WEBP_EDGE ? below + WEBP_EDGE : job->head->h;
	return (struct image_box){ .y = y, .x = x, .h = below - y, .w = right - x };
}

static enum status
webp_decode(const struct image_webp_lib *lib, const struct image_job *job,
	    const struct image_box *wide, unsigned has, uint8_t *to)
{
	WebPDecoderConfig config;
	VP8StatusCode code;

	if (!lib->WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION))
		return err_set(job->e, ST_DATA, "the library libwebp is another than this was made for");
	code = lib->WebPGetFeaturesInternal(job->p, job->n, &config.input, WEBP_DECODER_ABI_VERSION);
	if (code != VP8_STATUS_OK)
		return webp_fault(code, job->e);
	if (config.input.width != (int)job->head->w || config.input.height != (int)job->head->h)
		return err_set(job->e, ST_DATA, "a webp with two sizes");
	if (wide->w != job->head->w || wide->h != job->head->h) {
		config.options.use_cropping = 1;
		config.options.crop_left = (int)wide->x;
		config.options.crop_top = (int)wide->y;
		config.options.crop_width = (int)wide->w;
		config.options.crop_height = (int)wide->h;
	}
	config.output.colorspace = has == 4 ? MODE_RGBA : MODE_RGB;
	config.output.is_external_memory = 1;
	config.output.u.RGBA.rgba = to;
	config.output.u.RGBA.stride = (int)(wide->w * has);
	config.output.u.RGBA.size = (size_t)wide->h * wide->w * has;
	code = lib->WebPDecode(job->p, job->n, &config);
	lib->WebPFreeDecBuffer(&config.output);
	return code == VP8_STATUS_OK ? ST_OK : webp_fault(code, job->e);
}

enum status
image_webp_decode(const struct image_job *job)
{
	const struct image_webp_lib *lib = image_webp_lib(job->e);
	struct image_box wide = webp_widened(job);
	const struct image_box *b = &job->box;
	unsigned has = job->channels == 4 ? 4 : 3;
	uint8_t *made, *to = job->out;
	enum status st;

	if (!lib)
		return ST_DATA;
	if (wide.w == b->w && wide.h == b->h && has == job->channels)
		return webp_decode(lib, job, &wide, has, job->out);
	made = mem_alloc((size_t)wide.h * wide.w * has);
	st = webp_decode(lib, job, &wide, has, made);
	for (uint32_t y = 0; st == ST_OK && y < b->h; y++, to += (size_t)b->w * job->channels) {
		const uint8_t *row = made + ((size_t)(b->y - wide.y + y) * wide.w + b->x - wide.x) * has;

		if (has == job->channels)
			memcpy(to, row, (size_t)b->w * has);
		else
			image_grey(row, has, to, b->w);
	}
	mem_free(made);
	return st;
}

enum status
image_webp_encode(const struct image_pixels *im, unsigned quality, struct buf *to, struct err *e)
{
	const struct image_webp_lib *lib = image_webp_lib(e);
	float want = (float)(quality ? quality : WEBP_QUALITY);
	unsigned has = im->channels == 4 ? 4 : 3;
	uint8_t *made = NULL, *colours = NULL;
	const uint8_t *from = im->data;
	size_t n = 0, count = (size_t)im->h * im->w;

	if (!lib)
		return ST_DATA;
	if (im->h > WEBP_MAX_DIMENSION || im->w > WEBP_MAX_DIMENSION)
		return err_set(e, ST_DATA, "a webp has at most %d rows and columns", WEBP_MAX_DIMENSION);
	if (im->channels == 1) {
		from = colours = mem_alloc(count * 3);
		for (size_t i = 0; i < count; i++)
			memset(colours + 3 * i, im->data[i], 3);
	}
	n = (has == 4 ? lib->WebPEncodeRGBA : lib->WebPEncodeRGB)(from, (int)im->w, (int)im->h,
								 (int)(im->w * has), want, &made);
	mem_free(colours);
	if (!n)
		return err_set(e, ST_DATA, "no webp can be made of this image");
	buf_put(to, made, n);
	lib->WebPFree(made);
	return ST_OK;
}
