/* SPDX-License-Identifier: MIT
 *
 * Streams that kill their workers: which of them fail, which are given out carefully, and to whom.
 */
#ifndef DISP_DISP_BLAME_H
#define DISP_DISP_BLAME_H

#include <stdbool.h>

struct disp;
struct iteration;
struct peer;
struct stream;

/* A worker is lost. Gives a stream of its that has cost too many workers, or NULL; to be
 * asked again when the stream's iteration has been failed. */
struct stream *blame_worker(struct disp *d, const struct peer *w);
char *blame_words(const struct stream *s, const struct peer *w);     /* gives: for people */
bool blame_suspect(const struct disp *d, const struct stream *s); /* gets a worker of its own */
bool blame_careful(const struct disp *d, const struct stream *s); /* and is made carefully; so are some others */
struct peer *blame_pick_worker(struct disp *d, const struct iteration *it); /* for a suspect; NULL: none now */

#endif
