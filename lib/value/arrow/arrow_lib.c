/* SPDX-License-Identifier: MIT */
#include "value/arrow/arrow_lib.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARROW_FILE "libdsvc_arrow.so"

static struct {
	const struct arrow_plugin *plugin; /* NULL: why says why not */
	char why[512];
} arrow_known;

/* Tries one file. Whether there is one, good or bad. */
static bool
arrow_try(const char *file)
{
	const struct arrow_plugin *(*get)(void);

	if (strchr(file, '/') && access(file, F_OK))
		return false;
	/* Lazily, since Arrow has ten thousands of names of which a file needs few. */
	void *lib = dlopen(file, RTLD_LAZY | RTLD_LOCAL), *fn = lib ? dlsym(lib, "dsvc_arrow_plugin") : NULL;
	if (!fn) {
		const char *why = dlerror();

		snprintf(arrow_known.why, sizeof arrow_known.why, "%s", why ? why : "it is not there");
		return true;
	}
	memcpy(&get, &fn, sizeof fn);
	arrow_known.plugin = get();
	if (arrow_known.plugin->version != ARROW_PLUGIN_VERSION) {
		snprintf(arrow_known.why, sizeof arrow_known.why, "%s is that of another version of dsvc", file);
		arrow_known.plugin = NULL;
	}
	return true;
}

static void
arrow_load(void)
{
	static const char *const beside[] = { "/../lib/dsvc/", "/../lib64/dsvc/", "/../lib/*/dsvc/" };
	const char *dir = getenv("DSVC_PLUGINS");
	char self[PATH_MAX], file[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	snprintf(arrow_known.why, sizeof arrow_known.why, "it was not built");
	if (dir && *dir) {
		snprintf(file, sizeof file, "%s/" ARROW_FILE, dir);
		arrow_try(file);
		return;
	}
	self[n > 0 ? n : 0] = 0;
	char *slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
		glob_t found = { 0 };
		bool done;

		snprintf(file, sizeof file, "%s%s" ARROW_FILE, self, beside[i]);
		done = !glob(file, 0, NULL, &found) && arrow_try(found.gl_pathv[0]);
		globfree(&found);
		if (done)
			return;
	}
}

const struct arrow_plugin *
arrow_lib(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, arrow_load);
	if (arrow_known.plugin)
		return arrow_known.plugin;
	err_set(e, ST_UNAVAIL, "Parquet and Arrow need the plugin " ARROW_FILE ": %s", arrow_known.why);
	err_help(e, "build dsvc where Arrow's C++ libraries are: `make deps` gets them, then `make`");
	return NULL;
}

enum status
arrow_lib_says(int code, const struct arrow_why *why, struct err *e)
{
	return err_set(e, code ? status_from_code((uint64_t)code) : ST_OK, "%s", why->text);
}
