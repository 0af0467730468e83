/* SPDX-License-Identifier: MIT
 *
 * What readers have of a stream that lost its worker. Each is asked before another worker makes the
 * stream, since nobody else may get what one of them has (HOLD, HELD).
 *
 * A reader that is away, with a position perhaps, cannot answer. The stream waits for it only
 * as long as its elements could go to somebody else: while another reader of the same view, which
 * takes elements of this stream, is there. The other views go on meanwhile. It is remembered that this
 * one has not answered: when somebody comes to its view and it does not, the stream is asked for anew.
 * (Groups that share a window wait for it: a worker tells them what they missed, and would count what it has.)
 */
#ifndef DISP_HOLD_H
#define DISP_HOLD_H

#include "core/disp/disp_inner.h"

/* Forgets answer i. */
void hold_drop(struct stream *s, size_t i);
/* This seat is not asked any more: it has answered, is given up, or is back and knows itself what it has. */
void hold_owes_no_more(struct disp *d, struct stream *s, uint64_t seat);
/* The seat's reader is away: who still waits for it? */
void hold_away(struct disp *d, struct seat *r);
/* Its reader is there, for the first time or again. */
void hold_comes(struct disp *d, struct seat *r);

#endif
