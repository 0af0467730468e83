/* SPDX-License-Identifier: MIT
 *
 * Streams that kill their workers: which of them fail, which are made carefully, and who gets them.
 */
#ifndef DISP_DISP_BLAME_H
#define DISP_DISP_BLAME_H

#include <stdbool.h>
#include <stdint.h>

struct disp;
struct iteration;
struct msg;
struct peer;
struct stream;

/* The last word of the worker of a careful stream, on the run that comes next. */
struct stream_step {
	bool told;              /* it says so of each run, of this one, too */
	bool held;              /* it does not make it yet */
	bool ahead;             /* threads may make elements behind `at`, also while it is held */
	uint64_t at;            /* the first element of the run */
};

/* A worker is lost. Gives a stream of its that has cost too many workers, or NULL; to be
 * asked again when the stream's iteration has been failed. */
struct stream *blame_worker(const struct disp *d, const struct peer *w);
char *blame_words(const struct stream *s, const struct peer *w);  /* gives: for people */
bool blame_suspect(const struct disp *d, const struct stream *s); /* one more loss, and it fails */
struct peer *blame_pick_worker(struct disp *d, const struct iteration *it); /* for a suspect; NULL: none now */
bool blame_careful(const struct stream *s); /* the next worker announces each run */
void blame_step(struct disp *d, struct stream *s, const struct msg *m); /* and does so: STEP */

#endif
