/* SPDX-License-Identifier: MIT
 *
 * Reasons why no connection comes up, in words: libzmq tells none. Addresses are tried on a
 * thread of their own, since names of hosts may take long to look up.
 */
#ifndef HOST_WHY_H
#define HOST_WHY_H

#include <stdbool.h>
#include <stdint.h>

enum { WHY_TEXT = 256, WHY_WAITING = 8 };

struct why;

/* wake: base/wake.h, set when there is an answer; the caller may close it at any time. */
struct why *why_new(int wake); /* gives */
/* Asks about a TCP or ipc address; when WHY_WAITING questions wait it is answered without a look. */
void why_ask(struct why *y, uint64_t id, const char *address);
/* An answer, if there is one. */
bool why_take(struct why *y, uint64_t *id, char out[WHY_TEXT]);
void why_free(struct why **y); /* accepts NULL; does not wait */

#endif
