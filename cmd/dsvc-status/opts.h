/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-status.
 */
#ifndef STATUS_OPTS_H
#define STATUS_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/program.h"

struct status_options {
	char *dispatcher, *audit;
	bool json, watch, quiet;
	int64_t interval, verbose, timeout;
};

extern const struct program status_program;

#endif
