/* SPDX-License-Identifier: MIT */
#include "host/feed/feed_even.h"

enum status
feed_even(uint64_t rows, uint32_t cores, struct err *e)
{
	if (rows % cores == 0)
		return ST_OK;
	err_set(e, ST_DATA, "%llu rows cannot be shared evenly by %u cores", (unsigned long long)rows, cores);
	err_help(e, "batches of %llu or %llu rows", (unsigned long long)(rows < cores ? cores : rows / cores * cores),
		 (unsigned long long)((rows / cores + 1) * cores));
	return ST_DATA;
}
