/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-work.
 */
#ifndef WORK_OPTS_H
#define WORK_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"
#include "cli/program.h"
#include "cli/ready.h"
#include "host/work/fence.h"

struct work_options {
	char *join, *dispatcher, *context, *bind, *advertise, *name, *trace;
	struct ready ready;
	struct words tag;
	struct fence_conf fence;
	bool insecure, quiet, until_stdin_eof;
	int64_t tmp_max, trace_max;
	int64_t connect_timeout, slots, memory, restart_interval, give_up, drain_timeout, exit_when_idle, lifetime, verbose;
	int compression, transfer, data, log_format;
};

extern const struct program work_program;

#endif
