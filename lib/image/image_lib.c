/* SPDX-License-Identifier: MIT */
#include "image/image_lib.h"

#include <pthread.h>

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

static struct late image_libs[] = {
	{ { IMAGE_JPEG_FILE }, "libjpeg62-turbo", image_jpeg_names, &image_jpeg_fns, "" },
	{ { IMAGE_PNG_FILE }, "libpng16-16", image_png_names, &image_png_fns, "" },
	{ { IMAGE_WEBP_FILE }, "libwebp7", image_webp_names, &image_webp_fns, "" },
};

#define IMAGE_LIB(kind, i) \
	static pthread_once_t image_##kind##_once = PTHREAD_ONCE_INIT; \
	static void image_##kind##_load(void) { late_load(&image_libs[i]); } \
	const struct image_##kind##_lib * \
	image_##kind##_lib(struct err *e) \
	{ \
		pthread_once(&image_##kind##_once, image_##kind##_load); \
		return late_get(&image_libs[i], e); \
	}
IMAGE_LIB(jpeg, 0)
IMAGE_LIB(png, 1)
IMAGE_LIB(webp, 2)
