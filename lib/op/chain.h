/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share about running chains: opening in its
 * several ways, the feeder that opens a source split by split, and the cache of
 * a pass that is repeated.
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

/* An instance with what only the chain looks at. */
struct chain_inst {
	struct op_inst self;      /* first: each is the other */
	bool opened;              /* close is due */
	bool finishing;           /* its input has ended */
	struct op_feeder *feeder; /* split by split; else NULL */
	struct err *pending;      /* the error that comes next; NULL: none */
	uint64_t emitted;         /* elements it gave, of a source without save */
	uint64_t discard;         /* elements to drop after a restore */
	uint64_t outer_key;       /* of the outer element, for seeds; 0: none */
	struct words bound;       /* texts made for binds */
	char **bound_v;           /* the array of bound words */
	const uint8_t *retry_p;   /* the element being tried again */
	int retried;              /* how often it was */
};
static inline struct chain_inst *
chain_of(const struct op_inst *i)
{
	return (struct chain_inst *)i;
}

/* The ways to open a chain. Zero: whole, not by split. */
struct chain_how {
	bool by_split;             /* put a feeder at the root */
	bool remember;             /* a repeat above starts over: keep the splits */
	const struct split *split; /* open the root on this one; lives as long as the chain */
	uint32_t leaf;             /* of the split, counted within this chain */
	const struct elem *outer;  /* inner pipelines */
	uint64_t outer_key;
	uint32_t epoch;
	struct index_order *order;       /* who reads this by index (by_index.h); NULL: nobody */
	const struct by_index_step *path; /* from there to here */
};

enum status chain_open(const struct op_node *n, struct op_ctx *ctx,
		       const struct chain_how *how, struct op_inst **out, struct err *e);

/* op_open_inner, with another context than that of self; by any thread. */
enum status chain_open_inner(const struct op_node *n, const struct op_inst *self,
			     struct op_ctx *ctx, const struct elem *outer, struct op_inst **out,
			     struct err *e);

/* One call of a transform that is fed: pulls in[0] where it must, and makes some
 * output of it in i->out, or in what it gives. */
enum status chain_feed(struct op_inst *i, struct err *e);

/* Facts of plans (plan_facts.c). */
const struct op_node *facts_root(const struct op_node *n);
bool facts_is_root(const struct op_node *n);        /* where a chain begins to be cut */
uint32_t facts_leaves(const struct op_node *n);     /* how many leaf numbers it has */
bool facts_covered(const struct op_node *n);        /* a repeat that splits' times stand for */
bool facts_cuttable(const struct op_node *n);       /* as an input of OP_JOINS_SPLITS */
bool facts_reshuffles(const struct op_node *n);     /* another pass may differ */

/* One pass, kept when it is small, to be given again without reading again. */
enum { CACHE_BYTES = 4 * 1024 * 1024, CACHE_RUNS = 1024 };
struct cache {
	struct run *runs;          /* kept copies, in order */
	uint32_t n, cap;
	size_t bytes;
	bool off;                  /* too large, or not to be kept */
	bool whole;                /* the pass has ended: all of it is here */
	uint32_t next;             /* the run that comes next in a replay */
	struct run many;           /* a short pass several times over */
	uint32_t copies;           /* how many times */
};
void cache_clear(struct cache *c);
void cache_add(struct cache *c, const struct run *r);
/* The pass is over: what was added is all of it. */
void cache_end(struct cache *c);
/* The next run of a replay of at most `passes` passes, lent until the cache is
 * cleared; *ended tells how many passes end with it. */
struct run *cache_replay(struct cache *c, uint64_t passes, uint64_t *ended);

/* The feeder (feed_split.c). */
void feeder_new(struct op_inst *self, bool remember);
void feeder_free(struct op_inst *self);
enum status feeder_next(struct op_inst *self, struct err *e); /* sets self->give */
void feeder_rewind(struct op_inst *self);
void feeder_set_ctx(struct op_inst *self, struct op_ctx *ctx);
bool feeder_save(struct op_inst *self, struct buf *out);
enum status feeder_restore(struct op_inst *self, const uint8_t *p, size_t n, struct err *e);

#endif
