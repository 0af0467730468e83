/* SPDX-License-Identifier: MIT */
#include "base/archive_lib.h"

static const char *const archive_names[] = { ARCHIVE_LIB_FNS(LATE_NAME) NULL };
static struct archive_lib archive_fns;
static struct late archive_late = { { "libarchive.so.13" }, "libarchive13", archive_names, &archive_fns, LATE_LOCK };

const struct archive_lib *
archive_lib(struct err *e)
{
	return late_get(&archive_late, e);
}
