/* SPDX-License-Identifier: MIT */
#ifndef HOST_FEED_EVEN_H
#define HOST_FEED_EVEN_H

#include <stdint.h>

#include "base/err.h"

/* Whether a batch can be cut for so many cores. ST_DATA, with sizes that could. */
enum status feed_even(uint64_t rows, uint32_t cores, struct err *e);

#endif
