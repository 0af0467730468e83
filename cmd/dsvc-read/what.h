/* SPDX-License-Identifier: MIT
 *
 * What the command line asks to be read, and how many workers it waits for.
 */
#ifndef READ_WHAT_H
#define READ_WHAT_H

#include "cli/opt.h"
#include "read.h"

/* A dataset's id, or a plan. Zero is empty; the plan and the buffers are owned. */
struct what {
	const char *dataset;
	struct plan *plan;
	struct buf spec, type;
};

/* The dataset or the checked plan that the operands or options name. */
enum status what_plan(struct what *w, const struct read_options *o, const struct opt *opt,
		      const struct endpoint *ep, struct err *e);
/* Elements that the reader would get; 0: not known. Others may take some of a job with a name. */
uint64_t what_elements(const struct what *w, const struct read_options *o);
void what_clear(struct what *w);

#endif
