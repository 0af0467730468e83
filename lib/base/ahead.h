/* SPDX-License-Identifier: MIT
 *
 * Pieces of work that one thread needs in their order, and that threads of the pool do ahead of it:
 *
 *	needs them:  [ 0 ][ uses 0 ][ uses 1 ][ 3 ][ uses 2 ]...
 *	pool:        [ 1 ][ 2 ]     [ 4 ][ 5 ]
 *
 * The thread that needs a piece which nobody has begun does it itself, so all goes well without a pool; while another
 * thread is at it, it does one behind it. With a pool of one thread (-j 1) there is no other thread.
 */
#ifndef BASE_AHEAD_H
#define BASE_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

struct ahead {
	void (*work)(void *arg, size_t piece); /* from several threads at once, never twice for the same piece */
	void *arg;
	size_t n;                /* pieces; 0: not begun */
	size_t far;              /* how many behind the one that is needed may be begun */
	pthread_mutex_t lock;    /* guards what follows */
	pthread_cond_t done;
	uint8_t *state;          /* one for each piece */
	size_t next;             /* all before it have been begun */
	size_t needed;           /* the last one that was asked for */
	bool over;
	struct pool_user user;
};

/* Begins with n pieces, at least one. a: zeroed, or ended; it must not move until it is ended. */
void ahead_begin(struct ahead *a, size_t n, void (*work)(void *arg, size_t piece), void *arg);
/* Does so, and at most `far` pieces behind the one that ahead_need was called for last are begun: what they make takes
 * room. */
void ahead_begin_within(struct ahead *a, size_t n, size_t far, void (*work)(void *arg, size_t piece), void *arg);
/* Begins with a single piece, which is not needed for a while. */
void ahead_give(struct ahead *a, void (*work)(void *arg, size_t piece), void *arg);
/* Returns when the piece is done, by whomever. */
void ahead_need(struct ahead *a, size_t piece);
/* Waits for the pieces that are being done; those that nobody has begun are never done. Nothing happens if it was
 * not begun. */
void ahead_end(struct ahead *a);

#endif
