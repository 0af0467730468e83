/* SPDX-License-Identifier: MIT
 *
 * The texts a spec is made of: the one given and those it includes. A spec
 * given as words becomes a text too (the words joined by blanks), so that
 * errors have a place in it; the words' borders are kept beside it.
 */
#ifndef LANG_SPECTEXT_H
#define LANG_SPECTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct spectext_word {
	size_t at, len; /* place in the text, where an empty word is written as '' */
	bool empty;
};

struct spectext {
	char *file;  /* name for messages */
	char *dir;   /* relative names in it are relative to this; NULL: to the current folder */
	char *data;  /* has a NUL after the last byte */
	size_t len;
	struct spectext_word *words; /* the words, in argv form; else NULL */
	size_t n_words;
	bool done;   /* an include that has been read to its end */
	struct spectext *next;
};

/* Make a text. Give; fail for a text that is too long or contains a NUL byte. */
enum status spectext_of(const char *text, size_t n, const char *file, const char *dir,
			struct spectext **out, struct err *e);
enum status spectext_load(const char *path, struct spectext **out, struct err *e);
enum status spectext_of_words(char *const *argv, size_t argc, const char *dir,
			      struct spectext **out, struct err *e);
/* Frees the text and those after it. */
void spectext_free(struct spectext **t);
/* The word that byte `at` belongs to, or whose end it is. */
const struct spectext_word *spectext_word_at(const struct spectext *t, size_t at);

#endif
