/* SPDX-License-Identifier: MIT
 *
 * The end of a service that a tool asks for. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_END_H
#define DISP_DISP_END_H

#include "core/disp/disp_inner.h"

void end_message(struct disp *d, struct peer *p, const struct msg *m);
/* A worker has said HELLO: if the others are told to leave, so is this one. */
void end_joined(struct disp *d, struct peer *worker);

#endif
