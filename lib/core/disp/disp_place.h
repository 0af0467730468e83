/* SPDX-License-Identifier: MIT
 *
 * Workers by what they have in common: places where streams may be made.
 */
#ifndef DISP_DISP_PLACE_H
#define DISP_DISP_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/disp/ring.h"
#include "value/where.h"

struct disp;
struct iteration;
struct job;
struct peer;
struct waiting;

/* Workers that may be given streams and have something in common. */
struct place {
	char *key;                /* their tags, sorted; or their host */
	struct words tags;
	struct list_node workers; /* peer.by_tags or peer.by_host, the one given a stream last at the end */
	uint32_t n, slots;
};
struct places { struct place **v; size_t n, cap; };
struct iter_host { char *name; uint32_t users; };

void place_join(struct disp *d, struct peer *w);     /* told its tags and its host; may be given streams */
void place_leave(struct disp *d, struct peer *w);    /* is given none any more */
void place_job(struct disp *d, struct job *j);       /* fills its `where` and `fit` */
void place_job_free(struct job *j);
bool place_reader(struct iteration *it, const char *host);      /* true: the first on its host */
bool place_reader_left(struct iteration *it, const char *host); /* true: it was the last */
/* Whether it may have streams: by what the job wants, */
bool place_wanted(const struct iteration *it, const struct peer *w);
/* and by who can reach it (disp_reach.h). */
bool place_fits(const struct disp *d, const struct iteration *it, const struct peer *w);
/* A worker for a stream or for listing, the least busy of some; NULL: none fits. */
struct peer *place_pick(struct disp *d, struct iteration *it);
uint32_t place_workers(const struct disp *d, const struct iteration *it);  /* number of those that fit, */
uint32_t place_slots(const struct disp *d, const struct iteration *it); /* and of their slots */
uint32_t place_room(const struct disp *d, const struct iteration *it);  /* likewise, and quickly for most jobs */
/* Workers that count for an OPEN: those that its reader can be served by. */
uint32_t place_ready(const struct disp *d, const struct waiting *w);
char *place_missing(const struct disp *d, const struct waiting *w, char **help); /* give: for people */

#endif
