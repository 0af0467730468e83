/* SPDX-License-Identifier: MIT
 *
 * --try: the first elements after every stage, and their type.
 *
 *	range 10   int    0   1   2   ...
 *	map x * x  int    0   1   4   ...
 *	batch 4    [int]  [0,1,4,9]   [16,25,36,49]   [64,81]
 *
 * The pipeline runs once, with a tap behind each operator that keeps the text of
 * the first elements that pass, until enough have come out at the end. So what is
 * read is read once, and every stage shows what it truly got.
 */
#ifndef RUN_TRY_H
#define RUN_TRY_H

#include "base/buf.h"
#include "base/err.h"
#include "lang/spec.h"

enum { TRY_USUAL = 3, TRY_MAX = 1000 };

struct try_conf {
	int64_t count;  /* elements of each stage, at most TRY_MAX */
	int64_t seed;   /* PARAM_AUTO: what the spec says, else a fresh one */
	const struct op_service *service;
};

/* Appends the table, also when the run fails: what came before it shows why. */
enum status try_run(struct plan *p, const struct try_conf *conf, struct buf *out, struct err *e);

#endif
