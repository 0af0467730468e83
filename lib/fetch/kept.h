/* SPDX-License-Identifier: MIT
 *
 * Small parts of objects that came last, for whoever reads the same object next: small splits of a file lie side by
 * side, and a request for the first brings the bytes of many behind it.
 *
 * The whole process has one such store, of a few parts. It is safe to use from any thread.
 */
#ifndef FETCH_KEPT_H
#define FETCH_KEPT_H

#include <stddef.h>
#include <stdint.h>

enum { KEPT_PART = 256 * 1024 }; /* the most bytes of a part */

/* Bytes [at, at + n) of the object with that tag, which has `size` bytes. Takes p. */
void kept_put(const char *url, const char *tag, uint64_t size, uint64_t at, uint8_t *p, size_t n);
/* Gives a copy of the bytes from `at` on as far as they are kept, at least one, and fills n and size; NULL: none. */
uint8_t *kept_get(const char *url, const char *tag, uint64_t at, size_t *n, uint64_t *size);

#endif
