/* SPDX-License-Identifier: MIT
 *
 * The inner chains of an operator that runs one pipeline for each of its elements
 * (interleave, flat maps of pipelines). With parallel=N, threads of the pool read
 * them ahead.
 *
 *	input --> [next][next]            outer elements whose chains are opened ahead
 *	            |  inner_chains_outer
 *	            v
 *	slots     [ a ]   [ b ]   [ c ]   those whose turn comes
 *	          run     run     run     what the stream takes from
 *	          run             run     read ahead
 *	          run
 *
 * At any time an inner chain belongs either to the stream or to one thread. The stream takes
 * elements from a run of its own, without a lock. If nothing has been read ahead and no thread
 * has the chain, the stream pulls it directly and takes elements from the run that the chain
 * lends. It always does so without parallel=, and where handing the chain to a thread would
 * cost more than pulling it.
 *
 * The caller decides in which order outer elements become inner chains and slots are asked.
 * Reading ahead does not change that order.
 */
#ifndef MANY_INNER_CHAINS_H
#define MANY_INNER_CHAINS_H

#include <pthread.h>

#include "op/op.h"
#include "base/pool.h"

enum { INNER_CHAIN_AHEAD = 3, INNER_CHAINS_MOST = 256 };

struct inner_chain_run {
	struct run run;
	struct run_part *parts;
	size_t bytes;             /* bytes that the run holds */
};

struct inner_chain {
	struct kept outer;
	struct op_inst *chain;    /* NULL: not opened yet, or opening failed */
	struct inner_chain_run own;    /* the run that the stream takes from, unless direct */
	uint32_t taken;           /* elements of that run given so far */
	/* the stream has the chain, and takes from the run that the chain lends */
	bool direct;
	bool stays;               /* direct for good: handing the chain to a thread would not pay */
	/* guarded by the lock: */
	bool busy;                /* a thread or the stream has the chain */
	struct inner_chain_run ahead[INNER_CHAIN_AHEAD];
	uint32_t first, n;        /* the runs that wait in `ahead` */
	size_t bytes;             /* bytes of these runs */
	enum status status;       /* status of the chain; ST_OK: there is more */
	struct err *err;
};

struct inner_chains {
	struct op_inst *self;
	const struct op_node *pipe;
	/* context of the input and the chains: the chain's, with a stop of its own */
	struct op_ctx ctx;
	atomic_bool stop;
	bool shared;              /* threads of the pool read ahead */
	bool ordered;             /* the caller asks for slots in an order of its own */
	bool exact;               /* outer elements are not pulled ahead */
	struct inner_chain **slots;    /* the slots; NULL: empty */
	uint32_t n_slots;
	struct inner_chain *spare;     /* a closed chain, whose memory is used again */
	/* used only with parallel=: */
	struct pool_user user;
	pthread_mutex_t lock;     /* guards everything below, and the slots' entries */
	pthread_cond_t news;
	uint32_t turn;            /* the slot that is asked for next, roughly */
	bool pulling, pause, awaited;
	uint32_t reading;         /* number of threads that read ahead */
	struct inner_chain **next;     /* chains without a slot yet, in a ring */
	uint32_t first_next, n_next, cap_next;
	uint32_t most_next;       /* limit for chains opened ahead when opening is slow */
	double step_ns;           /* measured cost of a run; 0: not known yet */
	enum status input;        /* status of the input; ST_OK: there is more */
	struct err err;
};

/* The slots stay the caller's. parallel: 1: nobody reads ahead; PARAM_AUTO: the pool's size. */
void inner_chains_open(struct inner_chains *s, struct op_inst *self, const struct op_node *pipe,
		       struct inner_chain **slots, uint32_t n_slots, int64_t parallel,
		       bool ordered);
void inner_chains_close(struct inner_chains *s); /* closes the chains in the slots, too */
/* To be called at the beginning of each call of the operator. */
void inner_chains_resume(struct inner_chains *s);

/* Makes an inner chain for the next outer element, not opened yet, which the caller puts into
 * a slot with inner_chains_put. wait: also when that takes time; else ST_AGAIN. Gives. */
enum status inner_chains_outer(struct inner_chains *s, bool wait, struct inner_chain **out,
			       struct err *e);
void inner_chains_put(struct inner_chains *s, uint32_t slot, struct inner_chain *x);
/* Closes the chain in the slot. */
void inner_chains_drop(struct inner_chains *s, uint32_t slot);

/* Lends the chain's current run, and the index from which it has not been given. */
static inline const struct run *
inner_chain_run(const struct inner_chain *x, uint32_t *from)
{
	if (!x->direct) {
		*from = x->taken;
		return &x->own.run;
	}
	*from = x->chain->taken;
	return x->chain->lent;
}

static inline void
inner_chain_take(struct inner_chain *x, uint32_t n)
{
	*(x->direct ? &x->chain->taken : &x->taken) += n;
}

/* Sees that there is more in the slot when the current run has been given, which is then gone.
 * ST_END: the chain has ended; an error: chain is NULL if it could not be opened. */
enum status inner_chains_fill(struct inner_chains *s, uint32_t slot, struct err *e);
/* Whether the slot's next run has been read ahead. */
bool inner_chains_more(struct inner_chains *s, uint32_t slot);
/* Has the next inner_chains_fill try again to open the chain. */
void inner_chains_retry(struct inner_chains *s, struct inner_chain *x);
/* Finds a slot that has something new, even if it is an end or an error; fills empty slots
 * meanwhile. ST_END: nothing is left. For callers without an order of their own. */
enum status inner_chains_any(struct inner_chains *s, uint32_t *slot, struct err *e);

/* Saves what waits in slots and before them. False: it cannot be saved. */
bool inner_chains_save(struct inner_chains *s, struct buf *out);
struct state_in;
enum status inner_chains_restore(struct inner_chains *s, struct state_in *in, struct err *e);

#endif
