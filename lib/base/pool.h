/* SPDX-License-Identifier: MIT
 *
 * The pool: the threads of a process that all operators with parallel= share, of
 * all streams.
 *
 *	operator: pool_want -->  ring of users that want  --> thread: work(), one piece
 *	                              ^------- more to do -------+
 *
 * Threads take the users in turn, a piece of work each, so that no stream can
 * keep the others out; of one user at most `most` threads are at work at once.
 * They are started when there is work for them, and end with the process.
 *
 * Nobody may depend on a thread of the pool: who waits for a piece that none has
 * begun does it himself. So operators that stand inside of others, and run on the
 * pool's threads themselves, come to no standstill.
 *
 * A thread that waits inside of its work (for input, for another operator) says so
 * by pool_wait_begin: until pool_wait_end another one may work in its stead. So what
 * has no input does not keep the pool from those who have.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* A user of the pool, in the operator's state: zeroed, with its first part filled in. */
struct pool_user {
	bool (*work)(void *arg); /* does one piece; false: there was nothing to do */
	void (*waits)(void *arg); /* called when a thread begins to wait in its work; may be NULL */
	void *arg;
	uint32_t most;           /* most threads at once; 0: all */
	/* used by the pool */
	struct pool_user *next, *before; /* links of the ring; NULL: wants no thread */
	uint32_t busy;
	uint32_t asked;          /* number of calls of pool_want */
	bool left;
};

/* Sets how many threads work at once; 0, the default: one per processor. For the program,
 * before anything runs. */
void pool_set_size(uint32_t threads);
uint32_t pool_size(void);

/* Work that costs less than this is done by the thread that needs it, since another would have
 * to be woken, and its results fetched from its cache. Tests set it to 0, before anything
 * runs. */
extern int64_t pool_worth_ns;

/* Asks for one more thread. May be called with the operator's lock held. */
void pool_want(struct pool_user *u);
/* Asks for no more threads, and waits for those at work for it, which the operator has told to
 * hurry. */
void pool_leave(struct pool_user *u);

/* Called around a wait; outside the pool's threads they do nothing. */
void pool_wait_begin(void);
void pool_wait_end(void);

#endif
