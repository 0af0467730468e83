/* SPDX-License-Identifier: MIT
 *
 * Words quoted for a shell: what is printed can be pasted.
 */
#ifndef BASE_SHELL_WORD_H
#define BASE_SHELL_WORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends p as one word: as it is when no shell would read anything into it, else in single quotes.
 * A word that is the `first` of a command cannot look like an assignment. */
void shell_word(const char *p, size_t n, bool first, struct buf *out);
/* Does it on a single line: control characters as $'\n', which bash, zsh, ksh and POSIX of 2024 read. */
void shell_word_line(const char *p, size_t n, bool first, struct buf *out);

#endif
