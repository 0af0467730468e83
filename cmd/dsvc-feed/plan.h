/* SPDX-License-Identifier: MIT
 *
 * From the operands and options to the source of elements.
 */
#ifndef DSVC_FEED_PLAN_H
#define DSVC_FEED_PLAN_H

#include "host/feed/feed_host.h"
#include "host/service.h"
#include "opts.h"

/* Zero is empty; plan_clear_source clears. */
struct feed_plan {
	struct plan *plan;
	struct split_threads *threads; /* in the plan; NULL: it runs in one thread */
	struct types *types;
	struct service service;
	struct buf spec, type;       /* for the service */
	char dataset[64];            /* id of the pipeline; "": a registered dataset */
	const struct type *element;  /* NULL: not known */
	const struct type *expect;
	bool resumable;
};

/* Fills what and source of the host's configuration; both lend from p and o. */
enum status feed_plan_make(struct feed_plan *p, struct feed_opts *o, const struct opt *opt, const struct endpoint *ep,
			   struct feed_host_conf *c, struct err *e);
/* Steps of a whole pass; UINT64_MAX: that is not known beforehand. */
uint64_t feed_plan_steps(const struct feed_plan *p, const struct feed_opts *o);
void feed_plan_clear(struct feed_plan *p);

#endif
