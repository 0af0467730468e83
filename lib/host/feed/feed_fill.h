/* SPDX-License-Identifier: MIT
 *
 * From elements to steps: rows are put into slots of the ring as the feeding machine has room
 * for them, pass after pass, and for each step it is known where the data stands after it.
 *
 * A position is where a reader stood at some time before (its own record), and how many elements
 * follow from there: so one record of the reader serves many steps.
 */
#ifndef HOST_FEED_FILL_H
#define HOST_FEED_FILL_H

#include "core/feed/feed.h"
#include "host/feed/feed_ring.h"
#include "host/feed/feed_source.h"

/* The place that an element fills: a row of a step of `batch` rows; a core's batch; a batch that is cut
 * among the cores; a batch that all cores get. */
enum feed_element { FEED_ROWS, FEED_PER_CORE, FEED_CUT, FEED_COPIED };

struct feed_fill_conf {
	enum feed_element element;
	uint64_t batch;          /* FEED_ROWS: rows of this host in a step */
	uint32_t cores, prefetch, epochs;
	uint32_t hosts, parts;   /* parts: FEED_CUT: shares of an element, of all hosts that cut it */
	bool rounds;             /* steps are rounds of a job (value/round.h) */
	bool lag;                /* elements are acknowledged behind a position that is safe: feed_fill_exact */
	bool padded;             /* this host gets its places of them, and null is padding */
	bool tails;              /* each stream ends with a short step of its own, not only the pass */
	struct column_axes axes; /* FEED_CUT: of fields that are not cut along their first axis; lent */
	enum feed_tail tail;
	bool pad_last;           /* the last row pads, not zeros */
	bool arrays;             /* steps go out as npy: elements must be numbers, or one tensor */
	const char *mask;        /* NULL: none */
	const struct type *type; /* type of the elements; NULL: not known */
	const struct type *expect; /* NULL: anything */
	size_t slot_max;         /* bytes */
	bool resumable;          /* positions are kept: the order is one that comes again */
};

/* Where the data stands after `step` steps. Zero: at the beginning. */
struct feed_place {
	uint64_t step, rows;
	uint32_t epoch;          /* from 1 */
	struct feed_base *base;  /* position of the reader; NULL: the beginning of the pass */
	uint64_t skip;           /* elements behind it */
	uint64_t count;          /* elements that the reader of the pass had given by then */
};
struct feed_base { int refs; struct buf position; };
static inline struct feed_base *
feed_base_ref(struct feed_base *b)
{
	if (b)
		b->refs++;
	return b;
}
void feed_base_unref(struct feed_base **b);   /* drops and nulls; accepts NULL */

struct feed_fill;

/* begin: where to go on; over: steps behind that which are to be passed over. All is lent, as long as
 * the filler. Gives. */
enum status feed_fill_new(const struct feed_fill_conf *c, struct feed *machine, struct feed_source *source,
			  const struct feed_place *begin, uint64_t over, struct feed_fill **out);
void feed_fill_free(struct feed_fill **f);
/* Fills what there is room for. ST_AGAIN: until there is room, or (*dry) elements; ST_END: that
 * was all, the machine was told; or what failed, which it is to be told. */
enum status feed_fill_run(struct feed_fill *f, int64_t now_ns, bool *dry, struct err *e);
/* The ring in which the step of that slot lies; lent while somebody holds the step. */
struct feed_ring *feed_fill_ring(const struct feed_fill *f, uint32_t slot);
/* The place after so many steps; NULL: it is not known any more, or not yet. Lent. */
const struct feed_place *feed_fill_place(const struct feed_fill *f, uint64_t step);
/* With `lag`: that place is about to be made safe, and gets a record of its own; feed_fill_safe says that it is. */
void feed_fill_exact(struct feed_fill *f, struct feed_place *p);
void feed_fill_safe(struct feed_fill *f);
/* With `lag`: the last step of the pass is complete, and the reader waits until all of it is acknowledged. */
bool feed_fill_ended(const struct feed_fill *f);
uint64_t feed_fill_step(const struct feed_fill *f);    /* the step that is being filled */
/* From now on the end of a pass is seen even while there is no room. */
void feed_fill_look(struct feed_fill *f);
/* The pass that is being filled, and the number of steps before it. False: not known yet, or no pass follows. */
bool feed_fill_pass(const struct feed_fill *f, uint32_t *epoch, uint64_t *before);
uint64_t feed_fill_rows(const struct feed_fill *f);   /* real rows in steps */
/* Rows of the last short step: real ones (0: there was none), of so many. */
uint64_t feed_fill_tail(const struct feed_fill *f, uint64_t *of);
uint64_t feed_fill_dropped(const struct feed_fill *f);

#endif
