/* SPDX-License-Identifier: MIT
 *
 * --test: runs the tests that stand in spec files (lang/testblock.h). Each is a
 * run of this program, in a process of its own, with the spec's file, the test's
 * options and nothing from DSVC_... but where the dispatcher is.
 */
#ifndef RUN_SELFTEST_H
#define RUN_SELFTEST_H

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"

/* Appends a line for each test, and what differs. ST_NO when some failed. */
enum status selftest_run(char *const *files, size_t n, const struct words *dirs, struct buf *out,
			 struct err *e);

#endif
