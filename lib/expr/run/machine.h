/* SPDX-License-Identifier: MIT
 *
 * The machine that runs compiled expressions: one loop over elements and
 * instructions, with struct expr_vm (vm.h) as its memory.
 */
#ifndef RUN_MACHINE_H
#define RUN_MACHINE_H

#include "expr/vm.h"

enum machine_mode { MACHINE_ONE, MACHINE_MAP, MACHINE_FILTER };

/* Runs for elements in[from..n) until one fails or is skipped, whose index *from then is. ONE:
 * runs for one element, and the value is in *result. */
enum status machine_run(struct expr_vm *vm, enum machine_mode mode, const struct elem *in,
			uint32_t n, uint32_t *from, struct run *out, struct val *result);

#endif
