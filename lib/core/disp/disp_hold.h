/* SPDX-License-Identifier: MIT
 *
 * What readers have of a stream that lost its worker. Each is asked before another worker makes the
 * stream, since nobody else may get what one of them has (HOLD, HELD).
 *
 * A reader that is away, with a position perhaps, cannot answer. The stream waits for it only
 * as long as its elements could go to somebody else: while another reader of the same view, which
 * takes elements of this stream, is there. The other views go on meanwhile. It is remembered that this
 * one has not answered: when somebody comes to its view and it does not, the stream is asked for anew.
 * When it comes back it is asked, too, before it takes anything from the new worker. If it has elements,
 * that worker keeps them for it in vain, and may have no room for what it needs: the stream is made again.
 *
 * What its group misses meanwhile, of a job shared by a window, is not known either, because it may have
 * that: it is counted when the reader has answered, or has been given up.
 */
#ifndef DISP_HOLD_H
#define DISP_HOLD_H

#include "core/disp/disp_inner.h"

/* Forgets answer i. */
void hold_drop(struct stream *s, size_t i);
/* Whether the seat has not answered. */
bool hold_owes(const struct stream *s, uint64_t seat);
/* Whether a seat of the view, other than this one, has not answered; but: may be NULL. */
bool hold_lacks(const struct disp *d, const struct stream *s, uint32_t view, const struct seat *but);
/* This seat is not asked any more: it has answered, or is given up. */
void hold_owes_no_more(struct disp *d, struct stream *s, uint64_t seat);
/* The seat's reader is away: who still waits for it? */
void hold_away(struct disp *d, struct seat *r);
/* Its reader is there, for the first time or again. */
void hold_comes(struct disp *d, struct seat *r);
/* It has acknowledged elements, which it may have had while it was not asked. */
void hold_acked(struct disp *d, struct stream *s, const struct seat *r);
/* A reader begins with the position of one that was away: records what that had of the stream. May free s. */
void hold_resumed(struct disp *d, struct stream *s, uint32_t view, const struct ranges *have);
/* After a restart: who is there and has not answered is asked again. */
void hold_loaded(struct disp *d, struct stream *s);

#endif
