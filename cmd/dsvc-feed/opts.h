/* SPDX-License-Identifier: MIT
 *
 * The options of dsvc-feed.
 */
#ifndef DSVC_FEED_OPTS_H
#define DSVC_FEED_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"
#include "cli/opt.h"
#include "cli/program.h"
#include "cli/ready.h"
#include "host/feed/feed_host.h"
#include "value/columns.h"
#include "value/job_opts.h"

struct feed_opts {
	char *errors, *loop_text, *host_text;
	char *dispatcher, *context, *expression, *file, *wait_workers, *mask, *expect, *output, *checkpoint, *listen, *join;
	struct words set, include, axis_texts;
	struct job_opts job;
	struct ready ready;
	int64_t connect_timeout, tmp_max;
	int64_t jobs, give_up, cores, batch, epochs, steps, until, from, loop, loop_ns, prefetch, save_every, keep, slot_max;
	int64_t wait_cores, slow, core_timeout, grace, timeout, verbose;
	int64_t host, hosts;         /* this one, and how many */
	bool each_loop, batched, element_said, until_given, from_given, local, stats, insecure, quiet, fail_empty;
	int element, tail, pad, progress, as, results, format;
	/* not options: the command for each core, NULL: none; hosts read steps as rounds of a job, as `consumer`; and
	 * each only its places of them, with padding where rows are missing */
	char **command;
	bool rounds, padded;
	char *consumer;
	struct column_axis *axes;    /* axes.h */
	size_t n_axes;
};

extern const struct program feed_program;

/* Cuts the command off: it follows the first `--`. */
int opts_cut(int argc, char **argv, char ***command);
/* Compares options with each other. */
enum status opts_check(struct feed_opts *o, struct err *e);
/* Says what becomes of rows that are no whole step: as --tail says, else as is usual. */
enum feed_tail opts_tail(const struct feed_opts *o);

#endif
