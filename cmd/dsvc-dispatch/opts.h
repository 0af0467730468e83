/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-dispatch.
 */
#ifndef DISPATCH_OPTS_H
#define DISPATCH_OPTS_H

#include "cli/opt.h"
#include "cli/ready.h"

struct dispatch {
	struct words bind;
	bool insecure, quiet, until_stdin_eof, standby;
	int64_t verbose, exit_when_idle, job_gc, unfinished_gc, group_gc, dataset_gc, beat, loss;
	int log_format;
	struct ready ready;
	char *state, *allowed, *advertise;
};

extern const struct program dispatch_program;

/* Checks those that depend on each other, and fills what was not given. */
enum status opts_check(struct dispatch *o, const struct opt *opt, struct err *e);

#endif
