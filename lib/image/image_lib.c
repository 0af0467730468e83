/* SPDX-License-Identifier: MIT */
#include "image/image_lib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

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

#define IMAGE_FN(fn) #fn,
static const char *const image_jpeg_names[] = { IMAGE_JPEG_FNS(IMAGE_FN) NULL };
static const char *const image_png_names[] = { IMAGE_PNG_FNS(IMAGE_FN) NULL };
static const char *const image_webp_names[] = { IMAGE_WEBP_FNS(IMAGE_FN) NULL };
#undef IMAGE_FN

static struct image_lib {
	const char *file, *package;
	const char *const *names;
	void *fns;     /* pointers to the names' functions, in their order */
	char why[200]; /* "": it is loaded */
} image_libs[] = {
	{ IMAGE_JPEG_FILE, "libjpeg62-turbo", image_jpeg_names, &image_jpeg_fns, "" },
	{ IMAGE_PNG_FILE, "libpng16-16", image_png_names, &image_png_fns, "" },
	{ IMAGE_WEBP_FILE, "libwebp7", image_webp_names, &image_webp_fns, "" },
};

static void
image_lib_load(struct image_lib *lib)
{
	void *from = dlopen(lib->file, RTLD_NOW | RTLD_LOCAL), *fn;
	char *at = lib->fns;
	const char *why = from ? NULL : dlerror();

	for (const char *const *name = lib->names; from && *name; name++, at += sizeof fn) {
		fn = dlsym(from, *name);
		if (!fn) {
			snprintf(lib->why, sizeof lib->why, "it has no %s", *name);
			return;
		}
		memcpy(at, &fn, sizeof fn);
	}
	if (!from)
		snprintf(lib->why, sizeof lib->why, "%s", why ? why : "it is not there");
}

static void *
image_lib_get(struct image_lib *lib, struct err *e)
{
	if (!lib->why[0])
		return lib->fns;
	err_set(e, ST_DATA, "the library %s cannot be used: %s", lib->file, lib->why);
	err_help(e, "apt-get install %s", lib->package);
	return NULL;
}

#define IMAGE_LIB(kind, i) \
	static pthread_once_t image_##kind##_once = PTHREAD_ONCE_INIT; \
	static void image_##kind##_load(void) { image_lib_load(&image_libs[i]); } \
	const struct image_##kind##_lib * \
	image_##kind##_lib(struct err *e) \
	{ \
		pthread_once(&image_##kind##_once, image_##kind##_load); \
		return image_lib_get(&image_libs[i], e); \
	}
IMAGE_LIB(jpeg, 0)
IMAGE_LIB(png, 1)
IMAGE_LIB(webp, 2)
