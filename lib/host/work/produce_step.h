/* SPDX-License-Identifier: MIT
 *
 * A careful stream: its thread waits before each run of elements until the dispatcher knows of it. All of it with
 * the lock of the stream held, but for `ahead`.
 */
#ifndef HOST_PRODUCE_STEP_H
#define HOST_PRODUCE_STEP_H

#include <stdatomic.h>
#include <stdbool.h>

struct produce_step {
	enum { STEP_FREE, STEP_NEEDED, STEP_ASKED, STEP_GIVEN } is;
	atomic_bool ahead;   /* set by the chain: its threads make elements before they are asked for */
};

void produce_step_init(struct produce_step *s, bool careful);
bool produce_step_asks(struct produce_step *s);  /* true, once: the dispatcher has to be asked */
bool produce_step_waits(const struct produce_step *s);
void produce_step_taken(struct produce_step *s); /* a run is made now */
void produce_step_answer(struct produce_step *s, bool free);

#endif
