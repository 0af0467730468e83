/* SPDX-License-Identifier: MIT
 *
 * How an operator is written, from the rows of its parameters.
 */
#ifndef LANG_USAGE_H
#define LANG_USAGE_H

#include "op/op.h"

/* Appends "take N", "zip (PIPELINE)...", "shuffle BUFFER [seed=SEED]". */
void usage_print(const struct op_desc *d, struct buf *out);
/* The kind of value that the parameter takes: "a number" and so on. */
const char *usage_kind(const struct param *row);

/* The i-th word that may be used in a pipeline given as words: operators, and `then`; NULL at
 * the end. For completion. */
const char *usage_word(size_t i);

#endif
