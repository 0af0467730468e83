/* SPDX-License-Identifier: MIT
 *
 * One run of a pipeline made of words, watched: what came out, when, and what was
 * said of it.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/param.h"

struct trial {
	/* in */
	struct words words;      /* the pipeline */
	int64_t limit_ns;        /* longest time */
	/* out */
	uint64_t elements;
	uint64_t digest;         /* of all that came out, in its order */
	int64_t first_ns, all_ns;
	bool late;               /* the time was over */
	struct err note;         /* the first thing that was said; kind ST_OK: nothing */
	struct err e;            /* why it failed; kind ST_OK: it did not */
};

void trial_word(struct trial *t, const char *word);
/* ST_OK: it ran, well or not. Else the words make no pipeline, or it cannot begin. */
enum status trial_run(struct trial *t, struct err *e);
void trial_clear(struct trial *t);

#endif
