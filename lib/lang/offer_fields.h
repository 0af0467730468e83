/* SPDX-License-Identifier: MIT
 *
 * Completion: which fields the elements have that come out of a pipeline, and which
 * parameters a spec declares.
 */
#ifndef LANG_OFFER_FIELDS_H
#define LANG_OFFER_FIELDS_H

#include <stddef.h>

#include "base/param.h"

/* Adds the names of fields, each once, of the elements that the text before a stage gives: those of its
 * type, or else of its first elements, for which files are read. A pipeline that runs programs, waits for
 * others, or must see all elements first is not run. */
void offer_fields(const char *text, size_t n, struct words *out);

/* Adds the names of the parameters that the text declares (param NAME). */
void offer_params(const char *text, struct words *out);

#endif
