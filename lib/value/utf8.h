/* SPDX-License-Identifier: MIT
 *
 * Whether bytes are UTF-8, at the speed of a SIMD parser; str_utf8_valid tells
 * where they are not.
 */
#ifndef VALUE_UTF8_H
#define VALUE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

bool utf8_is_valid(const uint8_t *p, size_t n);

#ifdef __cplusplus
}
#endif

#endif
