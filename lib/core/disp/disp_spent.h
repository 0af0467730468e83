/* SPDX-License-Identifier: MIT
 *
 * What workers have spent in each operator of a dataset, and how many elements came out of it, in
 * all passes since this process began. Nothing of it is durable; it goes with the dataset. Nobody
 * outside the dispatcher includes this.
 */
#ifndef DISP_DISP_SPENT_H
#define DISP_DISP_SPENT_H

#include "wire/msg.h"

struct buf;

struct spent { struct msg_op_time *v; size_t n; }; /* at most WIRE_OPS_MAX */

/* Adds what a worker tells. */
void spent_add(struct spent *s, const struct msg_op_times *told);
/* Appends the pair `operators` of a dataset in a report. */
void spent_report(struct buf *b, const struct spent *s);
void spent_clear(struct spent *s);

#endif
