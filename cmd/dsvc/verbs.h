/* SPDX-License-Identifier: MIT
 *
 * Verbs: `dsvc VERB` runs the program dsvc-VERB, which is looked for beside dsvc itself and
 * then on PATH, so that programs of users are verbs, too.
 */
#ifndef DSVC_VERBS_H
#define DSVC_VERBS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Puts the file name of dsvc-VERB into out; false: there is none. */
bool verb_find(const char *verb, struct buf *out);
enum verb_form {
	VERB_NAMES,
	VERB_BRIEFS, /* in columns, with what ours do */
	VERB_TABS    /* names and what ours do, with a tab between */
};
/* All verbs that there are, sorted, one a line. */
void verb_list(enum verb_form form, struct buf *out);
/* "`read`": verbs that may have been meant by the word; false and "" when none is near. */
bool verb_suggest(const char *word, char *out, size_t size);
/* Runs the file with argv, which NULL ends, in place of this program; returns on errors only. */
enum status verb_exec(const char *file, const char *const *argv, struct err *e);

#endif
