/* SPDX-License-Identifier: MIT
 *
 * What people type who know another tool: words of tf.data, of the shell and of
 * dataframes, and how the same is written here. For messages only: nothing is
 * parsed by it.
 */
#ifndef LANG_ELSEWHERE_H
#define LANG_ELSEWHERE_H

#include <stddef.h>

/* The way to write the word here; NULL: the word is not known. */
const char *elsewhere_find(const char *word);
/* Likewise a word of SQL that follows the arguments of an operator, of any case, or the comma of a list: N bytes. */
const char *elsewhere_behind(const char *word, size_t n);

#endif
