/* SPDX-License-Identifier: MIT
 *
 * jpeg files written with libjpeg-turbo. As in image_jpeg.c, the function that
 * calls setjmp has no variables of its own.
 */
#include <setjmp.h>

#include "image/image_inner.h"
#include "image/image_lib.h"

enum { JPEG_QUALITY = 90, JPEG_ROOM = 16 * 1024 };

struct jpeg_to {
	struct jpeg_error_mgr errors; /* first: the library hands its address back */
	const struct image_jpeg_lib *lib;
	const struct image_pixels *im;
	struct jpeg_compress_struct c;
	struct jpeg_destination_mgr dest;
	struct buf *to;
	unsigned quality;
	struct err *e;
	enum status st;
	jmp_buf failed;
};

static void
jpeg_to_fail(j_common_ptr c)
{
	struct jpeg_to *out = (struct jpeg_to *)c->err;
	char text[JMSG_LENGTH_MAX];

	c->err->format_message(c, text);
	out->st = err_set(out->e, ST_DATA, "no jpeg can be made: %s", text);
	longjmp(out->failed, 1);
}

static void
jpeg_to_mute(j_common_ptr c)
{
	(void)c;
}

static void
jpeg_to_room(j_compress_ptr c)
{
	struct jpeg_to *out = (struct jpeg_to *)c->err;

	c->dest->next_output_byte = buf_room(out->to, JPEG_ROOM);
	c->dest->free_in_buffer = JPEG_ROOM;
}

static boolean
jpeg_to_full(j_compress_ptr c)
{
	((struct jpeg_to *)c->err)->to->len += JPEG_ROOM;
	jpeg_to_room(c);
	return TRUE;
}

static void
jpeg_to_end(j_compress_ptr c)
{
	((struct jpeg_to *)c->err)->to->len += JPEG_ROOM - c->dest->free_in_buffer;
}

static void
jpeg_to_write(struct jpeg_to *out)
{
	struct jpeg_compress_struct *c = &out->c;
	const struct image_pixels *im = out->im;

	c->err = out->lib->jpeg_std_error(&out->errors);
	out->errors.error_exit = jpeg_to_fail;
	out->errors.output_message = jpeg_to_mute;
	out->lib->jpeg_CreateCompress(c, JPEG_LIB_VERSION, sizeof *c);
	out->dest = (struct jpeg_destination_mgr){ .init_destination = jpeg_to_room,
		.empty_output_buffer = jpeg_to_full, .term_destination = jpeg_to_end };
	c->dest = &out->dest;
	c->image_width = im->w;
	c->image_height = im->h;
	c->input_components = (int)im->channels;
	c->in_color_space = im->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
	out->lib->jpeg_set_defaults(c);
	out->lib->jpeg_set_quality(c, (int)(out->quality ? out->quality : JPEG_QUALITY), TRUE);
	out->lib->jpeg_start_compress(c, TRUE);
	while (c->next_scanline < c->image_height) {
		/* The library only reads the row. */
		union { const uint8_t *from; JSAMPROW row; } at
			= { im->data + (size_t)c->next_scanline * im->w * im->channels };

		out->lib->jpeg_write_scanlines(c, &at.row, 1);
	}
	out->lib->jpeg_finish_compress(c);
}

static __attribute__((noinline)) void
jpeg_to_try(struct jpeg_to *out)
{
	if (!setjmp(out->failed))
		jpeg_to_write(out);
}

enum status
image_jpeg_encode(const struct image_pixels *im, unsigned quality, struct buf *to, struct err *e)
{
	struct jpeg_to out = { .lib = image_jpeg_lib(e), .im = im, .to = to, .quality = quality, .e = e };

	if (!out.lib)
		return ST_DATA;
	if (im->channels == 4)
		return err_set(e, ST_DATA, "a jpeg has no alpha: 1 or 3 channels, not 4");
	jpeg_to_try(&out);
	out.lib->jpeg_destroy_compress(&out.c);
	return out.st;
}
