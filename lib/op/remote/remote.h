/* SPDX-License-Identifier: MIT
 *
 * What `distribute` and `dataset` share: how the job is to be run, and taking
 * elements from the service that the program gave its chains (op_ctx.service).
 */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H

#include "op/op.h"

enum remote_order { REMOTE_ANY, REMOTE_STABLE, REMOTE_SOURCE };

/* The parameters as in the plan; the service is given the node, and so these. */
struct remote {
	int sharding;    /* index of the choice; remote_dynamic tells what it means */
	int order;       /* enum remote_order */
	char *job;       /* NULL: anonymous */
	char *dataset;   /* id of the dataset, with `dataset` only */
	int64_t shards, seed, epoch, window; /* shards, seed, window: may be PARAM_AUTO */
	void *handle;    /* while running: what the service's open gave */
};

#define REMOTE_ROWS \
	{ "sharding", PARAM_CHOICE, offsetof(struct remote, sharding), "dynamic", \
	  .flags = PARAM_KEY_ONLY, .choices = "off|dynamic|parallel_epochs|distributed_epoch", \
	  .help = "dynamic: the workers share the elements; off: each worker gives all of them" }, \
	{ "job", PARAM_WORD, offsetof(struct remote, job), \
	  .flags = PARAM_KEY_ONLY | PARAM_OPTIONAL | PARAM_NAME, \
	  .help = "name of a job that several readers share" }, \
	{ "order", PARAM_CHOICE, offsetof(struct remote, order), "any", .flags = PARAM_KEY_ONLY, \
	  .choices = "any|stable|source", \
	  .help = "any: as they come; stable: the same whatever workers there are; source: as without a service" }, \
	{ "shards", PARAM_INT, offsetof(struct remote, shards), "auto", \
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = 100000, \
	  .help = "number of streams, where it is fixed" }, \
	{ "seed", PARAM_INT, offsetof(struct remote, seed), "auto", \
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .help = "seed of the iteration" }, \
	{ "epoch", PARAM_INT, offsetof(struct remote, epoch), "1", .flags = PARAM_KEY_ONLY, \
	  .min = 1, .max = UINT32_MAX, .help = "which pass of the job" }, \
	{ "window", PARAM_INT, offsetof(struct remote, window), "auto", \
	  .flags = PARAM_KEY_ONLY | PARAM_ALLOW_AUTO, .min = 1, .max = 65536, \
	  .help = "chunks under way per stream" }

/* The parameters of a node of either operator. */
const struct remote *remote_of(const struct op_node *n);
bool remote_dynamic(const struct remote *r);
/* Whether the field of the row has the same meaning in both: `off` equals `parallel_epochs`. */
bool remote_same(const struct param *row, const struct remote *a, const struct remote *b);

enum status remote_open(struct op_inst *self, struct err *e);
enum status remote_next(struct op_inst *self, struct run *out, struct err *e);
void remote_close(struct op_inst *self);

#endif
