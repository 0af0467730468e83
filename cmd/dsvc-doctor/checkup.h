/* SPDX-License-Identifier: MIT
 *
 * What was checked, each with `ok` or with what is wrong and its cure.
 */
#ifndef DOCTOR_CHECKUP_H
#define DOCTOR_CHECKUP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/endpoint.h"
#include "cli/program.h"
#include "value/record.h"

struct doctor {
	char *dispatcher, *context;
	struct words shared;
	bool json, quiet, insecure;
	int64_t connect_timeout, stuck, verbose, timeout;
};

/* Zero is empty. */
struct checkup {
	bool json, quiet;      /* quiet: only what is wrong is said */
	struct buf out;        /* for standard output */
	unsigned wrong;        /* number of checks that failed */
};

void check_ok(struct checkup *c, const char *what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void check_wrong(struct checkup *c, const char *what, const char *cure, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Says an error, with its help as the cure. */
void check_error(struct checkup *c, const char *what, const struct err *e);

/* This machine: machine.c */
void machine_check(struct checkup *c);
/* The programs of this folder are of one version: versions.c */
void versions_check(struct checkup *c, const char *program);
/* The service: service.c. stuck: ns that a call of an operator may last. */
void service_check(struct checkup *c, const struct endpoint *ep, int64_t stuck);
/* Whether each worker sees a folder: shared.c */
void shared_check(struct checkup *c, const struct endpoint *ep, const char *folder);

#endif
