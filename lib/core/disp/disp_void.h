/* SPDX-License-Identifier: MIT
 *
 * A repeat of nothing: a whole repetition in which no element has come to the `repeat` is the
 * last, as it is in one process, for it would go on for ever.
 *
 * The units of such a job are dealt out again and again, and nobody but the workers sees what
 * becomes of them before they are repeated. Each worker tells whether an element has come to the repeat,
 * together with all that it says of the stream: its requests for splits, its restart points and its end. As
 * long as none has, elements do not mix with those of the next split there; so when it asks while it reads split k, or
 * has a restart point in it, those before k are through. Requests alone would not do: they are for many splits, and
 * who waits for its turn asks for none. Once all splits that belong to the first repetition are through, on all
 * streams, and none has told of an element, what is left is not wanted. With fixed places a fast stream has
 * splits cut for all others, too; those that nobody was sent yet are taken back.
 *
 * One element is enough: the iteration is not looked at any more.
 */
#ifndef DISP_VOID_H
#define DISP_VOID_H

#include "core/disp/disp_inner.h"

void void_reached(struct disp *d, struct iteration *it, bool reached);
/* The worker reads this split, or has said that the stream can be made again from it: those before are through. */
void void_told(struct disp *d, struct stream *s, uint64_t split, bool reached);
/* The splits before this one were sent to a worker. */
void void_sent(struct stream *s, uint64_t n);
/* A stream has ended. */
void void_check(struct disp *d, struct iteration *it);
/* The stream is to be made by another worker, from a restart point on. */
void void_again(struct stream *s);

#endif
