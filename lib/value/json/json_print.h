/* SPDX-License-Identifier: MIT
 *
 * One value as JSON, or as text: scalars bare, anything else as JSON. Both append,
 * and take any bytes that mp_check let pass.
 */
#ifndef JSON_JSON_PRINT_H
#define JSON_JSON_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void json_print(const uint8_t *p, size_t len, struct buf *out);
void text_print(const uint8_t *p, size_t len, struct buf *out);

#endif
