/* SPDX-License-Identifier: MIT
 *
 * The choice of a pipeline, or of an output, about what JSON cannot hold: infinity and NaN, and
 * texts that are no UTF-8. Zero is the usual choice: null for the first, an error for the second.
 * Values of one kind are in the order of the words in JSON_NONFINITE_CHOICES and JSON_INVALID_CHOICES.
 */
#ifndef VALUE_JSON_RULES_H
#define VALUE_JSON_RULES_H

#include <stdbool.h>

enum json_nonfinite { JSON_NONFINITE_NULL, JSON_NONFINITE_ERROR, JSON_NONFINITE_STRING };
#define JSON_NONFINITE_CHOICES "null|error|string"

enum json_invalid { JSON_INVALID_ERROR, JSON_INVALID_REPLACE };
#define JSON_INVALID_CHOICES "error|replace"

struct json_rules {
	int nonfinite;    /* enum json_nonfinite: null, refused, or "NaN", "Infinity" and "-Infinity" */
	int invalid_utf8; /* enum json_invalid: refused, or U+FFFD for each byte that belongs to no character */
};

/* For what people look at: nothing is refused. */
extern const struct json_rules json_rules_shown;

/* Sets what a user says in place of it: said has numbers of words from 1, 0: nothing is said. */
void json_rules_say(struct json_rules *r, const struct json_rules *said);

/* Writes a float as JSON: at most NUM_FLOAT_MAX bytes. Sets *refused if it must not be written, and writes
 * null. Gives the end. */
char *json_rules_float(const struct json_rules *r, double f, bool *refused, char *out);

#endif
