/* SPDX-License-Identifier: MIT
 *
 * Elements of a stream that need not be sent. Of several views that get the same elements,
 * those that all of them have; and since some may have what others lack, a chunk ends wherever
 * that changes for one of them.
 */
#ifndef HOST_PRODUCE_SKIP_H
#define HOST_PRODUCE_SKIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msg_assign;
struct produce_skip { uint64_t *at; bool *none; size_t n, next; }; /* from at[i] on; none: nobody needs them */

void produce_skip_init(struct produce_skip *s, const struct msg_assign *a); /* fills */
void produce_skip_clear(struct produce_skip *s);
/* How many of the `left` elements from `offset` on, at least one, are alike; *skip: nobody needs them.
 * Offsets may only grow from call to call. */
uint64_t produce_skip_run(struct produce_skip *s, uint64_t offset, uint64_t left, bool *skip);
/* Whether what follows is not like the element before; after produce_skip_run for it. */
bool produce_skip_border(const struct produce_skip *s, uint64_t offset);

#endif
