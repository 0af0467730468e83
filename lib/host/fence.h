/* SPDX-License-Identifier: MIT
 *
 * What the pipelines of others may do on a worker: which files they may open
 * (base/gate.h) and which programs they may run (op/child_rules.h). On the
 * private socket of a user everything, elsewhere nothing, unless the worker's
 * owner says what.
 */
#ifndef HOST_FENCE_H
#define HOST_FENCE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"

/* The options of dsvc-work; all lent. */
struct fence_conf {
	struct words read, write; /* files and folders; none: the default */
	struct words exec;        /* programs, folders, or the word `any` */
};

/* Puts up the fence for the rest of the process; before there are threads. strangers: others than
 * this user may reach the worker, or the dispatcher that it listens to. */
enum status fence_up(const struct fence_conf *c, bool strangers, struct err *e);

#endif
