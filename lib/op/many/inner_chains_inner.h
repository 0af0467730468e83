/* SPDX-License-Identifier: MIT
 *
 * What the files of inner chains share. The lock is held where inner chains are read ahead.
 */
#ifndef MANY_INNER_CHAINS_INNER_H
#define MANY_INNER_CHAINS_INNER_H

#include "op/many/inner_chains.h"

/* Whether handing a chain over to a thread pays, as things are. */
bool inner_chains_worth(const struct inner_chains *s);
/* How many outer elements are to be opened ahead. */
uint32_t inner_chains_next_most(const struct inner_chains *s);
enum status inner_chain_open(struct inner_chains *s, struct inner_chain *x, struct err *e);
void inner_chain_free(struct inner_chain *x);
/* Takes a closed one, to be used again. */
void inner_chains_keep(struct inner_chains *s, struct inner_chain *x);
/* Whose chain is to be pulled next; NULL: none. */
struct inner_chain *inner_chains_pick(const struct inner_chains *s);
/* The next outer element becomes an inner chain; the lock is not held meanwhile. */
void inner_chains_pull(struct inner_chains *s);
/* One piece of work. False: there is none. */
bool inner_chains_step(struct inner_chains *s);
/* What the pool calls. */
bool inner_chains_work(void *arg);
void inner_chains_waits(void *arg);

#endif
