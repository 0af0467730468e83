/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share about running chains: opening in its
 * several ways, the feeder that opens a source split by split, and the cache of
 * a pass that is repeated.
 *
 * chain.c, chain_state.c, feed_split.c and by_index.c call each other: a feeder and a
 * group read by index are instances in a chain, and run chains of their own.
 *
 * By split, the lowest node of a chain that is no transform (its root: a source,
 * or a combine such as concat or zip) is not opened itself. A stand-in instance
 * with a feeder takes its place, and opens a part for each split:
 *
 *	source             the same source, with self->split set
 *	OP_JOINS_SPLITS    the input that the split's leaf belongs to, its source
 *	                   on the split
 *	other combine      all of it: it has one split, SPLIT_ALL
 *	node->permutes     it and what stands before it, which it reads by index: its
 *	                   split is a range of its order (by_index.h)
 */
#ifndef OP_CHAIN_H
#define OP_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

/* An instance, with the members that only the chain uses. */
struct chain_inst {
	struct op_inst self;      /* must come first: chain_of converts between the two */
	bool opened;              /* close must be called */
	bool finishing;           /* its input has ended */
	struct op_feeder *feeder; /* reads split by split; else NULL */
	struct err *pending;      /* the error to give next; NULL: none */
	uint64_t emitted;         /* elements given so far, by a source without save */
	const struct run *fed;    /* the run that the operator was fed last; NULL: it asks for its input itself */
	uint64_t fed_before;      /* number of elements before that run */
	uint64_t discard;         /* elements still to drop after a restore */
	bool reaches;             /* it gives to the repeat that is watched */
	uint64_t outer_key;       /* hash of the outer element, for seeds; 0: none */
	struct words bound;       /* texts made for bound parameters */
	char **bound_v;           /* the array of bound words */
	const uint8_t *retry_p;   /* the element being tried again */
	int retried;              /* how many times it has been tried again */
	bool brief;               /* op_brief */
};
static inline struct chain_inst *
chain_of(const struct op_inst *i)
{
	return (struct chain_inst *)i;
}

/* The ways to open a chain. Zero: whole, not by split. */
struct chain_how {
	bool by_split;             /* put a feeder at the root */
	bool remember;             /* a repeat above starts over: remember the splits */
	const struct op_node *watched; /* op_repeat_watched, if that matters; NULL: it does not, or there is none */
	bool reaches;              /* the node is the input of that repeat */
	bool alike;                /* the node stands before that repeat, and each pass gives the same */
	const struct split *split; /* open the root on this split, which outlives the chain */
	struct op_kept *kept;      /* with split: of its source */
	uint32_t leaf;             /* leaf number of the split, counted within this chain */
	const struct elem *outer;  /* outer element of an inner pipeline; else NULL */
	uint64_t outer_key;
	uint32_t epoch;
	/* the order by which this chain is read (by_index.h); NULL: none */
	struct index_order *order;
	const struct by_index_step *path; /* steps from that order to this operator */
};

enum status chain_open(const struct op_node *n, struct op_ctx *ctx,
		       const struct chain_how *how, struct op_inst **out, struct err *e);

/* Opens an inner pipeline as op_open_inner does, with a context other than self's; may be
 * called from any thread. */
enum status chain_open_inner(const struct op_node *n, const struct op_inst *self,
			     struct op_ctx *ctx, const struct elem *outer, struct op_inst **out,
			     struct err *e);

/* Makes one call of a transform that is fed: pulls in[0] when needed, and puts the output into
 * i->out or i->give. */
enum status chain_feed(struct op_inst *i, struct err *e);

/* Facts about plans (plan_facts.c). */
const struct op_node *facts_root(const struct op_node *n);
/* n is the node at which a chain is cut into splits */
bool facts_is_root(const struct op_node *n);
uint32_t facts_leaves(const struct op_node *n);     /* number of leaves below n */
/* a repeat whose passes are counted in the splits' `times` */
bool facts_covered(const struct op_node *n);
/* n may be cut, as an input of OP_JOINS_SPLITS */
bool facts_cuttable(const struct op_node *n);
bool facts_reshuffles(const struct op_node *n);     /* another pass may give other elements */

/* The cache of one pass: kept while it is small, to be given again without reading again. */
enum { CACHE_BYTES = 4 * 1024 * 1024, CACHE_RUNS = 1024 };
struct cache {
	struct run *runs;          /* copies of the runs, in order */
	uint32_t n, cap;
	size_t bytes;
	bool off;                  /* the pass is too large, or must not be kept */
	bool whole;                /* the pass has ended, and all of it is here */
	uint32_t next;             /* index of the next run in a replay */
	struct run many;           /* a short pass several times over */
	uint32_t copies;           /* how many times `many` has the pass */
};
void cache_clear(struct cache *c);
void cache_add(struct cache *c, const struct run *r);
/* Marks the pass as complete: everything was added. */
void cache_end(struct cache *c);
/* The next run of a replay of at most `passes` passes, lent until the cache is cleared; *ended
 * tells how many passes end with it. */
struct run *cache_replay(struct cache *c, uint64_t passes, uint64_t *ended);

/* The feeder (feed_split.c). */
/* watched: splits are not repeated as long as op_ctx.reached is false */
void feeder_new(struct op_inst *self, bool remember, bool watched);
void feeder_free(struct op_inst *self);
enum status feeder_next(struct op_inst *self, struct err *e); /* sets self->give */
void feeder_rewind(struct op_inst *self);
uint64_t feeder_pass(struct op_inst *self, uint64_t n); /* op_pass */
void feeder_set_ctx(struct op_inst *self, struct op_ctx *ctx);
bool feeder_save(struct op_inst *self, struct buf *out);
enum status feeder_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
