/* SPDX-License-Identifier: MIT
 *
 * The pool: threads that all operators with parallel= in this process share, whatever
 * stream they belong to.
 *
 *	operator: pool_want -->  ring of users that want  --> thread: work(), one piece
 *	                              ^------- more to do -------+
 *
 * Threads serve the users in turn, one piece of work at a time, so that no stream
 * can keep the others out. At most `most` threads work for one user at once.
 * Threads are started when there is work for them, and end with the process.
 *
 * A user must not depend on a thread of the pool: if it needs a piece of work that
 * no thread has begun, it does it itself. This is why operators inside other
 * operators, which run on the pool's threads themselves, cannot deadlock.
 *
 * A thread that has to wait during its work (for input, for another operator) calls
 * pool_wait_begin, and another thread may work in its place until pool_wait_end. A
 * user without input therefore does not keep threads from users that have some.
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
