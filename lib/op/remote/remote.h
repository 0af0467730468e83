/* SPDX-License-Identifier: MIT
 *
 * What `distribute` and `dataset` share: how the job is to be run, and taking
 * elements from the service that the program gave its chains (op_ctx.service).
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "op/op.h"
#include "value/job_opts.h"

/* The parameters as in the plan; the service is given the node, and so these. */
struct remote {
	struct job_opts job; /* first, where the planner looks for it */
	char *dataset;       /* id of the dataset, with `dataset` only */
	char *type;          /* the type that its elements are to have, with `dataset` only; NULL: as it comes */
	char *at;            /* address of another service, with its scheme; NULL: the program's */
	void *handle;        /* while running: what the service's open gave */
	struct run records;  /* logged: what the service gave, in which our answers lie */
	struct buf from;     /* the saved state; empty: nothing was given before */
};

/* The parameters of a node of either operator. */
const struct remote *remote_of(const struct op_node *n);

/* The row `at`, and what completes its value: to be called from `typing`. */
#define REMOTE_AT_ROW \
	{ .name = "at", .arg = "ENDPOINT", .kind = PARAM_WORD, .offset = offsetof(struct remote, at), \
	  .flags = PARAM_KEY_ONLY | PARAM_RARE | PARAM_OPTIONAL | PARAM_NAME, \
	  .help = "address of the dispatcher of another service, instead of the one that -d names" }
void remote_address(struct op_node *n);
enum status remote_open(struct op_inst *self, struct err *e);
enum status remote_next(struct op_inst *self, struct run *out, struct err *e);
void remote_close(struct op_inst *self);
void remote_save(struct op_inst *self, struct buf *out);
enum status remote_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
