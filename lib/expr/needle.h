/* SPDX-License-Identifier: MIT
 *
 * Needles: texts of which every match of a regular expression holds at least
 * one. Most lines hold none, and that is found for many lines at once.
 */
#ifndef EXPR_NEEDLE_H
#define EXPR_NEEDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEEDLES_MAX = 8, NEEDLE_LEN = 64, NEEDLE_LEAST = 2, NEEDLE_PLACES = 64 };

struct needle {
	size_t n;
	uint8_t rare[2];    /* places in it of the bytes that are rare in texts */
	uint8_t s[NEEDLE_LEN];
};
struct needles {
	size_t n;           /* 0: nothing is known */
	bool all;           /* a needle is a match: each alternative is one, of ASCII alone */
	bool starts;        /* a needle is a match where the text begins, and only there: each alternative is ^ and ASCII */
	struct needle v[NEEDLES_MAX];
};

/* Finds the needles of a pattern without the flags i and x. Finds none when in doubt. */
void needles_find(const char *s, size_t n, struct needles *out);
/* The first place of the needle, or of the n bytes of s, in [p, end); NULL: there is none. */
const uint8_t *needle_next(const struct needle *k, const uint8_t *p, const uint8_t *end);
/* The first place of any needle in [p, end), or NULL. Adds to *lines how many bytes before that place, or before the
 * end, are `delim`. */
const uint8_t *needles_next(const struct needles *k, const uint8_t *p, const uint8_t *end, uint8_t delim,
			    uint64_t *lines);
/* How many bytes of [p, end) are c. */
size_t needle_count(const uint8_t *p, const uint8_t *end, uint8_t c);
/* Bit k is set where p[k] is c, for the next n bytes, at most NEEDLE_PLACES. */
uint64_t needle_places(const uint8_t *p, size_t n, uint8_t c);
const uint8_t *needle_search(const uint8_t *s, size_t n, const uint8_t *p, const uint8_t *end);

#endif
