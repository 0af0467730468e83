/* SPDX-License-Identifier: MIT
 *
 * Functions that are no functions of their arguments: rand, skip, fail.
 */
#include "expr/fn.h"
#include "expr/run/draw.h"

static enum status
odd_rand(struct expr_vm *vm, struct val *out, const struct val *a, unsigned n)
{
	struct rng r = draw_next(vm);

	if (n && a->i < 1)
		return vm_fault(vm, "rand() below %lld", (long long)a->i);
	*out = n ? val_int((int64_t)rng_below(&r, a->u)) : val_float(rng_unit(&r));
	return ST_OK;
}

static const struct type *
odd_type_rand(struct types *t, const struct type *const *a, unsigned n)
{
	(void)t;
	(void)a;
	return type_scalar(n ? TYPE_INT : TYPE_FLOAT);
}

const struct fn fn_odd[] = {
	{ "rand", "?i", NULL, odd_type_rand, odd_rand, .flags = FN_VARIES | FN_DRAWS, .args = "[n]",
	  .brief = "a random float from 0 up to, but not including, 1, or a random int from 0 to n "
		  "- 1; it depends on the seed of the iteration and the number of the element",
	  .example = "rand(1)", .output = "0" },
	{ "skip", "", .special = FN_SKIP, .args = "",
	  .brief = "drops this element", .example = "true ? \"kept\" : skip()",
	  .output = "kept" },
	{ "fail", "t", .special = FN_FAIL, .args = "text",
	  .brief = "makes the element an error with this message; ?? catches it",
	  .example = "fail(\"no\") ?? \"caught\"", .output = "caught" },
	{ 0 }
};
