/* SPDX-License-Identifier: MIT
 *
 * group_by with three threads and more: each has the keys of its part of the hashes, in a table of its own.
 *
 *	stream: keys and values of elements --> batch of rows --> lane 0: keys, groups
 *	                                   \--> batch of rows --> lane 1: keys, groups
 *
 * The stream's thread evaluates the expressions, so elements that fail are told as ever, and in order. The
 * elements of one key come to one lane, in their order, so what its group comes to does not depend on
 * threads. Each key has the number of its first element: at the end the lanes' keys are given in the order
 * of these numbers, which is the order in which one table would have them.
 *
 * A batch holds up to GROUP_BY_LANES_BATCH bytes, or one element that is larger; GROUP_BY_LANES_QUEUE of them
 * wait for each lane at most, then the stream waits. They come on top of mem=, which is for keys and states.
 */
#ifndef WHOLE_GROUP_BY_LANES_H
#define WHOLE_GROUP_BY_LANES_H

#include "op/whole/group_by.h"

enum { GROUP_BY_LANES_LEAST = 3 /* threads; two are faster with one table, and what comes before it on the other */ };
enum { GROUP_BY_LANES_BATCH = 128 * 1024, GROUP_BY_LANES_QUEUE = 4, GROUP_BY_LANES_MOST = 16 };

/* Whether this instance may have lanes; those of workers, which are saved, and of inner pipelines may not. */
bool group_by_lanes_may(const struct op_inst *self);
/* Starts the lanes: g->lanes is set. */
enum status group_by_lanes_open(struct op_inst *self, struct err *e);
/* Stops and frees the lanes, if there are any. */
void group_by_lanes_close(struct group_by_lanes **lanes);
/* The callbacks feed and finish. */
enum status group_by_lanes_feed(struct op_inst *self, const struct run *in, struct run *out, struct err *e);
enum status group_by_lanes_finish(struct op_inst *self, struct run *out, struct err *e);

#endif
