/* SPDX-License-Identifier: MIT
 *
 * Looks into running passes: a tool asks for elements that an operator gives, the workers of the
 * pass are asked for copies, and the tool gets what has come each time it asks. Nothing of it
 * is durable, and nothing of the pass depends on it.
 */
#ifndef DISP_DISP_TAP_H
#define DISP_DISP_TAP_H

#include "core/disp/disp_inner.h"

void tap_ask(struct disp *d, struct peer *p, const struct msg *m);
void tap_got(struct disp *d, const struct peer *worker, const struct msg_tapped *m);
void tap_leave(struct peer *p);

#endif
