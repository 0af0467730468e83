/* SPDX-License-Identifier: MIT
 *
 * A worker alone, for tests: told() gives it a message of the dispatcher, and acts[] is what it wants
 * done then. The test makes it in its own set-up.
 */
#ifndef UNIT_WORKER_BASE_H
#define UNIT_WORKER_BASE_H

#include "core/work/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define MS 1000000ll

enum { WORKER_ACTS = 256 };

static struct worker *w;
static int64_t now;
static struct worker_action acts[WORKER_ACTS];
static size_t n_acts;
static char names[64]; /* handles are addresses in here */

static inline void
collect(void)
{
	while (n_acts)
		msg_clear(&acts[--n_acts].msg);
	while (worker_action(w, &acts[n_acts]))
		assert_true(++n_acts < WORKER_ACTS);
}

static inline void
told(struct msg m)
{
	struct msg copy;

	msg_copy(&copy, &m);
	worker_message(w, now += MS, &copy);
	msg_clear(&copy);
	collect();
}

static inline int
teardown(void **state)
{
	(void)state;
	worker_stop(w);
	collect();
	while (n_acts)
		msg_clear(&acts[--n_acts].msg);
	worker_free(&w);
	return 0;
}

#endif
