/* SPDX-License-Identifier: MIT
 *
 * What children of `exec`, `sh` and `cmd` may do in this process: set once by a
 * program that runs the pipelines of others (host/fence.h), before there are
 * threads, and only read from then on.
 */
#ifndef OP_CHILD_RULES_H
#define OP_CHILD_RULES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"

struct child_rules {
	bool list;             /* only these programs may be run */
	struct words programs; /* programs and folders, as the owner named them; lent */
};

/* Takes the rules, resolving names of programs in PATH. ST_NOINPUT: one of them is not there. */
enum status child_rules_set(const struct child_rules *r, struct err *e);
/* Whether the program at that path may be run: it is named, or lies in a folder that is, or below. */
enum status child_rules_check(const char *path, const char *name, struct err *e);

#endif
