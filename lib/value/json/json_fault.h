/* SPDX-License-Identifier: MIT
 *
 * Where and why a text is not JSON: the fast parser only says that it is not.
 */
#ifndef JSON_JSON_FAULT_H
#define JSON_JSON_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_fault {
	size_t at;          /* offset of the first byte that is wrong */
	const char *reason; /* static */
};

/* Whether the text is not exactly one JSON value; if so, fills *f. */
bool json_fault(const uint8_t *p, size_t n, struct json_fault *f);

/* Reads one number: gives its length at p (0: none), and its kind: 'l' int in i, 'u' int in u,
 * 'd' to be read as a float, 0 an int outside 64 bits. */
struct json_number {
	char kind;
	union {
		int64_t i;
		uint64_t u;
	};
};
size_t json_number(const uint8_t *p, size_t n, struct json_number *out);

#endif
