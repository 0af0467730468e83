/* SPDX-License-Identifier: MIT
 *
 * One value as JSON, or as text: scalars bare, anything else as JSON. All append,
 * and take any bytes that mp_check let pass.
 *
 * json_print and text_print are for what people look at, in messages and reports: they write
 * any value, by json_rules_shown. Data goes through json_write and text_write, which keep to
 * the pipeline's rules.
 */
#ifndef JSON_JSON_PRINT_H
#define JSON_JSON_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "value/json_rules.h"

void json_print(const uint8_t *p, size_t len, struct buf *out);
void text_print(const uint8_t *p, size_t len, struct buf *out);
/* ST_DATA: the rules refuse something in it, which the error names; out is as it was. */
enum status json_write(const uint8_t *p, size_t len, const struct json_rules *rules, struct buf *out, struct err *e);
enum status text_write(const uint8_t *p, size_t len, const struct json_rules *rules, struct buf *out, struct err *e);

#endif
