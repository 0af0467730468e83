/* SPDX-License-Identifier: MIT
 *
 * Copies of many bytes that this processor will not read again, such as those into
 * memory that another process maps.
 *
 * memcpy reads each line of the target before it writes it, and drives out of the
 * cache what is still needed there. Here lines are written past the cache where the
 * machine can do that; elsewhere it is memcpy.
 */
#ifndef BASE_COPY_FAR_H
#define BASE_COPY_FAR_H

#include <stddef.h>

enum { COPY_FAR_LEAST = 16 * 1024 }; /* bytes from which on it may be faster than memcpy */

/* Like memcpy. All of it can be seen by other threads and processes that are told of it afterwards. */
void copy_far(void *to, const void *from, size_t n);

#endif
