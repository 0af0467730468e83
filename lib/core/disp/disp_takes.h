/* SPDX-License-Identifier: MIT
 *
 * Which streams a reader has had chunks of. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_TAKES_H
#define DISP_DISP_TAKES_H

#include "core/disp/disp_inner.h"

void takes_message(struct disp *d, struct peer *p, struct msg *m);
void takes_seat_gone(struct disp *d, struct seat *r); /* tells all streams that this concerns */
void takes_clear(struct seat *r);

#endif
