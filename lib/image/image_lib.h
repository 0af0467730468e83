/* SPDX-License-Identifier: MIT
 *
 * The libraries of image formats (base/late.h), loaded at the first image of their kind. NULL: one
 * is not installed, and e says which package has it.
 */
#ifndef IMAGE_IMAGE_LIB_H
#define IMAGE_IMAGE_LIB_H

#include <stdio.h> /* the next one needs it */

#include <jpeglib.h>
#include <png.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include "base/late.h"

#define IMAGE_JPEG_FNS(F) \
	F(jpeg_std_error) F(jpeg_CreateDecompress) F(jpeg_destroy_decompress) F(jpeg_read_header) \
	F(jpeg_start_decompress) F(jpeg_read_scanlines) F(jpeg_crop_scanline) \
	F(jpeg_skip_scanlines) F(jpeg_resync_to_restart) F(jpeg_CreateCompress) \
	F(jpeg_destroy_compress) F(jpeg_set_defaults) F(jpeg_set_quality) F(jpeg_start_compress) \
	F(jpeg_write_scanlines) F(jpeg_finish_compress)
#define IMAGE_PNG_FNS(F) \
	F(png_create_read_struct) F(png_create_info_struct) F(png_destroy_read_struct) \
	F(png_set_read_fn) F(png_read_info) F(png_read_update_info) F(png_get_image_width) \
	F(png_get_image_height) F(png_get_bit_depth) F(png_get_color_type) F(png_get_valid) \
	F(png_get_rowbytes) F(png_set_user_limits) F(png_set_chunk_malloc_max) \
	F(png_set_chunk_cache_max) F(png_set_expand) F(png_set_strip_16) F(png_set_strip_alpha) \
	F(png_set_gray_to_rgb) F(png_set_add_alpha) F(png_set_interlace_handling) \
	F(png_read_row) F(png_get_io_ptr) F(png_get_error_ptr) F(png_create_write_struct) \
	F(png_destroy_write_struct) F(png_set_write_fn) F(png_set_IHDR) F(png_write_info) \
	F(png_write_row) F(png_write_end)
#define IMAGE_WEBP_FNS(F) \
	F(WebPGetFeaturesInternal) F(WebPInitDecoderConfigInternal) F(WebPDecode) \
	F(WebPFreeDecBuffer) F(WebPEncodeRGB) F(WebPEncodeRGBA) F(WebPFree)

struct image_jpeg_lib { IMAGE_JPEG_FNS(LATE_FN) };
struct image_png_lib { IMAGE_PNG_FNS(LATE_FN) };
struct image_webp_lib { IMAGE_WEBP_FNS(LATE_FN) };

const struct image_jpeg_lib *image_jpeg_lib(struct err *e);
const struct image_png_lib *image_png_lib(struct err *e);
const struct image_webp_lib *image_webp_lib(struct err *e);

#endif
