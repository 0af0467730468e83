/* SPDX-License-Identifier: MIT
 *
 * Requests of objects elsewhere end when the chain that makes them is to stop.
 */
#ifndef KIT_FAR_WAIT_H
#define KIT_FAR_WAIT_H

#include "fetch/link.h"
#include "op/op.h"

/* Lends the context, which must outlive the result; NULL: nothing ends the wait. */
struct fetch_wait far_wait(const struct op_ctx *ctx);

#endif
