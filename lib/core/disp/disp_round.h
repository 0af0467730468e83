/* SPDX-License-Identifier: MIT
 *
 * Rounds of a pass: its consumers, and elements that do not fill one.
 */
#ifndef DISP_DISP_ROUND_H
#define DISP_DISP_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asked;
struct disp;
struct iteration;
struct job;
struct peer;
struct round_part;
struct stream;

bool round_is(const struct iteration *it);
bool round_abandoned(const struct iteration *it);       /* a consumer stayed away for too long */
/* Whether its consumers, asking for that pass, want another job of its name: it came to nothing. */
bool round_is_void(const struct job *j, uint32_t epoch);
/* Whether all places are spoken for; the first time, that settles the views. */
bool round_gather(struct disp *d, struct iteration *it);
int64_t round_gather_until(const struct disp *d, const struct iteration *it);
char *round_missing(const struct iteration *it);        /* gives: places that nobody has asked for */
bool round_stream_ended(struct disp *d, struct stream *s); /* false: the pass has failed, and s is gone */
bool round_base_beyond(const struct stream *s, uint64_t length); /* its rounds begin behind the end of the stream */
bool round_end_beyond(const struct stream *s, uint64_t length);  /* more was acknowledged than the stream has */
uint64_t round_dropped(const struct stream *s);         /* elements of an ended stream that go to nobody, */
uint64_t round_added(const struct stream *s);           /* and nulls that are added to it */
uint64_t round_filled_up(const struct iteration *it);   /* likewise, of all streams that are finished */
uint64_t round_of_view(const struct iteration *it, size_t view);
uint64_t round_all(const struct iteration *it);         /* in streams that are finished */
uint64_t round_slowest(const struct iteration *it);
bool round_view_is_read(const struct iteration *it, size_t view);
char *round_part_text(const struct round_part *p);      /* likewise */
char *round_view_text(const struct iteration *it, size_t view); /* gives "2/4" */
/* Whether another consumer has one of these places, or the pass has other consumers: that is answered. */
bool round_refuses(struct disp *d, struct peer *p, uint64_t req, const struct iteration *it, const struct asked *asked);
void round_moved(struct disp *d, struct iteration *it); /* a consumer got on, came or left */
void round_tick(struct disp *d);

#endif
