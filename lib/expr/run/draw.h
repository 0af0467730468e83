/* SPDX-License-Identifier: MIT
 *
 * Random numbers for functions of expressions.
 */
#ifndef RUN_DRAW_H
#define RUN_DRAW_H

#include "base/rng.h"
#include "expr/vm.h"

/* The numbers of the next call that draws some. They depend on the seed, the element's number and
 * the call's number within it, so that a stream that is produced again draws the same. */
static inline struct rng
draw_next(struct expr_vm *vm)
{
	return (struct rng){ rng_mix(vm->seed, (uint64_t)vm->index), vm->drawn++ << 32 };
}

#endif
