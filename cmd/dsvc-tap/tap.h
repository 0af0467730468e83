/* SPDX-License-Identifier: MIT
 *
 * Asks a dispatcher for elements in the middle of a running pass, and prints them.
 */
#ifndef TAP_TAP_H
#define TAP_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/endpoint.h"
#include "cli/program.h"
#include "value/format/format.h"

struct tap {
	char *dispatcher, *context;
	int64_t count;         /* INT64_MAX: as many as there are */
	int64_t format;        /* enum format_kind */
	bool quiet, insecure;
	int64_t connect_timeout, verbose, timeout;
};

/* op: name of an operator, or its number; NULL: the last that runs on workers. */
enum status tap_run(const struct tap *o, const struct endpoint *ep, const char *job, const char *op, struct err *e);

#endif
