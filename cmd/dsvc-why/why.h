/* SPDX-License-Identifier: MIT
 *
 * Asks a dispatcher what limits a pass, and says it.
 */
#ifndef WHY_WHY_H
#define WHY_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/endpoint.h"
#include "cli/program.h"

struct why {
	char *dispatcher, *context;
	bool json, quiet, insecure;
	int64_t connect_timeout, verbose, timeout;
};

/* job: name or number; NULL: the only one that is under way, else the last. */
enum status why_run(const struct why *o, const struct endpoint *ep, const char *job, struct err *e);

#endif
