/* SPDX-License-Identifier: MIT
 *
 * The elements of a stream dealt to the places of its rounds: a builder of chunks for each
 * view. An element is given out only when its round is whole, since those of the last round,
 * if it is not, may go to others.
 *
 *	deal_append -> whole rounds -> builders -> deal_out: chunks, with offsets of their view
 *	            -> the begin of a round, kept one by one ------> deal_rest, at the end
 */
#ifndef HOST_DEAL_H
#define HOST_DEAL_H

#include "host/chunk.h"
#include "wire/msg.h"

struct deal;

/* Takes the chunk. */
typedef void (*deal_out)(void *arg, uint32_t view, struct chunk *c);

/* assign is lent for as long. Gives; NULL: there are no rounds, or its views do not make any. */
struct deal *deal_new(const struct msg_assign *assign, struct arenas *arenas, deal_out out, void *arg);
void deal_append(struct deal *d, const struct run *r, int64_t now_ns);
/* Gives out all that builders have. */
void deal_cut(struct deal *d);
/* The reader of this view waits for a part of a chunk (no such view: time has gone by): it is given
 * once there is one, and at least pause_ns after the last, which is when to call again if there is none by then:
 * gives that time; INT64_MAX: need not. To be called after each deal_append, too. */
int64_t deal_want(struct deal *d, uint32_t view, int64_t now_ns, int64_t pause_ns);
/* At the end: element i of the round that is not whole, as a chunk, and last, with *pad, the null that may
 * be put where others are missing; NULL: there are no more. Gives. */
struct chunk *deal_rest(struct deal *d, uint32_t i, bool *pad);
void deal_free(struct deal **d);

#endif
