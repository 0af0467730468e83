/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-register, and the table that reads and documents them.
 */
#ifndef REGISTER_OPTS_H
#define REGISTER_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"
#include "cli/program.h"

struct reg_opts {
	bool insecure;
	char *join, *dispatcher, *context, *expression, *file, *id;
	struct words set, include;
	bool hash, check, explain, quiet;
	int64_t connect_timeout, verbose, timeout;
};

extern const struct program reg_program;

#endif
