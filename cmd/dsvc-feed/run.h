/* SPDX-License-Identifier: MIT
 *
 * What dsvc-feed does while it feeds: results to the output, positions to the file, words to stderr.
 */
#ifndef DSVC_FEED_RUN_H
#define DSVC_FEED_RUN_H

#include "book.h"
#include "cli/output.h"
#include "host/feed/feed_host.h"
#include "keep.h"
#include "opts.h"
#include "show.h"

struct feed_run {
	struct feed_opts *o;
	char *checkpoint, *output;   /* with the number of the host in them */
	struct output *out;          /* NULL: no results are taken */
	struct keep keep;
	uint64_t bytes;              /* length of the output that counts */
	int64_t saved_ns, began_ns;
	struct feed_host_end end;
	struct book book;
	struct show show;
};

/* Fills the callbacks of the configuration, opens the output, and finds where to go on. */
enum status feed_run_open(struct feed_run *r, struct feed_opts *o, struct feed_host_conf *c, struct err *e);
/* Runs, and closes all of it. Gives the exit code; what failed has been printed. */
int feed_run(struct feed_run *r, const struct feed_host_conf *c);
void feed_run_clear(struct feed_run *r);

#endif
