/* SPDX-License-Identifier: MIT
 *
 * Where the time of a running pass goes now: what readers, slots and operators did in the last
 * seconds, as the BEATs of workers and readers tell. What was told LATELY_NS ago counts half,
 * what was told twice as long ago a quarter. Nothing of it is durable. Nobody outside the
 * dispatcher includes this.
 */
#ifndef DISP_DISP_LATELY_H
#define DISP_DISP_LATELY_H

#include <stddef.h>
#include <stdint.h>

struct disp;
struct iteration;
struct peer;
struct msg_clock;

#define LATELY_NS 3000000000LL

/* Times in ns. */
struct lately_op { uint32_t place; double ns; };
struct lately {
	int64_t at;               /* disp.now when the times were last made less */
	double slot_work, slot_wait;           /* slots: making, held back by readers */
	double read_work, read_wait, read_out; /* readers: with elements, without; part of the first: output blocked */
	struct lately_op *ops;    /* at most WIRE_OPS_MAX */
	size_t n_ops;
};

void lately_beat(struct disp *d, struct iteration *it, const struct peer *p, const struct msg_clock *c);
void lately_free(struct lately **l);

#endif
