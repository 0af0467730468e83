/* SPDX-License-Identifier: MIT
 *
 * One pass of a plan, from opening its chain to the last element written.
 */
#ifndef RUN_RUN_PLAN_H
#define RUN_RUN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "lang/spec.h"
#include "value/format/format.h"
#include "run_programs.h"

struct run_plan_conf {
	enum format_kind format;
	struct format_opts form;
	const char *path;      /* NULL: standard output */
	int64_t count;         /* stop after this many; INT64_MAX: all */
	int64_t seed;          /* PARAM_AUTO: what the spec says, else a fresh one */
	int64_t jobs;          /* threads; 0: what the spec says */
	bool stats;            /* a line on stderr at the end */
	uint64_t max_errors;   /* elements that may fail under skip and keep; UINT64_MAX: any number */
	const char *errors;    /* a record of each failed one goes there; NULL: nowhere */
	bool fail_empty;       /* ST_NO when no element came */
	bool quiet;
	int progress;          /* enum progress_when */
	bool verbose;          /* tell each failed element that was skipped */
	struct run_programs_conf programs;
	const struct op_service *service; /* NULL: none */
};

/* The plan is changed while it runs, for the threads, and is as before after it. */
enum status run_plan(struct plan *p, const struct run_plan_conf *conf, struct err *e);

#endif
