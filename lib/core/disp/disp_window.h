/* SPDX-License-Identifier: MIT
 *
 * Groups that share a job by a window: what those behind have missed.
 */
#ifndef DISP_DISP_WINDOW_H
#define DISP_DISP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct disp;
struct iteration;
struct msg;
struct peer;
struct stream;

uint64_t window_bytes(const struct iteration *it);      /* for ASSIGN */
/* Elements before it are made again for nobody; 0 in other jobs. */
uint64_t window_floor(const struct stream *s);
/* Whether a worker that is given the stream leaves out elements that a view lacks. */
bool window_leaves_out(const struct stream *s);
/* Elements before this one are left out. */
uint64_t window_from(const struct stream *s);
void window_begin(struct disp *d, struct stream *s);    /* it is about to be given to a worker */
void window_missed(struct disp *d, struct peer *p, struct stream *s, struct msg *m); /* may free s */

#endif
