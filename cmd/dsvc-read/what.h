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
	struct buf text;         /* a registered pipeline that is planned again */
};

/* The dataset or the checked plan that the operands or options name. */
enum status what_plan(struct what *w, const struct read_options *o, const struct opt *opt,
		      const struct endpoint *ep, struct err *e);
/* Elements that the reader would get; 0: not known. Others may take some of a job with a name. */
uint64_t what_elements(const struct what *w, const struct read_options *o);
/* Whether the elements may be the records that the options ask for. job: as it will be read. */
enum status what_logged(const struct what *w, const struct read_options *o, const struct job_opts *job, struct err *e);
/* --halt: whether a failed element makes the run fail. */
bool what_is_strict(const struct what *w);
/* Puts what the workers are to run into w->spec, and the type of its elements into w->type. */
void what_spec(struct what *w);
void what_clear(struct what *w);

#endif
