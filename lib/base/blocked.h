/* SPDX-License-Identifier: MIT
 *
 * Time for which a thread was blocked, such as in writing to a pipe that nobody empties. One
 * thread at a time counts it; any may read it, also while the thread is blocked.
 */
#ifndef BASE_BLOCKED_H
#define BASE_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

struct blocked { uint64_t ns, since; }; /* since: clock_mono_ns; 0: it is not blocked. Zero is a valid beginning. */

void blocked_begin(struct blocked *b);
void blocked_end(struct blocked *b);
bool blocked_is(const struct blocked *b);
uint64_t blocked_ns(const struct blocked *b); /* in all so far */

#endif
