/* SPDX-License-Identifier: MIT
 *
 * One run of a pipeline made of words, watched: what came out, when, and what was
 * said of it.
 */
#ifndef EXEC_TEST_WATCHED_H
#define EXEC_TEST_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"

struct watched {
	/* in */
	struct words words;      /* the pipeline */
	int64_t limit_ns;        /* longest time */
	/* out */
	uint64_t elements;
	uint64_t digest;         /* digest of the whole output, in its order */
	int64_t first_ns, all_ns;
	bool late;               /* the time was over */
	struct err note;         /* the first thing that was said; kind ST_OK: nothing */
	struct err e;            /* why it failed; kind ST_OK: it did not */
};

void watched_word(struct watched *t, const char *word);
/* ST_OK: it ran, well or not. Else the words make no pipeline, or it cannot begin. */
enum status watched_run(struct watched *t, struct err *e);
void watched_clear(struct watched *t);

#endif
