/* SPDX-License-Identifier: MIT
 *
 * The checksum of TFRecord and of saved files: CRC-32C (Castagnoli); that of TFRecord is
 * masked so that data that holds checksums can be summed again. By ISA-L, which picks what
 * the machine can do.
 */
#ifndef VALUE_CRC32C_H
#define VALUE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *p, size_t n);
/* The checksum of bytes whose checksum is `crc` (of none: 0), followed by these. */
uint32_t crc32c_more(uint32_t crc, const void *p, size_t n);
static inline uint32_t
crc32c_masked(const void *p, size_t n)
{
	uint32_t crc = crc32c(p, n);

	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

#endif
