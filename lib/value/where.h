/* SPDX-License-Identifier: MIT
 *
 * Tags that a job asks of workers: `gpu,!spot` is a worker with the tag gpu and
 * without the tag spot.
 */
#ifndef VALUE_WHERE_H
#define VALUE_WHERE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/param.h"

struct where { struct words has, lacks; }; /* each sorted, every tag once */

/* Whether a worker may have this tag: a name without blanks and commas, not beginning with `!`. */
enum status tag_check(const char *tag, struct err *e); /* ST_USAGE */
/* NULL or "": any worker. ST_USAGE on a text that is no list of tags; then *out is empty. */
enum status where_parse(const char *text, struct where *out, struct err *e);
void where_clear(struct where *w);
bool where_fits(const struct where *w, const struct words *tags);
/* Gives the text again, the same for all that mean the same; NULL: any worker. */
char *where_text(const struct where *w);
/* Gives a clause for people: "have tag gpu and not tag spot"; "" for any. */
char *where_clause(const struct where *w);
/* Gives the tags sorted, each once, joined by commas: the same for equal sets. */
char *tags_text(const struct words *tags);

#endif
