/* SPDX-License-Identifier: MIT
 *
 * The option --wait-workers N[/DURATION] of programs that begin a job: how many workers are to be
 * there, and how long that is waited for.
 */
#ifndef CLI_WAIT_WORKERS_H
#define CLI_WAIT_WORKERS_H

#include "base/err.h"
#include "value/job_opts.h"

#define OPT_WAIT_WORKERS(at, more) \
	{ .name = "wait-workers", .arg = "N[/DURATION]", .kind = PARAM_WORD, .offset = (at), .flags = (more), .def = "1/10s", \
	  .help = "wait until N workers are ready, at most DURATION; 0: wait for the first, however long it takes" }

/* Sets min_workers and wait_ms. ST_USAGE: the text is something else. */
enum status wait_workers(const char *text, struct job_opts *job, struct err *e);

#endif
