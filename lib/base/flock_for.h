/* SPDX-License-Identifier: MIT
 *
 * A lock on a file that several machines write, without waiting for ever: who has it
 * may have been stopped, or have lost contact.
 */
#ifndef BASE_FLOCK_FOR_H
#define BASE_FLOCK_FOR_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the lock (LOCK_EX), or gives up waiting after ns: then the caller goes on without. False
 * and errno: files here cannot be locked. */
bool flock_for(int fd, int64_t ns);

#endif
