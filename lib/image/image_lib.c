/* SPDX-License-Identifier: MIT */
#include "image/image_lib.h"

#define IMAGE_WORDS(x) #x
#define IMAGE_NUMBER(x) IMAGE_WORDS(x)

/* The names change with the interfaces, and the interfaces are those that were compiled with. */
#define IMAGE_JPEG_FILE "libjpeg.so." IMAGE_NUMBER(JPEG_LIB_VERSION_SO)
#if JPEG_LIB_VERSION >= 80
#define JPEG_LIB_VERSION_SO 8
#else
#define JPEG_LIB_VERSION_SO 62
#endif
#define IMAGE_PNG_FILE "libpng" IMAGE_NUMBER(PNG_LIBPNG_VER_SONUM) ".so." \
	IMAGE_NUMBER(PNG_LIBPNG_VER_SONUM)
#define IMAGE_WEBP_FILE "libwebp.so.7"

static struct image_jpeg_lib image_jpeg_fns;
static struct image_png_lib image_png_fns;
static struct image_webp_lib image_webp_fns;

static const char *const image_jpeg_names[] = { IMAGE_JPEG_FNS(LATE_NAME) NULL };
static const char *const image_png_names[] = { IMAGE_PNG_FNS(LATE_NAME) NULL };
static const char *const image_webp_names[] = { IMAGE_WEBP_FNS(LATE_NAME) NULL };

#define IMAGE_LIB(kind, file, package) \
	const struct image_##kind##_lib * \
	image_##kind##_lib(struct err *e) \
	{ \
		static struct late late = { { file }, package, image_##kind##_names, &image_##kind##_fns, LATE_LOCK }; \
		return late_get(&late, e); \
	}
IMAGE_LIB(jpeg, IMAGE_JPEG_FILE, "libjpeg62-turbo")
IMAGE_LIB(png, IMAGE_PNG_FILE, "libpng16-16")
IMAGE_LIB(webp, IMAGE_WEBP_FILE, "libwebp7")
