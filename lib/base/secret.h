/* SPDX-License-Identifier: MIT
 *
 * Secrets of 128 bits: drawn from the system, or made out of another one and some
 * numbers, in such a way that nobody who lacks that other one can make them or find
 * it out. They travel as two numbers.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct secret { uint64_t high, low; }; /* both 0: none */

struct secret secret_new(void);
/* Gives one and the same for equal keys and numbers, in every process. */
struct secret secret_derive(struct secret key, const uint64_t *v, size_t n);
/* Whether both are the same; takes the same time wherever they differ. */
bool secret_same(struct secret a, struct secret b);

static inline bool
secret_none(struct secret s)
{
	return !(s.high | s.low);
}

#endif
