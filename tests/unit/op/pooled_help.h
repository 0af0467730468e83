/* SPDX-License-Identifier: MIT
 *
 * Set-ups for tests of work that is handed to the pool, or not: both with a folder of their own.
 */
#ifndef TESTS_POOLED_HELP_H
#define TESTS_POOLED_HELP_H

#include "file_help.h"

#include "base/pool.h"

static inline int
handed_over(void **state)
{
	pool_set_size(4); /* more than there may be processors */
	pool_worth_ns = 0; /* all is handed over, however little it is */
	return file_setup(state);
}

static inline int
as_it_pays(void **state)
{
	pool_worth_ns = 40 * 1000;
	return file_setup(state);
}

#endif
