/* SPDX-License-Identifier: MIT
 *
 * What happened lately, in sentences, for people: the newest EVENTS_KEPT of them, in memory only.
 * Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_EVENTS_H
#define DISP_DISP_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disp;
struct job;
struct iteration;
struct peer;
struct seat;
struct stream;

enum { EVENTS_KEPT = 500, EVENTS_SHOWN = 5 /* in a report of everything */ };

struct disp_event {
	uint64_t number;        /* from 1 */
	int64_t at;             /* disp.now */
	char *text, *owner;     /* owner: of the job that it is about; NULL: of no job */
	/* Several of the same kind in a row about the same things become one: */
	const void *what;       /* an address that stands for the kind; NULL: each stands alone */
	uint64_t job, peer, times;
};
struct disp_events {
	struct disp_event v[EVENTS_KEPT]; /* in a circle: number N lies at N % EVENTS_KEPT */
	uint64_t n;             /* the number of the newest */
};

void events_worker_joined(struct disp *d, const struct peer *w);
void events_worker_drains(struct disp *d, const struct peer *w);
void events_unreached(struct disp *d, const struct seat *r, const struct peer *w, const char *why);
void events_peer_lost(struct disp *d, const struct peer *p); /* or left; before its streams go */
void events_job_began(struct disp *d, const struct iteration *it);
void events_job_over(struct disp *d, const struct iteration *it);
void events_job_forgotten(struct disp *d, const struct job *j);
void events_stream_moved(struct disp *d, const struct stream *s, const struct peer *w);
void events_stream_waits(struct disp *d, const struct stream *s, const struct peer *w, const char *why);
void events_elements_failed(struct disp *d, const struct iteration *it, uint64_t n);
/* The oldest event that the user (NULL: one who may see all) is to see, with a number above
 * `after`; NULL: none. */
const struct disp_event *events_next(const struct disp *d, const char *user, uint64_t after);
/* After which number to begin for the last n that the user may see. */
uint64_t events_before(const struct disp *d, const char *user, unsigned n);
void events_clear(struct disp *d);

#endif
