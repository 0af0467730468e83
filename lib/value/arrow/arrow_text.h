/* SPDX-License-Identifier: MIT
 *
 * Times and decimals of Arrow as text and as floats.
 */
#ifndef ARROW_ARROW_TEXT_H
#define ARROW_ARROW_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "value/arrow/arrow_inner.h"

/* Writes a time in ISO 8601: at most ARROW_TIME_MAX bytes; gives their number. */
size_t arrow_time_text(const struct arrow_node *n, int64_t v, char *out);
double arrow_time_seconds(const struct arrow_node *n, int64_t v);
/* Writes all digits of the number at p, `width` bytes of two's complement, at most ARROW_DECIMAL_MAX. */
size_t arrow_decimal_text(const struct arrow_node *n, const uint8_t *p, char *out);
double arrow_decimal_float(const struct arrow_node *n, const uint8_t *p);

#endif
