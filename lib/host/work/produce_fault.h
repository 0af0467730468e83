/* SPDX-License-Identifier: MIT
 *
 * Elements of one stream that failed: counted, and the first of them written
 * down, until the dispatcher is told. Any thread of the stream's chain adds.
 */
#ifndef HOST_PRODUCE_FAULT_H
#define HOST_PRODUCE_FAULT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"
#include "wire/msg.h"

struct produce_fault {
	pthread_mutex_t lock;        /* all below */
	uint64_t failed;             /* those of earlier generations too */
	uint64_t told;               /* how many of them were reported */
	struct msg_faults_list list; /* not told yet */
	size_t cap, kept;            /* kept: written down so far */
	int64_t told_ns;
	atomic_uint_fast64_t offset; /* elements that the stream has given */
};

void produce_fault_init(struct produce_fault *f);
void produce_fault_clear(struct produce_fault *f);
void produce_fault_add(struct produce_fault *f, const struct op_failure *x);
/* Takes what is new, now or (not `all`) only when the last time is long ago.
 * False: nothing. Gives the list. */
bool produce_fault_take(struct produce_fault *f, bool all, uint64_t *failed,
			struct msg_faults_list *out);
/* Says what an operator has to tell people (op_ctx.note). */
void produce_note(void *arg, const struct op_node *n, const struct err *e);

#endif
