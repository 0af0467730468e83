/* SPDX-License-Identifier: MIT
 *
 * What functions ask of the machine beyond machine.h.
 */
#ifndef EXPR_VM_H
#define EXPR_VM_H

#include <stdint.h>

#include "expr/expr.h"

int64_t vm_now(struct expr_vm *vm); /* ns since 1970, the same at each call */

#endif
