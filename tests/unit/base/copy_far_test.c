/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/copy_far.h"

enum { ROOM = 700 };

static void
every_length_is_copied_at_every_place(void **state)
{
	uint8_t from[ROOM], to[ROOM], want[ROOM];

	(void)state;
	for (size_t i = 0; i < ROOM; i++)
		from[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t at = 0; at < 70; at++)
		for (size_t n = 0; n < 300; n++) {
			memset(to, 0xee, sizeof to);
			memset(want, 0xee, sizeof want);
			memcpy(want + at, from + n % 17, n);
			copy_far(to + at, from + n % 17, n);
			assert_memory_equal(to, want, sizeof to); /* nor is anything else written */
		}
}
