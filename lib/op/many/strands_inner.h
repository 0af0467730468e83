/* SPDX-License-Identifier: MIT
 *
 * What the files of strands share. The lock is held where strands are read ahead.
 */
#ifndef MANY_STRANDS_INNER_H
#define MANY_STRANDS_INNER_H

#include "op/many/strands.h"

/* Whether handing a chain over to a thread pays, as things are. */
bool strands_worth(const struct strands *s);
/* How many outer elements are to be opened ahead. */
uint32_t strands_next_most(const struct strands *s);
enum status strand_open(struct strands *s, struct strand *x, struct err *e);
void strand_free(struct strand *x);
/* Takes a closed one, to be used again. */
void strands_keep(struct strands *s, struct strand *x);
/* Whose chain is to be pulled next; NULL: none. */
struct strand *strands_pick(const struct strands *s);
/* The next outer element becomes a strand; the lock is not held meanwhile. */
void strands_pull(struct strands *s);
/* One piece of work. False: there is none. */
bool strands_step(struct strands *s);
/* What the pool calls. */
bool strands_work(void *arg);
void strands_waits(void *arg);

#endif
