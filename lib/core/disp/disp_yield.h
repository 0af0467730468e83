/* SPDX-License-Identifier: MIT
 *
 * Streams that move to slots with nothing to do.
 */
#ifndef DISP_DISP_YIELD_H
#define DISP_DISP_YIELD_H

#include "core/disp/disp_inner.h"

void yield_soon(struct disp *d);                        /* there may be slots with nothing to do */
void yield_answer(struct disp *d, struct peer *p, struct stream *s, const struct msg_yielded *y);
void yield_over(struct disp *d, struct stream *s);      /* it has moved, or need not any more */
void yield_tick(struct disp *d);

#endif
