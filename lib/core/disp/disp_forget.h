/* SPDX-License-Identifier: MIT
 *
 * FORGET. Nobody outside the dispatcher includes this.
 */
#ifndef DISP_DISP_FORGET_H
#define DISP_DISP_FORGET_H

#include "core/disp/disp_inner.h"

void forget_message(struct disp *d, struct peer *p, struct msg *m);
bool forget_has(const struct disp *d, uint64_t iteration); /* whether it was forgotten, by order */

#endif
