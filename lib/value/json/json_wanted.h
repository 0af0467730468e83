/* SPDX-License-Identifier: MIT
 *
 * Which field of a projection a name is: asked for every field of every record.
 */
#ifndef JSON_JSON_WANTED_H
#define JSON_JSON_WANTED_H

#include <stdbool.h>
#include <string.h>

#include "value/json/json.h"

/* memcmp() == 0 without the call, which is most of the cost for names. */
static inline bool
json_same_bytes(const void *a, const void *b, size_t n)
{
	const uint8_t *s = a, *t = b;
	uint64_t x, y;
	uint32_t v, w;
	size_t i = 0;

	if (n >= 8) {
		for (;; i += 8) {
			if (i > n - 8)
				i = n - 8; /* the last eight bytes, which may overlap */
			memcpy(&x, s + i, 8);
			memcpy(&y, t + i, 8);
			if (x != y)
				return false;
			if (i == n - 8)
				return true;
		}
	}
	if (n >= 4) {
		memcpy(&v, s, 4);
		memcpy(&w, t, 4);
		if (v != w)
			return false;
		memcpy(&v, s + n - 4, 4);
		memcpy(&w, t + n - 4, 4);
		return v == w;
	}
	for (; i < n; i++)
		if (s[i] != t[i])
			return false;
	return true;
}

/* Index of the name in the projection; f->n: it is not in it. Records mostly have their fields
 * in the order in which they are wanted: `hint` is tried first. */
static inline size_t
json_wanted(const struct json_fields *f, size_t hint, const uint8_t *s, uint32_t n)
{
	if (hint < f->n && f->lens[hint] == n && json_same_bytes(f->names[hint], s, n))
		return hint;
	for (size_t k = 0; k < f->n; k++)
		if (f->lens[k] == n && k != hint && json_same_bytes(f->names[k], s, n))
			return k;
	return f->n;
}

#endif
