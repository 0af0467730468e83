/* SPDX-License-Identifier: MIT
 *
 * Copies of elements in the middle of a stream's chain, for somebody who looks: the next few that
 * one operator gives, whichever thread it runs on.
 */
#ifndef HOST_PRODUCE_TAP_H
#define HOST_PRODUCE_TAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "value/elem.h"
#include "wire/msg.h"

enum { PRODUCE_TAP_ELEMENT = 64 << 10 }; /* bytes: larger elements are left out */

struct produce_tap {
	atomic_uint place;    /* number of the operator, as in struct op_ctx; 0: nobody looks */
	pthread_mutex_t lock; /* guards what follows */
	uint32_t left;        /* elements still wanted */
	uint64_t tool;        /* for whom */
};

void produce_tap_init(struct produce_tap *t);
void produce_tap_clear(struct produce_tap *t);
/* Takes the place of what was asked before. */
void produce_tap_ask(struct produce_tap *t, const struct msg_tap *ask);
/* Takes elements of this run. False: none is wanted any more. Fills out but for its key; the bytes are given. */
bool produce_tap_take(struct produce_tap *t, const struct run *r, struct msg_tapped *out);

#endif
