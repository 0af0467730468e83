/* SPDX-License-Identifier: MIT */
#include "base/archive_lib.h"

#include <pthread.h>

static const char *const archive_names[] = { ARCHIVE_LIB_FNS(LATE_NAME) NULL };
static struct archive_lib archive_fns;
static struct late archive_late = { { "libarchive.so.13" }, "libarchive13", archive_names, &archive_fns, "" };

static void
archive_load(void)
{
	late_load(&archive_late);
}

const struct archive_lib *
archive_lib(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, archive_load);
	return late_get(&archive_late, e);
}
