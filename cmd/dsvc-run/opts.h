/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-run, and the table that reads and documents them.
 */
#ifndef RUN_OPTS_H
#define RUN_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"
#include "cli/format_rows.h"
#include "cli/program.h"

enum print { PRINT_NOTHING, PRINT_TOKENS, PRINT_TREE, PRINT_PLAN, PRINT_CANONICAL };

struct run_opts {
	bool insecure;
	char *dispatcher, *context, *expression, *file, *output, *help_op, *errors, *joblog, *halt, *trace;
	struct words set, with, include;
	int64_t connect_timeout, tmp_max, count, jobs, seed, verbose, max_errors, timeout, trace_max;
	int format, print, progress, graph;
	struct format_opts form;
	struct json_rules json; /* said by the user, for json_rules_say */
	bool nul, check, ops, functions, stats, quiet, test, explain, try, fmt, write, fail_empty;
	bool dry_run, resume, resume_failed, tag;
};

extern const struct program run_program;

#endif
