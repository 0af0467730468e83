/* SPDX-License-Identifier: MIT
 *
 * Whether two short stretches of bytes are the same: like memcmp() == 0, but without a call for up to 16
 * bytes, as names and keys have; two words are read, which may overlap.
 */
#ifndef BASE_SAME_H
#define BASE_SAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool
same_bytes(const uint8_t *a, const uint8_t *b, size_t n)
{
	uint64_t one[2], other[2];
	uint32_t first[2], last[2];

	if (n > 16)
		return !memcmp(a, b, n);
	if (n >= 8) {
		memcpy(&one[0], a, 8);
		memcpy(&one[1], a + n - 8, 8);
		memcpy(&other[0], b, 8);
		memcpy(&other[1], b + n - 8, 8);
		return !((one[0] ^ other[0]) | (one[1] ^ other[1]));
	}
	if (n < 4)
		return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
	memcpy(&first[0], a, 4);
	memcpy(&first[1], b, 4);
	memcpy(&last[0], a + n - 4, 4);
	memcpy(&last[1], b + n - 4, 4);
	return first[0] == first[1] && last[0] == last[1];
}

#endif
