/* SPDX-License-Identifier: MIT
 *
 * The reader's end of shared memory (host/work/lender.h): one for each connection to a worker.
 *
 *	borrower_attach    before the first CREDIT of each session: ATTACH
 *	borrower_answer    ARENA came: connects to the socket, says the cookie
 *	                   the descriptor comes, and is mapped for reading
 *	borrower_block     a chunk with a lease becomes a block in that memory
 *	the last reference to that block goes -> RELEASE, several in a packet
 *
 * A block may outlast the connection, and the borrower with it: as long as there is one
 * its socket stays open, for the end of the socket is the end of all leases.
 *
 * What lies in the memory is the worker's, which may be of bad will: it is mapped for
 * reading only, each length is looked at once, and what is looked into is copied first.
 *
 * References to blocks may be dropped by any thread; all else is the network thread's.
 */
#ifndef HOST_BORROWER_H
#define HOST_BORROWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "value/block.h"
#include "wire/msg.h"

struct borrower;

struct borrower_conf {
	struct net *net;
	/* After borrower_answer: the memory is there (ST_OK), cannot be had (ST_UNAVAIL), or was
	 * not to be had just now, as when the worker is ending (ST_TEMP). */
	void (*told)(void *arg, uint64_t worker, enum status st, const struct err *e);
	void *arg;
	uint64_t worker;
};

struct borrower *borrower_new(const struct borrower_conf *c);
/* No more comes over this connection; accepts NULL. */
void borrower_drop(struct borrower **b);
/* True: *out (an ATTACH, to be cleared) is to be sent before CREDIT of this session. */
bool borrower_attach(struct borrower *b, uint32_t session, struct msg *out);
/* *b may be another one afterwards. */
void borrower_answer(struct borrower **b, const struct msg_arena *m);
/* Gives; NULL: dropped, for it is of another session, or makes no sense (*e is set). */
struct block *borrower_block(struct borrower *b, const struct msg_chunk *m, struct err *e);
bool borrower_maps(const struct borrower *b); /* memory is there */
/* Sends RELEASEs that wait for company. */
void borrower_flush(struct borrower *b);
/* Whether the block is of such memory: look at its contents only in a copy. */
bool borrower_is(const struct block *b);

#endif
