/* SPDX-License-Identifier: MIT
 *
 * The ledgers of a stream: what is acknowledged, for each view of it.
 */
#ifndef DISP_DISP_VIEW_H
#define DISP_DISP_VIEW_H

#include "core/intervals.h"
#include "value/round.h"

struct iteration;
struct stream;

/* A ledger of a stream, in offsets of its own. */
struct view {
	struct intervals acked;
	struct intervals presumed;/* the part that a worker reported before the reader did */
	struct intervals missed;  /* the part of `acked` that was not given to it: it came later, or was too slow */
	uint64_t missed_more;     /* elements that were missed besides: `missed` has only so many ranges */
	bool fresh;               /* its group is new here: what lies before the place where the stream goes on is missed */
	bool moves;               /* its group has just come: the worker does not know of it */
	bool is_new;              /* ... for the first time */
	bool joins;               /* the worker was asked to add it, and has not answered */
	bool dirty;               /* its row is to be written */
	bool reached;             /* with an order: its reader has written all that comes before a failure */
};

/* Whether each view has all elements: those of groups, and of consumers that share the whole of each round. */
bool views_whole(const struct iteration *it);
struct round_part views_part(const struct iteration *it, size_t view); /* the elements that it has */
/* Offsets and lengths given are the stream's, not a view's. */
void views_init(struct stream *s);                      /* its iteration knows how many */
void views_add(struct stream *s);                       /* its iteration has one more */
void views_clear(struct stream *s);
uint64_t views_end(const struct stream *s);             /* behind the last element that somebody has acknowledged */
uint64_t views_floor(const struct stream *s);           /* all before it is acknowledged by all */
uint64_t views_count(const struct stream *s);           /* acknowledged elements */
uint64_t views_below(const struct stream *s, size_t view, uint64_t offset); /* elements of the view before it */
/* The first element of the stream that is one of the view and not in `taken`, which counts in the view. */
uint64_t views_gap(const struct stream *s, size_t view, const struct intervals *taken);
uint64_t views_rest(const struct stream *s, uint64_t length); /* the last of so many elements, that fill no round */
uint64_t views_gives(const struct stream *s);           /* ended: elements in the pass, without those before its base */
/* Elements of one view: in whole rounds of so many elements; and in all, once the stream has ended
 * and its tail is known (UINT64_MAX: it is not). */
uint64_t views_own(const struct stream *s, size_t view, uint64_t length);
uint64_t views_length(const struct stream *s, size_t view);
bool views_covered(const struct stream *s, uint64_t length); /* all have acknowledged all whole rounds of these */
bool views_reached(const struct stream *s);             /* the failure, by the readers of all */
bool views_finished(struct stream *s);                  /* ended: all is acknowledged by all */
uint64_t views_missed(const struct view *v);            /* elements */
void views_cut(struct view *v, uint64_t length); /* nothing behind it was missed: the stream ends there */
void views_miss(struct view *v, uint64_t start, uint64_t end); /* these, of which none is acknowledged */
/* Elements of one view that are taken, in its offsets: acknowledged, or held by a live reader. Fills. */
void views_taken(const struct stream *s, size_t view, struct intervals *out);

#endif
