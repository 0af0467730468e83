/* SPDX-License-Identifier: MIT
 *
 * What the files of inner chains share. The lock is held where inner chains are read ahead.
 */
#ifndef MANY_INNER_CHAINS_INNER_H
#define MANY_INNER_CHAINS_INNER_H

#include "op/many/inner_chains.h"

/* Whether handing a chain to a thread pays, by the costs measured so far. */
bool inner_chains_worth(const struct inner_chains *s);
/* Number of outer elements to open ahead. */
uint32_t inner_chains_next_most(const struct inner_chains *s);
enum status inner_chain_open(struct inner_chains *s, struct inner_chain *x, struct err *e);
void inner_chain_free(struct inner_chain *x);
/* Keeps a closed chain, whose memory is used again. */
void inner_chains_keep(struct inner_chains *s, struct inner_chain *x);
/* The inner chain to read next; NULL: none. */
struct inner_chain *inner_chains_pick(const struct inner_chains *s);
/* Makes the next outer element an inner chain; the lock is released meanwhile. */
void inner_chains_pull(struct inner_chains *s);
/* Does one piece of work. False: there is none. */
bool inner_chains_step(struct inner_chains *s);
/* The callbacks of the pool. */
bool inner_chains_work(void *arg);
void inner_chains_waits(void *arg);

#endif
