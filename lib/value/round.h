/* SPDX-License-Identifier: MIT
 *
 * Rounds: the elements of a stream in rows of `of` places, element o at place o mod `of` of
 * row o div `of`; and a part of them: places [first, first + n) of every row. Who has a part
 * counts its elements from 0, in their order. The whole is the part { 1, 0, 1 }.
 */
#ifndef VALUE_ROUND_H
#define VALUE_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { ROUND_PLACES_MAX = 10000 };

struct round_part { uint32_t of, first, n; };
#define ROUND_ALL (struct round_part){ 1, 0, 1 }

/* Whether it is a part of something: 0 < n, and all its places are below `of`. */
bool round_ok(const struct round_part *p);
bool round_meet(const struct round_part *a, const struct round_part *b); /* some element is in both */
/* Reads "2/4" or "2-3/4" (NULL or "": the whole); ST_USAGE. */
enum status round_parse(const char *text, struct round_part *out, struct err *e);
/* How many of the first `offset` elements of the stream are in the part. */
uint64_t round_below(const struct round_part *p, uint64_t offset);
/* The offset, in the stream, of the part's element k; UINT64_MAX if that is too large. */
uint64_t round_at(const struct round_part *p, uint64_t k);

/* Elements that fill no round of their stream stand one behind the other: number k is at place k mod `of`. If they are
 * to be spread, `all` says how many there are: those of the last round are at even distances in it, and the numbers
 * from `all` on are what fills its other places. 0: they are not spread. */
uint64_t round_spread(uint32_t of, uint64_t all, uint64_t k); /* gives k, or the number that has its place */
/* How many of the first k of them are in the part. */
uint64_t round_spread_below(const struct round_part *p, uint64_t all, uint64_t k);

#endif
