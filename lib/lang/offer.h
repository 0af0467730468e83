/* SPDX-License-Identifier: MIT
 *
 * Completion: which words may stand at the end of a spec that is being written.
 */
#ifndef LANG_OFFER_H
#define LANG_OFFER_H

#include "base/buf.h"

/* `typed` is a spec as it was typed in a shell, from the opening quote to the cursor. Its
 * last word begins after the last blank, `|`, `(`, `)` or `;`. Writes a line for each
 * word that completes it: the word, with a blank behind it when it is whole, a tab, and
 * what it means. If only one whole word completes it, the lines hold that word and each
 * word that may follow: at least two lines, so that no shell takes it for the end of the
 * spec and closes the quote. */
void offer_words(const char *typed, struct buf *out);

/* `line` is a command line as it was typed. Writes a line "NAME=", tab, declaration, for each
 * parameter of the specs in it that it does not set: of words in quotes and of the files of -f. */
void offer_set(const char *line, struct buf *out);

#endif
