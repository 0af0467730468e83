/* SPDX-License-Identifier: MIT */
#include "value/crc32c.h"

#include <isa-l/crc.h>

enum { CRC32C_STEP = 1 << 30 }; /* ISA-L takes an int */

uint32_t
crc32c_more(uint32_t crc, const void *p, size_t n)
{
	/* ISA-L does not write to the bytes, though its parameter is not const. */
	unsigned char *at = (unsigned char *)(uintptr_t)p;

	crc = ~crc;
	for (; n > CRC32C_STEP; n -= CRC32C_STEP, at += CRC32C_STEP)
		crc = crc32_iscsi(at, CRC32C_STEP, crc);
	return ~crc32_iscsi(at, (int)n, crc);
}

uint32_t
crc32c(const void *p, size_t n)
{
	return crc32c_more(0, p, n);
}
