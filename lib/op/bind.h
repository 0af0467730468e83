/* SPDX-License-Identifier: MIT
 *
 * Parameters of an inner pipeline that come from the outer element, as in
 * `interleave (lines x)`: worked out when the inner chain is opened.
 */
#ifndef OP_BIND_H
#define OP_BIND_H

#include "op/op.h"

/* Fills the bound parameters in self->state from self->outer. */
enum status bind_apply(struct op_inst *self, struct err *e);
void bind_clear(struct op_inst *self);

#endif
