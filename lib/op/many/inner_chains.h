/* SPDX-License-Identifier: MIT
 *
 * Strands: the inner chains of an interleave, with parallel=N read ahead on threads
 * of the pool.
 *
 *	input --> [next][next]            outer elements whose chains are opened ahead
 *	            |  inner_chains_outer
 *	            v
 *	slots     [ a ]   [ b ]   [ c ]   those whose turn comes
 *	          run     run     run     what the stream takes from
 *	          run             run     read ahead
 *	          run
 *
 * An inner chain is the stream's or a thread's at any time. The stream takes from a run that
 * is its own, without a lock. Where nothing has been read ahead, and none is at it, it
 * pulls the chain itself and takes from what the chain lends: so it is always without
 * parallel=, and where handing over would cost more than the pulling.
 *
 * The order in which outer elements become inner chains and in which the slots are asked is
 * the caller's: what is read ahead changes nothing in it.
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
	size_t bytes;             /* that it holds */
};

struct inner_chain {
	struct kept outer;
	struct op_inst *chain;    /* NULL: not opened yet, or it could not be */
	struct inner_chain_run own;    /* what the stream takes from, unless direct */
	uint32_t taken;           /* elements of it that have been given */
	bool direct;              /* the stream has the chain, and takes from what it lends */
	bool stays;               /* direct: handing the chain over would not pay */
	/* under the lock */
	bool busy;                /* somebody has the chain */
	struct inner_chain_run ahead[INNER_CHAIN_AHEAD];
	uint32_t first, n;        /* runs that wait in it */
	size_t bytes;             /* of these */
	enum status status;       /* what the chain came to; ST_OK: goes on */
	struct err *err;
};

struct inner_chains {
	struct op_inst *self;
	const struct op_node *pipe;
	struct op_ctx ctx;        /* of the input and the chains: the same with another stop */
	atomic_bool stop;
	bool shared;              /* threads of the pool read ahead */
	bool ordered;             /* the caller asks for slots in an order of its own */
	bool exact;               /* outer elements are not pulled ahead */
	struct inner_chain **slots;    /* NULL: empty */
	uint32_t n_slots;
	struct inner_chain *spare;     /* a closed one, whose memory is used again */
	/* with parallel= */
	struct pool_user user;
	pthread_mutex_t lock;     /* all below, and the slots' entries */
	pthread_cond_t news;
	uint32_t turn;            /* the slot that is asked next, about */
	bool pulling, pause, awaited;
	uint32_t reading;         /* threads that read ahead */
	struct inner_chain **next;     /* a ring */
	uint32_t first_next, n_next, cap_next;
	uint32_t most_next;       /* how many are opened ahead where that takes time */
	double step_ns;           /* what a run costs, as it turned out lately; 0: not known */
	enum status input;        /* what the input came to; ST_OK: goes on */
	struct err err;
};

/* slots stay the caller's. parallel: 1: nobody reads ahead; PARAM_AUTO. */
void inner_chains_open(struct inner_chains *s, struct op_inst *self, const struct op_node *pipe,
		       struct inner_chain **slots, uint32_t n_slots, int64_t parallel,
		       bool ordered);
void inner_chains_close(struct inner_chains *s); /* with what is in the slots */
/* At the beginning of each call of the operator. */
void inner_chains_resume(struct inner_chains *s);

/* An inner chain for the next outer element, not opened yet; the caller puts it into a slot by
 * inner_chains_put. wait: also where that takes time, else ST_AGAIN. Gives. */
enum status inner_chains_outer(struct inner_chains *s, bool wait, struct inner_chain **out,
			       struct err *e);
void inner_chains_put(struct inner_chains *s, uint32_t slot, struct inner_chain *x);
/* Closes what is in the slot. */
void inner_chains_drop(struct inner_chains *s, uint32_t slot);

/* What it has at hand: lends the run, and from which element on. */
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

/* When all at hand is given: sees to it that there is more in the slot. What was lent of it is gone
 * then. ST_END; an error, with chain NULL where it could not be opened. */
enum status inner_chains_fill(struct inner_chains *s, uint32_t slot, struct err *e);
/* What is at hand is given, and more of it has been read ahead. */
bool inner_chains_more(struct inner_chains *s, uint32_t slot);
/* After it could not be opened: it is tried again by the next inner_chains_fill. */
void inner_chains_retry(struct inner_chains *s, struct inner_chain *x);
/* A slot whose inner chain has something new, be it its end or an error. Empty slots are
 * filled meanwhile. ST_END: nothing is left. For those who ask in no order. */
enum status inner_chains_any(struct inner_chains *s, uint32_t *slot, struct err *e);

/* What waits in slots and before them. False: it cannot be saved. */
bool inner_chains_save(struct inner_chains *s, struct buf *out);
struct state_in;
enum status inner_chains_restore(struct inner_chains *s, struct state_in *in, struct err *e);

#endif
