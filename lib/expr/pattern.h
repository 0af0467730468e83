/* SPDX-License-Identifier: MIT
 *
 * Regular expressions: PCRE2, compiled to machine code, with limits on how long
 * a match may try (past them the element fails rather than the program hangs).
 *
 * Text is UTF-8, and classes are Unicode's: \d, \w, \s, \b and [[:alpha:]] mean all
 * alphabets, with the flag a ASCII alone. Where a subject is plain ASCII, matching
 * by bytes gives the same answer sooner, so each pattern that can be is compiled for
 * both. In a subject that is not valid UTF-8 each stretch between bad bytes is
 * matched by itself; ^ and $ still are the ends of the whole.
 */
#ifndef EXPR_PATTERN_H
#define EXPR_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	PATTERN_MAX = 64 * 1024,        /* most bytes in a pattern */
	PATTERN_TRIES = 10 * 1000 * 1000, /* match limit */
	PATTERN_GROUPS = 100
};

struct pattern;
struct pattern_state; /* working memory of one thread for one pattern */

/* Compiles a pattern. flags: enum ast_regex_flag. *bad is the wrong byte of the pattern. Gives. */
struct pattern *pattern_new(const char *s, size_t n, unsigned flags, size_t *bad, struct err *e);
void pattern_free(struct pattern **p);

struct pattern_state *pattern_state_new(const struct pattern *p);
void pattern_state_free(struct pattern_state **s);

/* 1: matches, 0: does not, below 0: gave up (pattern_fault says why). */
int pattern_test(struct pattern_state *s, const uint8_t *p, size_t n);
/* Whether pattern_scan may be used: a match is a match wherever it stands. */
bool pattern_scans(const struct pattern *p);
/* Like pattern_test, for a subject in which pattern_scan has found nothing. */
int pattern_test_rest(struct pattern_state *s, const uint8_t *p, size_t n);
/* Finds the first match in bytes that hold many subjects: 1 and its place. It may also find a
 * match that crosses from one subject to the next. */
int pattern_scan(struct pattern_state *s, const uint8_t *p, size_t n, size_t *begin, size_t *end);
/* Finds the first match at or after `from`; *v has the places: start and end of the whole and
 * of each group, SIZE_MAX for groups without a part in it. The first call for a subject has
 * from 0; later calls continue in that subject. */
int pattern_find(struct pattern_state *s, const uint8_t *p, size_t n, size_t from,
		 const size_t **v);
const char *pattern_fault(int code);

unsigned pattern_groups(const struct pattern *p);     /* number of groups, without the whole */
/* Name of group k, from 1; NULL: it has none. */
const char *pattern_group_name(const struct pattern *p, unsigned k);
bool pattern_has_names(const struct pattern *p);

struct needles;
const struct needles *pattern_needles(const struct pattern *p); /* the needles of needle.h */

#endif
