/* SPDX-License-Identifier: MIT
 *
 * How many threads to have, said by the processors of the machine: 50%, +2, -1, or 0
 * for one per processor.
 */
#ifndef BASE_PROCESSORS_H
#define BASE_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a number that is relative to `all` processors into *out, which is at least 1 and at most
 * INT32_MAX; a share is rounded down. False: the text is no such number, which 12 is not, either. */
bool processors_read(const char *text, size_t n, int64_t all, int64_t *out);

#endif
