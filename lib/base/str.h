/* SPDX-License-Identifier: MIT
 *
 * Texts: numbers with units as users write them, words that are nearly right,
 * patterns of names.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All readers of numbers take the whole text or fail (false, *out untouched). 10_000, 0x40,
 * -3; the size suffixes k M G T and Ki Mi Gi Ti are powers of 1024, kB MB GB TB powers of
 * 1000. Overflow fails. */
bool str_int(const char *s, size_t n, int64_t *out);
bool str_size(const char *s, size_t n, int64_t *out);
/* Units ns us ms s m h d; bare numbers are seconds; fractions are allowed (0.5s). */
bool str_duration_ns(const char *s, size_t n, int64_t *out);
bool str_float(const char *s, size_t n, double *out);
/* Accepts 1/0 true/false yes/no on/off. */
bool str_bool(const char *s, size_t n, bool *out);

/* The words nearest to `word` (edit distance at most 2, to which large and small letters are the same; at most 3 of
 * them, nearest first), as "`a`, `b`" in out; false and "" when there are none.
 * next(arg, i) gives the i-th word or NULL at the end. */
bool str_suggest(const char *word, const char *(*next)(void *arg, size_t i),
		 void *arg, char *out, size_t out_size);

/* The text, or "" for NULL; lends. */
const char *str_or_empty(const char *s);
/* Takes a text from its owner, whose *s becomes NULL; a new "" if that is what it was. Gives. */
char *str_take(char **s);

/* The ending of a word for `n` things: "" for one, else "s". */
const char *str_s(uint64_t n);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Length in bytes of the valid UTF-8 at the start of s; n when all of it is. */
size_t str_utf8_valid(const void *s, size_t n);

#endif
