/* SPDX-License-Identifier: MIT
 *
 * Where in a shell script a value may be put.
 *
 * A value is put in with quotes of its own, '...' or "${1}": one word for the
 * shell, or part of one, whatever is in it. In a place that is already quoted
 * these quotes would end the ones around it, and the value would be read as
 * script; in a here-document, in backquotes or in arithmetic they mean something
 * else again. So values stand outside of all these, and a script that has one
 * inside is refused.
 *
 * The scanner follows the grammar of sh as far as that needs: quotes, $(...),
 * ${...}, $((...)), backquotes, comments, here-documents and `case`. From a text
 * that not every sh reads alike ($'...', quotes within "${...}") on, it refuses.
 */
#ifndef BASE_SCRIPT_H
#define BASE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/param.h"

/* A place for a value: script[at, at + len). */
struct script_spot {
	size_t at, len;
};

/* The first of the spots (which are in order) where no value may be put: gives what it is in,
 * as in "inside double quotes"; *bad is its number. NULL: all may have a value. */
const char *script_misplaced(const char *script, size_t n, const struct script_spot *spots,
			     size_t n_spots, size_t *bad);
/* Appends p as one word for the shell, in which no place for the element is seen. */
void script_quote(const char *p, size_t n, struct buf *out);
/* If a command begins a shell with a script, as `sh -c SCRIPT` does, the words [*from, end)
 * are the shell's options and the script: a value in any of them would be read as script
 * or as an option. Gives the end; both are words->n if there is no script. */
size_t script_of_words(const struct words *words, size_t *from);

#endif
