/* SPDX-License-Identifier: MIT
 *
 * The checks of dsvc-exec-test: each runs the program under one condition that
 * `exec` may meet it with, and writes a line.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct test_options {
	int proto;
	char *input;
	int64_t limit;
};

/* The command under test, and the results so far. */
struct test {
	const struct test_options *o;
	char *const *command;
	size_t words;
	uint64_t given, digest; /* results of the first check, to compare others with */
	struct buf out;         /* a line for each check */
	unsigned failed;
};

/* ST_OK: all that apply were made; t->failed says how many went wrong. */
enum status test_all(struct test *t, struct err *e);

#endif
