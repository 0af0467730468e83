/* SPDX-License-Identifier: MIT
 *
 * Elements put together into one list, as batch and window do.
 */
#ifndef VALUE_PACK_H
#define VALUE_PACK_H

#include <string.h>

#include "value/elem.h"
#include "value/mp.h"

/* Copies n elements end to end. Adjacent ones, as sources make them, are copied together. */
static inline uint8_t *
pack_copy(uint8_t *to, const struct elem *e, uint32_t n)
{
	const uint8_t *from = e[0].p;
	size_t len = e[0].len;

	for (uint32_t i = 1; i < n; i++) {
		if (e[i].p == from + len) {
			len += e[i].len;
			continue;
		}
		memcpy(to, from, len);
		to += len;
		from = e[i].p;
		len = e[i].len;
	}
	memcpy(to, from, len);
	return to + len;
}

static inline size_t
pack_bytes(const struct elem *e, uint32_t n)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += e[i].len;
	return sum;
}

#endif
