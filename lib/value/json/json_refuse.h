/* SPDX-License-Identifier: MIT
 *
 * Says what in a value the rules of JSON output refuse.
 */
#ifndef JSON_JSON_REFUSE_H
#define JSON_JSON_REFUSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "value/json_rules.h"

/* Looks for what the rules refuse in a checked value: ST_DATA with its path and the remedies; ST_OK: nothing. */
enum status json_refuse(const uint8_t *p, size_t len, const struct json_rules *rules, struct err *e);
/* Looks in one field of a record or list, whose path begins with `name`. */
enum status json_refuse_in(const char *name, const uint8_t *p, size_t len, const struct json_rules *rules,
			   struct err *e);

#endif
