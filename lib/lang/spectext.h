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
	size_t at, len; /* in the text; an empty word is shown there as '' */
	bool empty;
};

struct spectext {
	char *file;  /* as messages show it */
	char *dir;   /* relative names in it start here; NULL: the current folder */
	char *data;  /* with a NUL behind the last byte */
	size_t len;
	struct spectext_word *words; /* argv form, else NULL */
	size_t n_words;
	bool done;   /* an include that has been read to its end */
	struct spectext *next;
};

/* All three give; a text too long or with a NUL byte in it fails. */
enum status spectext_of(const char *text, size_t n, const char *file, const char *dir,
			struct spectext **out, struct err *e);
enum status spectext_load(const char *path, struct spectext **out, struct err *e);
enum status spectext_of_words(char *const *argv, size_t argc, const char *dir,
			      struct spectext **out, struct err *e);
/* Frees it and those after it. */
void spectext_free(struct spectext **t);
/* The word that holds byte `at`, or whose end it is. */
const struct spectext_word *spectext_word_at(const struct spectext *t, size_t at);

#endif
