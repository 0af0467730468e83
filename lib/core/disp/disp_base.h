/* SPDX-License-Identifier: MIT
 *
 * Where the rounds of a pass begin: behind those that another number of consumers had.
 */
#ifndef DISP_DISP_BASE_H
#define DISP_DISP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/msg.h"

struct asked;
struct disp;
struct iteration;
struct job;
struct peer;
struct waiting;

struct base {
	uint64_t begin;           /* rounds that were had before */
	struct msg_number *of;    /* for each stream, the elements that were given in them; none: 0 for all */
	size_t n_of, cap_of;
};

/* The greatest round that all who wait can go on from becomes the begin of the pass. False: there is none; all
 * are answered. */
bool base_settle(struct disp *d, struct iteration *it);
/* Whether the reader cannot go on where its pass has begun: that is answered. */
bool base_refuses(struct disp *d, struct peer *p, const struct msg *m, const struct iteration *it);
uint64_t base_of(const struct iteration *it, size_t stream);
/* Another number of consumers wants to go on with the job: nobody reads it, and its name is free for theirs. False:
 * somebody does, which is answered. */
bool base_replaces(struct disp *d, struct peer *p, const struct msg *m, struct job *j, uint32_t places);
void base_unname(struct disp *d, struct job *j);        /* its name is for another job */
/* Whether they may want that. */
bool base_differs(const struct job *j, const struct msg *m, uint32_t places);
void base_fill(const struct iteration *it, struct msg_job *m); /* lends */

#endif
