/* SPDX-License-Identifier: MIT
 *
 * The worker's end of shared memory: which readers may map it, and which blocks they have.
 *
 *	ATTACH on the data socket  -> lender_attach: ARENA with the path of a socket and a cookie
 *	reader connects there, says the cookie, gets the arena's descriptor, maps it
 *	lender_chunk               -> a lease: a reference to the block, and where it lies
 *	RELEASE on that socket, or its end -> the lease is over
 *
 * A lease is not the worker's keeping of a chunk: that ends with the acknowledgement, while
 * the reader may still be looking at the bytes. So a block is free when neither is left.
 * A reader that stands still keeps its leases, also when it was taken for lost and its
 * elements went to others: it may wake and write what it has. Its process ends them. When
 * such readers hold half of the arena, blocks are taken from a new one.
 *
 * One thread calls all of this.
 */
#ifndef HOST_LENDER_H
#define HOST_LENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "host/arena.h"
#include "host/chunk.h"
#include "host/lend.h"
#include "net/loop.h"
#include "value/job_opts.h"
#include "wire/msg.h"

struct lender;

/* The arenas and the name outlive it. The socket is opened at the first ATTACH. */
struct lender *lender_new(struct net *n, struct arenas *as, enum job_transfer how, const char *name);
/* Readers on this machine will come: blocks are given from the start, and until one comes
 * that wants copies. */
void lender_expect(struct lender *l);
/* Makes memory and socket now, to see whether that can be done. */
enum status lender_open(struct lender *l, struct err *e);
/* Takes the socket away; readers keep what they have until lender_free. */
void lender_stop(struct lender *l);
/* Ends all leases: only when nothing writes into the blocks any more. */
void lender_free(struct lender **l);

/* True: *reply (an ARENA, to be cleared) is to be sent to the peer. */
bool lender_attach(struct lender *l, uint64_t peer, const struct msg_attach *m, struct msg *reply);
/* Lends the chunk to the peer and fills lease, arena and at; false: send it as a payload. */
bool lender_chunk(struct lender *l, uint64_t peer, const struct chunk *c, struct msg_chunk *m);
/* The peer's connection on the data socket broke. */
void lender_broke(struct lender *l, uint64_t peer);
/* The peer sent a CREDIT for that seat. */
void lender_seat(struct lender *l, uint64_t peer, uint64_t iteration, uint64_t seat);
/* The dispatcher takes that reader for lost. */
void lender_lost(struct lender *l, uint64_t iteration, uint64_t seat);

struct lender_stats { size_t arena, leased; }; /* bytes; arena 0: nobody maps it */
void lender_stats(const struct lender *l, struct lender_stats *out);

#endif
