/* SPDX-License-Identifier: MIT
 *
 * What a spec gives, as text.
 */
#ifndef TESTS_SPEC_HELP_H
#define TESTS_SPEC_HELP_H

#include "chain_help.h"
#include "plan_help.h"

/* Prints up to `max` runs, with so many threads for the operators that have several. */
static inline void
spec_print(const char *text, uint32_t threads, unsigned max, struct buf *out)
{
	struct plan *p = plan_from(text);
	struct op_ctx ctx = { .seed = 7, .threads = threads };
	struct op_inst *i;
	struct err e = { 0 };

	assert_int_equal(op_open(p->top, &ctx, &i, &e), ST_OK);
	read_some(i, max, out);
	op_close(&i);
	plan_free(&p);
}

#endif
