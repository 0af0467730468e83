/* SPDX-License-Identifier: MIT
 *
 * Waiting within a chain, for operators whose purpose is to be slow.
 */
#ifndef KIT_PACE_H
#define KIT_PACE_H

#include "op/op.h"

/* Waits until clock_mono_ns() reaches `until`; ST_AGAIN when the chain is to stop before that. */
enum status pace_wait(const struct op_inst *self, int64_t until);

#endif
