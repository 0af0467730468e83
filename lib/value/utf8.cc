// SPDX-License-Identifier: MIT
#include "value/utf8.h"

#include <simdjson.h>

extern "C" bool
utf8_is_valid(const uint8_t *p, size_t n)
{
	return simdjson::validate_utf8(reinterpret_cast<const char *>(p), n);
}
